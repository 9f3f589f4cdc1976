"""Fetches a document by HTTP/3 (RFC 9114) by aioquic; a program of its own.

Arguments: server, port, document, where it goes, the server's certificate, receive window in bytes
(0 for aioquic's own), and each request that comes before the document's, such as "OPTIONS /".
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, BinaryIO

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent, StreamReset

PATIENCE_S = 30.0
"""A connection on which nothing comes for so long is broken."""

NAME = "pentathlon"
"""The name in the server's certificate."""


class Talk(QuicConnectionProtocol):  # type: ignore[misc]
    """The connection."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._http = H3Connection(self._quic)
        self._done: asyncio.Future[None] | None = None
        self._status = b""
        self._out: BinaryIO | None = None

    async def ask(self, method: str, path: str, out: BinaryIO | None, body: bytes = b"") -> str:
        """Ask, and wait for the whole answer; its status.

        Args:
            out: where its body goes; None for nowhere.
        """
        self._out, self._done, self._status = out, asyncio.get_running_loop().create_future(), b""
        stream = self._quic.get_next_available_stream_id()
        headers = [
            (b":method", method.encode()), (b":scheme", b"https"), (b":authority", NAME.encode()),
            (b":path", path.encode()), *([(b"depth", b"1")] if method == "PROPFIND" else []),
        ]  # fmt: skip
        self._http.send_headers(stream, headers, end_stream=not body)
        if body:
            self._http.send_data(stream, body, end_stream=True)
        self.transmit()
        await self._done
        return self._status.decode()

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ConnectionTerminated):
            self._end(f"Connection closed: {event.reason_phrase or hex(event.error_code)}")
        elif isinstance(event, StreamReset):
            self._end("Connection reset by the server")
        for one in self._http.handle_event(event):
            if isinstance(one, HeadersReceived):
                self._status = dict(one.headers).get(b":status", self._status)
            elif isinstance(one, DataReceived) and self._out is not None:
                try:
                    self._out.write(one.data)
                except OSError as error:
                    self._end(str(error))
            if isinstance(one, HeadersReceived | DataReceived) and one.stream_ended:
                self._end(None)

    def _end(self, wrong: str | None) -> None:
        if self._done is None or self._done.done():
            return
        if wrong is None:
            self._done.set_result(None)
        else:
            self._done.set_exception(OSError(wrong))


async def main() -> None:
    server, port, name, into, certificate, window, *before = sys.argv[1:]
    configuration = QuicConfiguration(
        is_client=True, alpn_protocols=H3_ALPN, cafile=certificate, server_name=NAME
    )
    configuration.idle_timeout = PATIENCE_S
    if int(window):
        configuration.max_data = configuration.max_stream_data = int(window)
    body = sys.stdin.buffer.read()
    with Path(into).open("wb") as out:
        async with connect(
            server, int(port), configuration=configuration, create_protocol=Talk
        ) as talk:
            assert isinstance(talk, Talk)
            for request in before:
                method, path = request.split(" ")
                _check(await talk.ask(method, path, None, body if method == "PROPFIND" else b""))
            _check(await talk.ask("GET", f"/{name}", out))


def _check(status: str) -> None:
    if not status.startswith("2"):
        raise OSError(f"the requested URL returned error: {status}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (OSError, ConnectionError) as error:
        sys.exit(str(error) or "Connection lost")
