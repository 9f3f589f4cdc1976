"""HTTP/2 (RFC 9113) without encryption: the messages of one direction, stream by stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.experiments.file_services.capture.hpack import HpackError, Unpacker
from pentathlon.experiments.file_services.capture.streams import Stream

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, CONTINUATION = 0, 1, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32


@dataclass(frozen=True)
class Part:
    """A request or a response: its method or status, and its place in the stream of bytes."""

    name: str
    number: int
    first: int
    last: int


@dataclass
class _Open:
    """A message whose end has not come.

    Attributes:
        name: its method or status, empty until it is known.
        first: where it begins.
        ends: its last frame, or the one whose headers go on, ends it.
    """

    name: str
    first: int
    ends: bool = False


def parts(stream: Stream, up: bool) -> Iterator[Part]:
    """Every whole message, in the order in which they end.

    Raises:
        HpackError: the headers cannot be read.
    """
    data, unpacker = stream.data, Unpacker()
    at = len(PREFACE) if up else 0
    begun: dict[int, _Open] = {}
    block = b""
    while at + 9 <= len(data):
        length = int.from_bytes(data[at : at + 3], "big")
        kind, flags = data[at + 3], data[at + 4]
        number = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
        end = at + 9 + length
        if end > len(data):
            return
        if kind in {DATA, HEADERS}:
            message = begun.setdefault(number, _Open("", at))
            message.ends = bool(flags & END_STREAM)
        if kind == HEADERS:
            block = _bare(bytes(data[at + 9 : end]), flags)
        elif kind == CONTINUATION:
            block += data[at + 9 : end]
        over = kind == DATA
        if kind in {HEADERS, CONTINUATION} and flags & END_HEADERS and number in begun:
            over = True
            # Trailers name neither, and an interim answer (1xx) is followed by the final one.
            told = dict(unpacker.unpack(block)).get(":method" if up else ":status")
            begun[number].name = told or begun[number].name
        if over and begun[number].ends:
            message = begun.pop(number)
            yield Part(message.name, number, message.first, end - 1)
        at = end


def _bare(body: bytes, flags: int) -> bytes:
    """A block of headers without padding and priority (section 6.2)."""
    start = cut = 0
    if flags & PADDED:
        start, cut = 1, body[0] if body else 0
    if flags & PRIORITY:
        start += 5
    if start + cut > len(body):
        raise HpackError("the headers of HTTP/2 are padded beyond their end")
    return body[start : len(body) - cut]
