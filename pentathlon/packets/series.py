"""The delays of a flow: in the order of arrival and in that of sequence, a stretch at a time.

A stretch is short enough for a processor's caches and long enough that threads seldom wait for each
other, so that a hundred million packets take seconds. What a stretch yields is added up in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.join import Joined, ascends, place_of
from pentathlon.packets.records import THREADS, Integers

STRETCH = 1 << 17
"""Packets that are looked at together."""

SOON_NS = 1 << 14
"""Latenesses below are counted, those above are kept."""

WIDEST = 16
"""A stretch of arrivals may be so many times wider in its sequences than it has packets: then what
was sent is decoded for that width, else for the whole flow."""

JITTER_MEMORY = 2048
"""Steps that the smoothed jitter remembers: what lies further back has the weight (15/16)^2048,
which is less than a double's last bit."""

Floats = NDArray[np.float64]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Steps:
    """Differences of the delays of packets that follow each other, added up.

    Attributes:
        total: sum of their absolute values, s.
        count: how many.
    """

    total: float
    count: int

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass(frozen=True)
class Arrivals:
    """First copies of packets that were sent, as they came.

    Attributes:
        delay: one-way delay by arrival, s; not a number for further copies.
        packets: how many have a delay.
        steps: in the order of arrival.
        extremes: smallest and largest delay, s.
        total: sum of the delays, s.
        first_ns, last_ns: time of the earliest and of the latest arrival, receiver's timer.
        first_sequence: of the earliest.
    """

    delay: Floats
    packets: int = 0
    steps: Steps = Steps(0.0, 0)
    extremes: tuple[float, float] = (0.0, 0.0)
    total: float = 0.0
    first_ns: int = 0
    last_ns: int = 0
    first_sequence: int = -1

    @property
    def latest_delays(self) -> Floats:
        """The last delays, as many as the smoothed jitter remembers and one."""
        found: Floats = np.empty(0)
        end = len(self.delay)
        while end and len(found) <= JITTER_MEMORY:
            start = max(0, end - STRETCH)
            part = self.delay[start:end]
            found, end = np.concatenate([part[~np.isnan(part)], found]), start
        return found[-JITTER_MEMORY - 1 :]


@dataclass(frozen=True)
class _Part:
    """A stretch of arrivals."""

    packets: int
    steps: float
    ends: tuple[float, float]
    extremes: tuple[float, float]
    total: float
    times: tuple[int, int]
    first_sequence: int


def arrivals(flow: Joined, clocks: ClockDifference | None) -> Arrivals:
    """The delays of a flow in the order of arrival, with the clocks' difference taken off."""
    delay = np.empty(flow.arrivals_count)

    def look(start: int, end: int) -> _Part | None:
        sequence, times = flow.arrivals(start, end)
        own = delay[start:end]
        _delays(flow, sequence, times, clocks, own)
        out = _left_out(flow, start, end, sequence)
        if len(out):
            own[out] = np.nan
            kept = np.ones(len(own), bool)
            kept[out] = False
            own, times, sequence = own[kept], times[kept], sequence[kept]
        if not len(own):
            return None
        earliest = int(times.argmin())
        return _Part(
            packets=len(own),
            steps=_absolute_sum(own[1:] - own[:-1]),
            ends=(float(own[0]), float(own[-1])),
            extremes=(float(own.min()), float(own.max())),
            total=float(own.sum()),
            times=(int(times[earliest]), int(times.max())),
            first_sequence=int(sequence[earliest]),
        )

    parts = [part for part in stretches(len(delay), look) if part is not None]
    if not parts:
        return Arrivals(delay)
    between = sum(abs(later.ends[0] - part.ends[1]) for part, later in pairwise(parts))
    packets = sum(part.packets for part in parts)
    first = min(parts, key=lambda part: part.times[0])
    return Arrivals(
        delay=delay,
        packets=packets,
        steps=Steps(sum(part.steps for part in parts) + between, packets - 1),
        extremes=(
            min(part.extremes[0] for part in parts), max(part.extremes[1] for part in parts),
        ),
        total=sum(part.total for part in parts),
        first_ns=first.times[0],
        last_ns=max(part.times[1] for part in parts),
        first_sequence=first.first_sequence,
    )  # fmt: skip


def _delays(
    flow: Joined, sequence: Integers, times: Integers, clocks: ClockDifference | None, out: Floats
) -> None:
    """Arrival minus sending, with the clocks' difference taken off, s."""
    low, high = int(sequence.min()), int(sequence.max()) + 1
    if high - low > WIDEST * len(sequence):
        sent = flow.sent_ns[sequence]
    else:
        sent = flow.departures(low, high)[0]
        if high - low != len(sequence) or not ascends(sequence):
            sent = sent.take(sequence - low)
    # Of integers, because times may be too large for a double to hold their nanoseconds.
    out[:] = times - sent
    if clocks is not None:
        out -= clocks.at(sent)
    out *= 1e-9


def _left_out(flow: Joined, start: int, end: int, sequence: Integers) -> Integers:
    """Which arrivals of a stretch are further copies, or of packets nobody wrote down."""
    first, last = np.searchsorted(flow.copies, (start, end))
    copies = flow.copies[first:last] - start
    if flow.is_whole:
        return copies
    return np.union1d(copies, np.flatnonzero(flow.length[sequence] == 0))


@dataclass(frozen=True)
class InSequence:
    """What is found in the order of sequence.

    Attributes:
        steps: between adjacent sequences that both came (RFC 3393).
        bytes: payload that came, each packet once.
    """

    steps: Steps
    bytes: int


