"""What probes say of a link: rate, delay and loss, from when each was sent and came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Row = Sequence[int]
"""Sequence, time of sending and time of arrival, ns."""

SKIP = 0.1
"""Share of a train's arrivals that are left out at its beginning, while the queue fills."""


class TooFew(ValueError):
    """Fewer probes came than are needed, or at one moment; the text states how many."""


@dataclass(frozen=True)
class Delays:
    """One-way delays, less the time on the line, ms."""

    median: float
    p05: float
    p95: float
    least: float
    most: float
    count: int


def once(rows: Sequence[Row]) -> list[Row]:
    """The first arrival of each probe: of those that came twice, the copies are left out."""
    first: dict[int, Row] = {}
    for row in rows:
        known = first.setdefault(row[0], row)
        if row[2] < known[2]:
            first[row[0]] = row
    return list(first.values())


def delays(rows: Sequence[Row], line_ms: float) -> Delays:
    """Delays of probes that had the line for themselves.

    Args:
        rows: the probes that came; both times are of one clock.
        line_ms: time of such a probe on the line.

    Raises:
        TooFew: fewer than ten came.
    """
    if len(rows) < 10:
        raise TooFew(f"{len(rows)} probes for the delay came, at least 10 are needed")
    table = np.asarray(rows, dtype=np.int64)
    found = (table[:, 2] - table[:, 1]) / 1e6 - line_ms
    p05, median, p95 = np.quantile(found, [0.05, 0.5, 0.95])
    return Delays(
        float(median), float(p05), float(p95), float(found.min()), float(found.max()), len(rows)
    )


def rate_kbit(rows: Sequence[Row], frame_bytes: int, lost: int = 0, *, even: bool = True) -> float:
    """Rate at which a train came out of a line that had more than it could carry, kbit/s.

    The slope of a straight line through bytes over times of arrival, by least squares: a few late
    arrivals move it less than they would move the time from the first to the last.

    Frames that were lost behind the line took their time there. Where arrivals are whole frames
    apart, which ones are missing shows in the gaps between them; elsewhere the slope is corrected
    by their share, which is off by what chance does to their places in the train.

    Args:
        rows: each probe that came, once.
        frame_bytes: of a probe on the line.
        lost: probes that were lost behind the line.
        even: nothing behind the line delays one frame more than another.

    Raises:
        TooFew: fewer than twenty came.
    """
    if len(rows) < 20:
        raise TooFew(f"{len(rows)} probes for the rate came, at least 20 are needed")
    came = np.sort(np.asarray(rows, dtype=np.int64)[:, 2])
    whole = (len(came) + lost) / len(came)
    came = came[int(len(came) * SKIP) :]
    times = (came - came[0]) / 1e6
    if times[-1] <= 0:
        raise TooFew("all probes for the rate came at one moment")
    slope = np.polyfit(times, whole * np.arange(len(came)), 1)[0]
    if lost and even:
        frames = np.cumsum(np.rint(np.diff(times) * slope))
        if times[-1] <= times[1]:
            raise TooFew("all probes for the rate came at two moments")
        slope = np.polyfit(times[1:], frames, 1)[0]
    return float(slope * frame_bytes * 8)
