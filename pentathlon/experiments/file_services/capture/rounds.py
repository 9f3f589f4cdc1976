"""How many round trips a task took one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pentathlon.experiments.file_services.capture.segments import FIN, SYN, Connection, Segment
from pentathlon.experiments.file_services.capture.streams import HALF, WHOLE, Conversation


@dataclass
class _Request:
    """The client's packet whose consequence is looked for.

    Attributes:
        edge: bytes from here on could only be sent once the packet had come, because the client's
            earlier packets offered no window for them; None before the first.
    """

    segment: Segment
    edge: int | None


def round_trips(
    conversations: Sequence[Conversation], since_ns: int = 0, until_ns: int | None = None
) -> int:
    """The length of the chain of packets each of which was sent because of the one before.

    It begins with the client's first packet, goes on with the first packet that the server sent
    because of it, then with the next packet of the client on whatever connection, and so on. Where
    a receive window holds the server back, that is one round trip for each window; where a protocol
    asks and waits, one for each question. While neither does, the chain counts the times that a
    packet needs through the queue of the link and back, so it grows no faster than the time.

    The server sent a packet because of the client's if it echoes its timestamp (RFC 7323),
    acknowledges its bytes, or carries bytes for which it first opened the window. What has neither
    timestamps nor bytes is taken to be answered by the first packet that comes a whole round trip
    of the empty link later, which is the shortest that the connection shows.

    Args:
        since_ns, until_ns: only packets from the one to the other are links of the chain.
    """
    empty = {one.connection: _empty_ns(one) for one in conversations}
    scales = {one.connection: _scale(one) for one in conversations}
    edges: dict[Connection, int] = {}
    merged = sorted((s for one in conversations for s in one.segments), key=lambda s: s.time_ns)
    links = 0
    request: _Request | None = None
    for segment in merged:
        if until_ns is not None and segment.time_ns > until_ns:
            break
        own = segment.connection
        if segment.up:
            edge = edges.get(own)
            if request is None and segment.time_ns >= since_ns:
                request = _Request(segment, edge)
            shift = 0 if segment.flags & SYN else scales[own]
            offered = (segment.acknowledged + (segment.window << shift)) % WHOLE
            if edge is None or _after(offered, edge):
                edges[own] = offered
        elif request is not None and _because(segment, request, empty[own]):
            links += 1
            request = None
    return links


LATE: Final = 0.95
"""Part of the shortest round trip after which a packet can be an answer: clocks are not exact."""


def shortest_ns(conversation: Conversation) -> int | None:
    """The shortest time from a packet of the client to the first that acknowledges it, that of the
    handshake among them; None if there is none."""
    shortest = [] if conversation.handshake_ns is None else [conversation.handshake_ns]
    waiting: Segment | None = None
    highest: int | None = None
    for segment in conversation.segments:
        if segment.up:
            # What is sent again may be acknowledged for the first time that it was sent (Karn).
            end = (segment.sequence + len(segment.payload)) % WHOLE
            new = segment.payload and (highest is None or _after(end, highest))
            if waiting is None and new:
                waiting = segment
            if new:
                highest = end
        elif waiting is not None:
            end = (waiting.sequence + len(waiting.payload)) % WHOLE
            if not _after(end, segment.acknowledged):
                shortest.append(segment.time_ns - waiting.time_ns)
                waiting = None
    return min(shortest, default=None)


def _empty_ns(conversation: Conversation) -> float:
    return LATE * (shortest_ns(conversation) or 0)


def _because(answer: Segment, request: _Request, empty_ns: float) -> bool:
    question = request.segment
    if answer.connection != question.connection:
        return False
    own = len(question.payload) + bool(question.flags & SYN) + bool(question.flags & FIN)
    if own and not _after((question.sequence + own) % WHOLE, answer.acknowledged):
        return True
    end = (answer.sequence + len(answer.payload)) % WHOLE
    if request.edge is not None and answer.payload and _after(end, request.edge):
        return True
    if answer.echo is not None and question.stamp is not None:
        return not _after(question.stamp, answer.echo)
    return not own and answer.time_ns - question.time_ns >= empty_ns


def _after(one: int, other: int) -> bool:
    """Whether a number modulo 2^32 comes after another."""
    return 0 < (one - other) % WHOLE < HALF


def _scale(conversation: Conversation) -> int:
    """The client's window scale, 0 unless both ends named one."""
    named = {s.up: s.scale for s in conversation.segments if s.flags & SYN}
    up, down = named.get(True), named.get(False)
    return up if up is not None and down is not None else 0
