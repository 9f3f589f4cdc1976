"""The interarrival jitter of a flow as a series over time (RFC 3550, section 6.4.1).

The standard's value is a running one: each packet moves it by a sixteenth of how far it is from the
latest change of the transit time. A single number, be it the last one or a mean, hides a burst; the
series shows when it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pentathlon.packets.join import Joined
from pentathlon.packets.series import STRETCH, Arrivals, Floats

POINTS = 100
"""Points of the series of a flow, at most."""

BARS = "▁▂▃▄▅▆▇█"

GAIN = 1 / 16


def values(came: Arrivals, start: int, end: int, state: tuple[float, float]) -> Floats:
    """The jitter after each arrival of a stretch, s; further copies have that before them.

    Args:
        came: the delays by arrival.
        state: the latest delay (not a number: there was none yet) and the latest jitter.
    """
    from scipy.signal import lfilter  # noqa: PLC0415  (0.2 s to load, for one filter)

    delay = came.delay[start:end]
    kept = np.flatnonzero(~np.isnan(delay))
    before, last = state
    found = np.full(end - start, last)
    if not len(kept):
        return found
    first = delay[kept[0]] if np.isnan(before) else before
    steps = np.abs(np.diff(delay[kept], prepend=first))
    # The filter begins as if the latest value had gone through it.
    after, _ = lfilter([GAIN], [1, GAIN - 1], steps, zi=[(1 - GAIN) * last])
    place = np.searchsorted(kept, np.arange(end - start), "right") - 1
    known = place >= 0
    found[known] = after[place[known]]
    return found


def series(flow: Joined, came: Arrivals, points: int = POINTS) -> list[tuple[float, float, float]]:
    """The jitter over the time of a flow.

    The time from the first arrival to the last is cut into `points` equal intervals; those in which
    nothing came are left out.

    Returns:
        For each interval the time of its last arrival since the first one, the jitter then, and
        the largest in the interval, all in s. Empty with fewer than two packets.
    """
    if came.packets < 2 or came.last_ns <= came.first_ns:
        return []
    width = (came.last_ns - came.first_ns) / points
    ends = np.full(points, -np.inf)
    lasts, peaks = np.zeros(points), np.zeros(points)
    state = (np.nan, 0.0)
    for start in range(0, len(came.delay), STRETCH):
        end = min(start + STRETCH, len(came.delay))
        times = (flow.arrivals(start, end)[1] - came.first_ns).astype(np.float64)
        jitter = values(came, start, end, state)
        place = np.clip((times / width).astype(np.int64), 0, points - 1)
        np.maximum.at(peaks, place, jitter)
        for one in np.unique(place):
            # Arrivals are in their order, so the last of an interval is the last with its number.
            own = len(place) - 1 - int(np.argmax(place[::-1] == one))
            if times[own] >= ends[one]:
                ends[one], lasts[one] = times[own], jitter[own]
        delays = came.delay[start:end]
        known = delays[~np.isnan(delays)]
        state = (float(known[-1]) if len(known) else state[0], float(jitter[-1]))
    return [
        (float(end) * 1e-9, float(last), float(peak))
        for end, last, peak in zip(ends, lasts, peaks, strict=True)
        if np.isfinite(end)
    ]


def line(peaks: Sequence[float], width: int = 16) -> str:
    """Values over time as a row of bars, the highest of all being full.

    >>> line([0, 1, 2, 4, 8], 5)
    '▁▁▂▄█'
    """
    if not peaks:
        return ""
    groups = np.array_split(np.asarray(peaks, float), min(width, len(peaks)))
    highest = max(float(group.max()) for group in groups)
    if highest <= 0:
        return BARS[0] * len(groups)
    return "".join(
        BARS[max(0, int(np.ceil(len(BARS) * float(group.max()) / highest)) - 1)] for group in groups
    )
