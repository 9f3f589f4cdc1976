"""HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113) without encryption, exchange by exchange."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.filecapture.exchanges import Exchange
from pentathlon.filecapture.streams import Conversation, Stream

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS = 0, 1
END_STREAM: Final = 1
CONTENT: Final = {"GET", "PUT", "POST"}


@dataclass(frozen=True)
class _Part:
    """A request or a response: its name or status, and its place in the stream."""

    name: str
    number: int
    first: int
    last: int


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Each request of a connection with its response, in the order of the responses."""
    second = conversation.up.data.startswith(PREFACE)
    parts = _second if second else _first
    asked = {part.number: part for part in parts(conversation.up, True)}
    found = []
    for answer in parts(conversation.down, False):
        question = asked.pop(answer.number, None)
        if question is None:
            continue
        found.append(
            Exchange(
                name=question.name,
                asked_ns=conversation.up.time(question.last),
                began_ns=conversation.down.time(answer.first),
                ended_ns=conversation.down.time(answer.last),
                data=question.name in CONTENT,
                failed=answer.name if answer.name[:1] in {"4", "5"} else None,
            )
        )
    return found


def _first(stream: Stream, up: bool) -> Iterator[_Part]:
    at, number = 0, 0
    data = bytes(stream.data)
    while (end := data.find(b"\r\n\r\n", at)) >= 0:
        head = data[at:end].decode("latin-1")
        words = head.split("\r\n", maxsplit=1)[0].split(" ")
        body = end + 4
        length = _body(head, data, body)
        if length is None:
            return
        name = words[0] if up else (words[1] if len(words) > 1 else "?")
        # 1xx is not the final response (RFC 9110, section 15.2).
        if up or not name.startswith("1"):
            yield _Part(name, number, at, body + length - 1)
            number += 1
        at = body + length


def _body(head: str, data: bytes, start: int) -> int | None:
    """Bytes of a body; None if it is not whole."""
    if re.search(r"(?im)^transfer-encoding:.*\bchunked\b", head):
        at = start
        while (line := data.find(b"\r\n", at)) >= 0:
            size = int(data[at:line].split(b";")[0] or b"0", 16)
            at = line + 2 + size + 2
            if at > len(data):
                return None
            if size == 0:
                return at - start
        return None
    told = re.search(r"(?im)^content-length:\s*(\d+)", head)
    length = int(told.group(1)) if told else 0
    return length if start + length <= len(data) else None


def _second(stream: Stream, up: bool) -> Iterator[_Part]:
    """Frames of HTTP/2, gathered by stream. Headers are compressed, so a request is a "GET"."""
    data = stream.data
    at = len(PREFACE) if up else 0
    begun: dict[int, int] = {}
    while at + 9 <= len(data):
        length = int.from_bytes(data[at : at + 3], "big")
        kind, flags = data[at + 3], data[at + 4]
        number = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFFFFFF
        end = at + 9 + length
        if end > len(data):
            return
        if number and kind in {DATA, HEADERS}:
            begun.setdefault(number, at)
            if flags & END_STREAM:
                yield _Part("GET" if up else "", number, begun.pop(number), end - 1)
        at = end
