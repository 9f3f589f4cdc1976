"""The delays of a flow: in the order of arrival and in that of sequence, a stretch at a time.

A stretch is short enough for a processor's own cache, and threads take turns at stretches, so that
a hundred million packets take seconds. What a stretch yields is added up in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pentathlon.traffic.clocks import ClockDifference
from pentathlon.traffic.join import Joined, place_of
from pentathlon.traffic.records import THREADS

STRETCH = 1 << 16
"""Packets that are looked at together."""

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
        delay: one-way delay by arrival, s; of further copies too, unless `single`.
        counted: which arrivals are first copies of packets that were sent; None: all.
        packets: how many those are.
        steps: in the order of arrival.
        first_ns, last_ns: time of the earliest and of the latest arrival, receiver's timer.
        first_sequence: of the earliest.
    """

    delay: Floats
    counted: NDArray[np.bool_] | None
    packets: int
    steps: Steps
    first_ns: int
    last_ns: int
    first_sequence: int

    def delays(self) -> Floats:
        """The delays of what is counted, in the order of arrival, as an array of its own."""
        return self.delay.copy() if self.counted is None else self.delay[self.counted]

    @property
    def latest_delays(self) -> Floats:
        """The last of them, as many as the smoothed jitter remembers."""
        if self.counted is None:
            return self.delay[-JITTER_MEMORY - 1 :]
        kept = np.flatnonzero(self.counted[::-1])[: JITTER_MEMORY + 1]
        return self.delay[len(self.delay) - 1 - kept[::-1]]


@dataclass(frozen=True)
class _Part:
    """A stretch of arrivals."""

    packets: int
    total: float
    ends: tuple[float, float]
    times: tuple[int, int]
    first_sequence: int


def arrivals(flow: Joined, clocks: ClockDifference | None) -> Arrivals:
    """The delays of a flow in the order of arrival, with the clocks' difference taken off."""
    every = len(flow.arrival_ns)
    delay = np.empty(every)
    all_sent = bool(flow.length.all())
    counted = None if all_sent and not flow.duplicates else np.empty(every, bool)

    def look(start: int, end: int) -> _Part | None:
        sequence, times = flow.arrival_sequence[start:end], flow.arrival_ns[start:end]
        place = place_of(sequence)
        sent = flow.sent_ns[place]
        own = delay[start:end]
        np.subtract(times, sent, out=own)
        if clocks is not None:
            own -= clocks.at(sent)
        own *= 1e-9
        if counted is not None:
            kept = flow.first_arrival[place] == np.arange(start, end)
            kept &= flow.length[place] > 0
            counted[start:end] = kept
            own, times, sequence = own[kept], times[kept], sequence[kept]
        if not len(own):
            return None
        earliest = int(times.argmin())
        return _Part(
            packets=len(own),
            total=_absolute_sum(np.diff(own)),
            ends=(float(own[0]), float(own[-1])),
            times=(int(times[earliest]), int(times.max())),
            first_sequence=int(sequence[earliest]),
        )

    parts = [part for part in _stretches(every, look) if part is not None]
    if not parts:
        return Arrivals(delay, counted, 0, Steps(0.0, 0), 0, 0, -1)
    between = sum(abs(later.ends[0] - part.ends[1]) for part, later in pairwise(parts))
    packets = sum(part.packets for part in parts)
    first = min(parts, key=lambda part: part.times[0])
    return Arrivals(
        delay=delay,
        counted=counted,
        packets=packets,
        steps=Steps(sum(part.total for part in parts) + between, packets - 1),
        first_ns=first.times[0],
        last_ns=max(part.times[1] for part in parts),
        first_sequence=first.first_sequence,
    )


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
        place, length = flow.first_arrival[start:end], flow.length[start:end]
        kept = place >= 0
        kept &= length > 0
        if kept.all():
            delay = came.delay[place_of(place)]
            steps = Steps(_absolute_sum(np.diff(delay)), len(delay) - 1)
            sequences = (start, end - 1)
        else:
            sequence = np.flatnonzero(kept)
            if not len(sequence):
                return None
            delay, length = came.delay[place[sequence]], length[sequence]
            adjacent = np.diff(sequence) == 1
            steps = Steps(_absolute_sum(np.diff(delay)[adjacent]), int(adjacent.sum()))
            sequences = (start + int(sequence[0]), start + int(sequence[-1]))
        ends = (float(delay[0]), float(delay[-1]))
        return _Row(steps, int(length.sum(dtype=np.int64)), sequences, ends)

    rows = [row for row in _stretches(len(flow.first_arrival), look) if row is not None]
    between = [
        abs(later.ends[0] - row.ends[1])
        for row, later in pairwise(rows)
        if later.sequences[0] == row.sequences[1] + 1
    ]
    total = sum(row.steps.total for row in rows) + sum(between)
    count = sum(row.steps.count for row in rows) + len(between)
    return InSequence(Steps(total, count), sum(row.bytes for row in rows))


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


def _stretches(count: int, look: Callable[[int, int], Found]) -> Iterator[Found]:
    """What `look(start, end)` finds in each stretch, in order."""
    starts = range(0, count, STRETCH)
    ends = [min(start + STRETCH, count) for start in starts]
    if len(ends) < 2 * THREADS:
        yield from map(look, starts, ends)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(look, starts, ends)
