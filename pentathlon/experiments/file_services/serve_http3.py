"""A web server that speaks HTTP/3 (RFC 9114) by aioquic; a program of its own.

Arguments: directory, port, certificate, its key, congestion control ("" for aioquic's own). It
answers GET of the directory's files, OPTIONS, and PROPFIND of the directory and what is in it.
"""

from __future__ import annotations

import asyncio
import sys
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote
from xml.sax.saxutils import escape

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

Answer = tuple[int, list[tuple[bytes, bytes]], bytes]


def answer(directory: Path, method: str, path: str) -> Answer:
    """Status, headers and body."""
    if method == "OPTIONS":
        return 200, [(b"dav", b"1"), (b"allow", b"GET, OPTIONS, PROPFIND")], b""
    if method == "PROPFIND" and path == "/":
        return 207, [(b"content-type", b"text/xml; charset=utf-8")], listing(directory)
    if method != "GET":
        return 405, [], b""
    file = directory / unquote(path).lstrip("/")
    if not file.resolve().is_relative_to(directory.resolve()) or not file.is_file():
        return 404, [], b""
    return 200, [(b"content-type", b"application/msword")], file.read_bytes()


def listing(directory: Path) -> bytes:
    """The properties of a directory and of what is in it (RFC 4918, section 9.1)."""
    parts = [_response("/", directory)]
    parts += [_response(f"/{one.name}", one) for one in sorted(directory.iterdir())]
    text = f'<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">{"".join(parts)}'
    return f"{text}</D:multistatus>".encode()


def _response(path: str, file: Path) -> str:
    found = file.stat()
    kind = "<D:collection/>" if file.is_dir() else ""
    return (
        f"<D:response><D:href>{escape(path)}</D:href><D:propstat><D:prop>"
        f"<D:displayname>{escape(file.name)}</D:displayname>"
        f"<D:getcontentlength>{found.st_size}</D:getcontentlength>"
        f"<D:getlastmodified>{formatdate(found.st_mtime, usegmt=True)}</D:getlastmodified>"
        f"<D:resourcetype>{kind}</D:resourcetype></D:prop>"
        "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    )


class Talk(QuicConnectionProtocol):  # type: ignore[misc]
    """One connection."""

    directory: Path

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
            self._headers_of: dict[int, dict[bytes, bytes]] = {}
            return
        if not hasattr(self, "_http"):
            return
        for one in self._http.handle_event(event):
            if isinstance(one, HeadersReceived):
                self._headers_of[one.stream_id] = dict(one.headers)
            if isinstance(one, HeadersReceived | DataReceived) and one.stream_ended:
                self._answer(one.stream_id, self._headers_of.pop(one.stream_id))

    def _answer(self, stream: int, request_headers: dict[bytes, bytes]) -> None:
        method, path = request_headers[b":method"].decode(), request_headers[b":path"].decode()
        status, headers, body = answer(self.directory, method, path)
        head = [(b":status", b"%d" % status), (b"content-length", b"%d" % len(body)), *headers]
        self._http.send_headers(stream, head, end_stream=not body)
        if body:
            self._http.send_data(stream, body, end_stream=True)
        self.transmit()


async def main() -> None:
    directory, port, certificate, key, congestion = sys.argv[1:]
    Talk.directory = Path(directory)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    if congestion:
        configuration.congestion_control_algorithm = congestion
    await serve("0.0.0.0", int(port), configuration=configuration, create_protocol=Talk)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
