"""How two endpoints' timers differ, from exchanges of four timestamps, with bounds.

One exchange (RFC 5905, section 8) is sent at t1, heard at t2, answered at t3, and the answer is
heard at t4. The receiver's timer minus the sender's at that moment lies between t3 − t4 and
t2 − t1, whatever the delays are, because none is negative. A straight line (offset and drift) must
pass through all of these windows; the bounds of one-way delay follow from how far it could be
moved.

Two timers that count the same counter, as programs and user-mode kernels of one machine do with
its time stamp counter, need no estimate: how they differ follows from their epochs and rates. That
the counter is the same is not believed: every window of the exchanges must agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from pentathlon.packets.records import Integers

FEWEST = 3
"""Exchanges without which no drift can be estimated."""

NEAR = 8
"""Exchanges after each other in which the difference of two timers counts as one, where they do not
run at constant rates."""

COUNTER_NS = 100.0
"""How far readings of one counter on two CPUs can be from each other, ns: a processor reads it out
of order, some tens of ns early, and the system lets no CPU's counter lie behind the others'."""


@dataclass(frozen=True)
class Counter:
    """What a timer counts.

    Attributes:
        source: name of the counter.
        epoch: its reading when the timer was 0.
        tick_ns: ns of the timer for one step of the counter.
    """

    source: str
    epoch: int
    tick_ns: float


@dataclass(frozen=True)
class ClockDifference:
    """Receiver's timer minus sender's timer, as a line over the sender's time.

    Attributes:
        origin_ns: sender's time at which the offset holds.
        offset_ns: difference at that time.
        drift: change of the difference per ns (1e-6 is 1 ppm).
        bound_ns: the true difference is within ± this of the line, over the whole run.
        exchanges: how many exchanges it was made from.
        by: "exchange", or "counter" where both timers count the same one.
    """

    origin_ns: int
    offset_ns: float
    drift: float
    bound_ns: float
    exchanges: int
    by: str = "exchange"

    def at(self, sender_ns: Integers) -> NDArray[np.float64]:
        """The difference at these times of the sender, in ns."""
        return np.asarray(self.offset_ns + self.drift * (sender_ns - self.origin_ns), np.float64)


def between(
    exchanges: Integers, sender: Counter | None, receiver: Counter | None
) -> ClockDifference | None:
    """The difference of two timers: exactly, where they count one counter, else by `difference`.

    Args:
        exchanges: rows of t1, t2, t3, t4.
        sender, receiver: what the timers count; None: unknown.
    """
    if sender is None or receiver is None or sender.source != receiver.source:
        return difference(exchanges)
    if not len(exchanges):
        return None
    t1, t2, t3, t4 = exchanges.T
    ratio = receiver.tick_ns / sender.tick_ns
    origin = int(t1[0])
    # The receiver's time when the sender's is 0; its epoch may lie before or after.
    apart = (sender.epoch - receiver.epoch) * receiver.tick_ns
    line = ClockDifference(
        origin, apart + origin * (ratio - 1), ratio - 1, COUNTER_NS, len(exchanges), "counter"
    )
    agree = (line.at(t1) <= t2 - t1 + COUNTER_NS) & (line.at(t4) >= t3 - t4 - COUNTER_NS)
    return line if agree.all() else difference(exchanges)


def difference(exchanges: Integers) -> ClockDifference | None:
    """Fit the line through the windows of all exchanges; None if there are too few.

    The line is the one that keeps the largest distance from the edges of all windows (linear
    programming), and `bound_ns` is how far any other line through all of them is from it: half the
    shortest round trip, where short ones are found at the beginning and at the end of the run. If
    the timers do not run at constant rates the windows may contradict each other. No line is true
    then; the bound is how far this one misses a window, and the width of the narrowest windows.
    """
    if len(exchanges) < FEWEST:
        return None
    t1, t2, t3, t4 = exchanges.T
    origin = int(t1[0])
    base = int(t2[0] - t1[0])
    middle = ((t1 + t4) / 2 - origin) * 1e-9
    if middle[-1] <= middle[0]:
        return None  # Exchanges of one moment say nothing about the drift.
    upper = (t2 - t1 - base).astype(float)
    lower = (t3 - t4 - base).astype(float)
    # Distance d from both edges of every window: line + d <= upper, -line + d <= -lower.
    ones = np.ones(len(middle))
    edges = np.concatenate(
        [np.stack([ones, middle, ones], axis=1), np.stack([-ones, -middle, ones], axis=1)]
    )
    limits = np.concatenate([upper, -lower])
    best = scipy.optimize.linprog(
        [0, 0, -1], A_ub=edges, b_ub=limits, bounds=[(None, None)] * 3, method="highs"
    )
    if best.x is None:
        return None
    offset, slope, distance = (float(value) for value in best.x)
    if distance < 0:
        # The truth lies in every window, and windows of one moment share it: the narrowest holds.
        widths = upper - lower
        narrow = max(widths[at : at + NEAR].min() for at in range(0, len(widths), NEAR))
        bound = -distance + float(narrow)
        return ClockDifference(origin, base + offset, slope * 1e-9, bound, len(exchanges))
    bound = 0.0
    # The truth is some line through all windows; two lines differ most at an end of the run.
    for end in (middle[0], middle[-1]):
        for sign in (1.0, -1.0):
            far = scipy.optimize.linprog(
                [-sign, -sign * end], A_ub=edges[:, :2], b_ub=limits,
                bounds=[(None, None)] * 2, method="highs",
            )  # fmt: skip
            if far.x is None:
                return None
            there = float(far.x[0]) + float(far.x[1]) * float(end)
            bound = max(bound, abs(there - offset - slope * float(end)))
    return ClockDifference(origin, base + offset, slope * 1e-9, bound, len(exchanges))
