"""HTTP/1.1 (RFC 9112) and HTTP/2 (`http2.py`) without encryption, exchange by exchange."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pentathlon.experiments.file_services.capture import http2
from pentathlon.experiments.file_services.capture.exchanges import Exchange
from pentathlon.experiments.file_services.capture.http2 import Part
from pentathlon.experiments.file_services.capture.streams import Conversation, Stream

CONTENT: Final = {"GET", "PUT", "POST"}
"""Methods that carry the content of files."""
MOST_DIGITS: Final = 18
"""A length of more digits is that of no body."""
BODILESS: Final = {"204", "304"}
CHUNK: Final = re.compile(rb"([0-9A-Fa-f]+)[^\r\n]*\r\n")


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Each request of a connection with its response, in the order of the responses."""
    parts = http2.parts if conversation.up.data.startswith(http2.PREFACE) else _first
    requests = {part.number: part for part in parts(conversation.up, True)}
    found = []
    for answer in parts(conversation.down, False):
        question = requests.pop(answer.number, None)
        if question is None:
            continue
        found.append(
            Exchange(
                name=question.name,
                requested_ns=conversation.up.time(question.last),
                began_ns=conversation.down.time(answer.first),
                ended_ns=conversation.down.time(answer.last),
                data=question.name in CONTENT,
                failed=answer.name if answer.name[:1] in {"4", "5"} else None,
            )
        )
    return found


def _first(stream: Stream, up: bool) -> Iterator[Part]:
    at, number = 0, 0
    data = bytes(stream.data)
    while (end := data.find(b"\r\n\r\n", at)) >= 0:
        head = data[at:end].decode("latin-1")
        words = head.split("\r\n", maxsplit=1)[0].split(" ")
        body = end + 4
        name = words[0] if up else (words[1] if len(words) > 1 else "?")
        # 1xx is not the final response (RFC 9110, section 15.2).
        interim = not up and name.startswith("1")
        bodiless = up or interim or name in BODILESS
        length = _body(head, data, body, whole=stream.finished and not bodiless)
        if length is None:
            return
        if not interim:
            yield Part(name, number, at, body + length - 1)
            number += 1
        at = body + length


def _body(head: str, data: bytes, start: int, whole: bool) -> int | None:
    """Bytes of a body; None if it is not whole.

    Args:
        whole: what states no length ends with the connection (RFC 9112, section 6.3).
    """
    if re.search(r"(?im)^transfer-encoding:.*\bchunked\b", head):
        return _chunks(data, start)
    found = re.search(r"(?im)^content-length:[ \t]*(\d+)", head)
    if found is None:
        return len(data) - start if whole else 0
    if len(found.group(1)) > MOST_DIGITS:
        return None
    length = int(found.group(1))
    return length if start + length <= len(data) else None


def _chunks(data: bytes, start: int) -> int | None:
    """Bytes of a body in chunks without trailers (RFC 9112, section 7.1)."""
    at = start
    while found := CHUNK.match(data, at):
        size = int(found.group(1), 16)
        at = found.end() + size + 2
        if at > len(data):
            return None
        if size == 0:
            return at - start
    return None
