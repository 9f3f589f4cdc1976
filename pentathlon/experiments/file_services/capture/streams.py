"""The two byte streams of a connection, put together again, and what went wrong on the way."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from heapq import heappop, heappush

from pentathlon.experiments.file_services.capture.segments import (
    ACK,
    FIN,
    RST,
    SYN,
    Connection,
    Segment,
)

HALF = 1 << 31
WHOLE = 1 << 32


@dataclass(frozen=True)
class Reordered:
    """How a packet that was overtaken is distinguished from one that was sent again.

    Attributes:
        within_ns: what fills a hole sooner than this after it was seen was overtaken: the sender
            cannot have heard of the hole yet.
        stamps_tell: its timestamps advance faster than that, so that what was sent again has
            another one.
    """

    within_ns: int = 0
    stamps_tell: bool = False


@dataclass(frozen=True)
class _Hole:
    """Bytes that had not come when later ones did."""

    start: int
    end: int
    by: Segment
    """The first of the later ones."""


@dataclass
class Stream:
    """One direction of a connection.

    Attributes:
        data: its bytes in order, up to the first that never came.
        ends, times: the byte at `ends[i] - 1` and those before it had come by `times[i]` (ns).
        again: segments with payload that came again or late (see `Connection.retransmitted`).
        reset: it ended with RST.
        finished: it ended with FIN.
    """

    data: bytearray = field(default_factory=bytearray)
    ends: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    again: int = 0
    reset: bool = False
    finished: bool = False
    _first: int | None = None
    _high: int = 0
    _waiting: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)
    """Heap of the keys of `_waiting`."""
    _holes: list[_Hole] = field(default_factory=list)
    _counted: dict[int, Segment] = field(default_factory=dict)

    def time(self, offset: int) -> int:
        """When the byte at `offset` was there, with all before it: ns.

        Raises:
            IndexError: it never was.
        """
        return self.times[bisect_left(self.ends, offset + 1)]

    def take(self, segment: Segment, reordered: Reordered) -> None:
        """Take the next segment of this direction."""
        if segment.flags & RST:
            self.reset = True
        start = segment.sequence + (1 if segment.flags & SYN else 0)
        if self._first is None:
            self._first = start % WHOLE
        offset = self._unwrap(start)
        payload = segment.payload
        if segment.flags & FIN:
            self.finished = True
        if not payload:
            return
        # A keep-alive sends one byte again on purpose, or none (RFC 9293, 3.8.4).
        keep_alive = len(payload) == 1 and offset == self._high - 1
        if offset > self._high:
            self._holes.append(_Hole(self._high, offset, segment))
        elif offset < self._high and not keep_alive:
            hole = self._fill(offset, offset + len(payload))
            if hole is None:
                # What was there already; the copy that was sent first may have come last.
                self.again += not _sent_before(segment, self._counted.pop(offset, None))
            elif _sent_again(segment, hole.by, reordered):
                self.again += 1
                self._counted[offset] = segment
        self._high = max(self._high, offset + len(payload))
        known = self._waiting.get(offset)
        if known is None:
            heappush(self._order, offset)
        if known is None or len(known[0]) < len(payload):
            self._waiting[offset] = (payload, segment.time_ns)
        self._join(segment.time_ns)

    def _fill(self, start: int, end: int) -> _Hole | None:
        """Fill holes from `start` to `end`; the oldest of them, None if there is none."""
        oldest: _Hole | None = None
        left: list[_Hole] = []
        for hole in self._holes:
            if hole.end <= start or end <= hole.start:
                left.append(hole)
                continue
            oldest = oldest or hole
            if hole.start < start:
                left.append(_Hole(hole.start, start, hole.by))
            if end < hole.end:
                left.append(_Hole(end, hole.end, hole.by))
        self._holes = left
        return oldest

    def _unwrap(self, sequence: int) -> int:
        assert self._first is not None
        near = len(self.data)
        difference = (sequence - self._first - near) % WHOLE
        return near + (difference if difference < HALF else difference - WHOLE)

    def _join(self, time_ns: int) -> None:
        """Move what now follows without a hole into the stream."""
        before = len(self.data)
        while self._order and self._order[0] <= len(self.data):
            offset = heappop(self._order)
            payload, _ = self._waiting.pop(offset)
            self.data += payload[len(self.data) - offset :]
        if len(self.data) > before:
            self.ends.append(len(self.data))
            self.times.append(time_ns)


def _sent_before(segment: Segment, other: Segment | None) -> bool:
    """Whether the timestamps say that a segment was sent before another one."""
    if other is None or segment.stamp is None or other.stamp is None:
        return False
    return 0 < (other.stamp - segment.stamp) % WHOLE < HALF


def _sent_again(segment: Segment, later: Segment, reordered: Reordered) -> bool:
    """Whether what fills a hole was sent again, and not overtaken by the `later` part.

    Its timestamp reports when it was sent, where there is one (RFC 7323); else its time does.
    """
    if segment.stamp is not None and later.stamp is not None:
        after = (segment.stamp - later.stamp) % WHOLE
        if after or reordered.stamps_tell:
            return 0 < after < HALF
    return segment.time_ns - later.time_ns >= reordered.within_ns


@dataclass
class Conversation:
    """One connection.

    Attributes:
        connection: ports of client and server.
        up, down: from the client and from the server.
        handshake_ns: from the client's SYN to the server's, None if it was not seen whole: the
            shortest round trip of an empty link.
        segments: all of them, in their order.
        largest_window: the largest receive window that the client offered, in bytes.
    """

    connection: Connection
    up: Stream = field(default_factory=Stream)
    down: Stream = field(default_factory=Stream)
    handshake_ns: int | None = None
    segments: list[Segment] = field(default_factory=list)
    largest_window: int = 0

    @property
    def retransmitted(self) -> int:
        """Segments with payload that were sent again, as far as the client's side shows it."""
        return self.up.again + self.down.again