@dataclass(frozen=True)
class _Row:
    """A stretch of sequences: of those that came, the first and the last with their delays."""

    steps: Steps
    bytes: int
    sequences: tuple[int, int]
    ends: tuple[float, float]


def in_sequence(flow: Joined, came: Arrivals) -> InSequence:
    """Look at the packets that came in the order of their sequences."""

    def look(start: int, end: int) -> _Row | None:
        place, length = flow.first_arrival[start:end], flow.departures(start, end)[2]
        if flow.is_whole:
            missing = np.flatnonzero(place < 0)
        else:
            missing = np.flatnonzero((place < 0) | (length == 0))
        count = len(place) - len(missing)
        if not count:
            return None
        # Places of packets that never came count from the end; what is found there is left out.
        delay = came.delay[place_of(place)] if not len(missing) else came.delay.take(place)
        steps = delay[1:] - delay[:-1]
        np.abs(steps, out=steps)
        apart = np.union1d(missing, missing - 1)
        apart = apart[(apart >= 0) & (apart < len(steps))]
        steps[apart] = 0.0
        low, high = _ends_without(missing, len(place))
        return _Row(
            Steps(float(steps.sum()), len(steps) - len(apart)),
            int(length.sum(dtype=np.int64)) - int(length[missing].sum(dtype=np.int64)),
            (start + low, start + high),
            (float(delay[low]), float(delay[high])),
        )

    rows = [row for row in stretches(len(flow.first_arrival), look) if row is not None]
    between = [
        abs(later.ends[0] - row.ends[1])
        for row, later in pairwise(rows)
        if later.sequences[0] == row.sequences[1] + 1
    ]
    total = sum(row.steps.total for row in rows) + sum(between)
    count = sum(row.steps.count for row in rows) + len(between)
    return InSequence(Steps(total, count), sum(row.bytes for row in rows))


def _ends_without(missing: Integers, count: int) -> tuple[int, int]:
    """The lowest and the highest number below `count` that are not missing; there must be one."""
    numbers = np.arange(len(missing))
    low = int((missing == numbers).cumprod().sum())
    high = count - 1 - int((missing[::-1] == count - 1 - numbers).cumprod().sum())
    return low, high


@dataclass(frozen=True)
class Departures:
    """What the sender did.

    Attributes:
        packets: how many it wrote down.
        ends_ns: actual times of the first and of the last sequence; none without packets.
        late_ends_ns: how late these two were.
        counts: how often each lateness below SOON_NS occurs.
        later_ns: every longer lateness.
    """

    packets: int
    ends_ns: Integers
    late_ends_ns: Integers
    counts: Integers
    later_ns: Integers

    def lateness_ns(self, rank: int) -> int:
        """The lateness at this place of all in order."""
        soon = int(self.counts.sum())
        if rank >= soon:
            return int(np.partition(self.later_ns, rank - soon)[rank - soon])
        return int(np.searchsorted(np.cumsum(self.counts), rank, "right"))

    @property
    def latest_ns(self) -> int:
        """The longest lateness; there must be packets."""
        return int(self.later_ns.max(initial=int(np.flatnonzero(self.counts).max(initial=0))))


def departures(flow: Joined) -> Departures:
    """Look at the packets that were sent in the order of their sequences."""

    def look(start: int, end: int) -> tuple[Integers, Integers, Integers, Integers]:
        sent, late, length = flow.departures(start, end)
        if not flow.is_whole:
            sent, late = sent[length > 0], late[length > 0]
        ends = [0, -1] if len(sent) else []
        later, soon = np.empty(0, np.int64), late
        if late.max(initial=0) >= SOON_NS:
            later, soon = late[late >= SOON_NS].astype(np.int64), late[late < SOON_NS]
        return sent[ends], late[ends].astype(np.int64), np.bincount(soon, minlength=SOON_NS), later

    packets, counts = 0, np.zeros(SOON_NS, np.int64)
    times, lates, longer = ([np.empty(0, np.int64)] for _ in range(3))
    for sent, late, soon, later in stretches(len(flow.first_arrival), look):
        times.append(sent)
        lates.append(late)
        longer.append(later)
        counts += soon
        packets += int(soon.sum()) + len(later)
    ends = [0, -1] if packets else []
    return Departures(
        packets=packets,
        ends_ns=np.concatenate(times)[ends],
        late_ends_ns=np.concatenate(lates)[ends],
        counts=counts,
        later_ns=np.concatenate(longer),
    )


def smoothed(steps: Floats) -> Floats:
    """The series J += (|D| − J) / 16 of RFC 3550, section 6.4.1, from the steps |D|."""
    from scipy.signal import lfilter  # noqa: PLC0415  (0.2 s to load, for one filter)

    return np.asarray(lfilter([1 / 16], [1, -15 / 16], steps), float)


def jitter(came: Arrivals) -> tuple[float | None, float | None]:
    """The last value of the smoothed jitter, and the mean of its series, s.

    With J0 = 0 the recursion adds up to sum(J) = sum(|D|) − 15 Jn, so that the mean needs no
    series.
    """
    steps = came.steps
    if not steps.count:
        return None, None
    last = float(smoothed(np.abs(np.diff(came.latest_delays)))[-1])
    return last, (steps.total - 15 * last) / steps.count


def _absolute_sum(values: Floats) -> float:
    np.abs(values, out=values)
    return float(values.sum())


def stretches(count: int, look: Callable[[int, int], Found]) -> Iterator[Found]:
    """What `look(start, end)` finds in each stretch, in order."""
    starts = range(0, count, STRETCH)
    ends = [min(start + STRETCH, count) for start in starts]
    if len(ends) < 2 * THREADS:
        yield from map(look, starts, ends)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(look, starts, ends)