def conversations(segments: list[Segment]) -> list[Conversation]:
    """The connections of a capture, in the order in which they began."""
    found: dict[Connection, Conversation] = {}
    for segment in segments:
        found.setdefault(segment.connection, Conversation(segment.connection)).segments.append(
            segment
        )
    for conversation in found.values():
        _follow(conversation)
    return list(found.values())


def _follow(conversation: Conversation) -> None:
    requested: int | None = None
    scales: dict[bool, int | None] = {}
    for segment in conversation.segments:
        if segment.flags & SYN:
            scales[segment.up] = segment.scale
            if segment.up:
                requested = requested if requested is not None else segment.time_ns
            elif requested is not None and conversation.handshake_ns is None:
                conversation.handshake_ns = segment.time_ns - requested
        elif segment.up and segment.flags & ACK:
            # A scale holds if both ends have named one (RFC 7323, section 2.2).
            both = scales.get(True) is not None and scales.get(False) is not None
            shift = (scales.get(True) or 0) if both else 0
            conversation.largest_window = max(conversation.largest_window, segment.window << shift)
    # The receiver's word of a hole and the answer to it take a round trip. The handshake's may have
    # been longer than the shortest, so a quarter is left.
    within_ns = (conversation.handshake_ns or 0) * 3 // 4
    tick_ns = _tick_ns(conversation.segments)
    down = Reordered(within_ns, tick_ns is not None and tick_ns < within_ns)
    for segment in conversation.segments:
        # The client's own packets are seen before anything can overtake them.
        if segment.up:
            conversation.up.take(segment, Reordered())
        else:
            conversation.down.take(segment, down)


def _tick_ns(segments: list[Segment]) -> float | None:
    """The time in which the server's timestamps advance by one; None if nobody can tell."""
    stamped = [one for one in segments if not one.up and one.stamp is not None]
    if len(stamped) < 2:
        return None
    first, last = stamped[0], stamped[-1]
    assert first.stamp is not None and last.stamp is not None
    ticks = (last.stamp - first.stamp) % WHOLE
    return (last.time_ns - first.time_ns) / ticks if 0 < ticks < HALF else None
