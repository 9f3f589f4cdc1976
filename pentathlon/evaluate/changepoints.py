"""The best cut of a series into segments of constant mean and variance.

Optimal partitioning (Jackson et al. 2005, doi:10.1109/LSP.2001.838216) with the cost n·ln(variance)
of a segment and a penalty for each cut. It finds what PELT finds (Killick, Fearnhead and Eckley
2012), without its pruning but over all cuts at once in arrays: `ruptures` takes nine seconds for
a flat series of 1000 points, this some hundredths of one.
"""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.values import Values

SMALLEST_VARIANCE = 1e-6
"""Added to every variance, so that constant segments have a cost; for a series of scale 1."""
BLOCK = 32
"""Points of a long series that are left out together where no segment can begin."""
LONG = 1024
"""Points from which on a series is long."""
MOST_AT_ONCE = 1 << 15
"""Points of all series that are cut at once: as many as a processor's nearest caches hold."""


def segment_ends(signal: Values, penalty: float, shortest: int) -> list[int]:
    """Ends of the segments, the last one being the number of points.

    Args:
        signal: a series of mean 0 and scale about 1.
        penalty: cost of each cut.
        shortest: fewest points in a segment.
    """
    count = len(signal)
    sums = np.concatenate([[0.0], np.cumsum(signal)])
    squares = np.concatenate([[0.0], np.cumsum(signal**2)])
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(count + 1, dtype=np.int64)
    for end in range(shortest, count + 1):
        starts = np.arange(0, end - shortest + 1)
        size = end - starts
        mean = (sums[end] - sums[starts]) / size
        variance = np.maximum((squares[end] - squares[starts]) / size - mean**2, 0.0)
        cost = best[starts] + size * np.log(variance + SMALLEST_VARIANCE) + penalty
        place = int(np.argmin(cost))
        best[end], last[end] = cost[place], place
    return _ends(last.tolist())


def level_ends_of_each(signals: Values, penalty: float, shortest: int) -> list[list[int]]:
    """The same for segments of constant mean and common variance: the cost is the sum of squares.

    Args:
        signals: series of one length, a row for each, whose noise has the variance 1; one pass
            serves all short ones.
        penalty: cost of each cut.
        shortest: fewest points in a segment.
    """
    if signals.shape[1] >= LONG:
        return [_long_level_ends(one, penalty, shortest) for one in signals]
    most = max(1, MOST_AT_ONCE // max(signals.shape[1], 1))
    found = []
    for start in range(0, len(signals), most):
        found += _level_ends(signals[start : start + most], penalty, shortest)
    return found


def _level_ends(signals: Values, penalty: float, shortest: int) -> list[list[int]]:
    rows, count = signals.shape
    sums = np.zeros((rows, count + 1))
    np.cumsum(signals, axis=1, out=sums[:, 1:])
    best = np.full((rows, count + 1), np.inf)
    best[:, 0] = -penalty
    last = np.zeros((rows, count + 1), dtype=np.int64)
    sizes = np.arange(count, 0, -1, dtype=np.float64)
    each = np.arange(rows)
    # The sum of squares of all points is the same for every choice and is left out.
    for end in range(shortest, count + 1):
        starts = end - shortest + 1
        rise = sums[:, end, np.newaxis] - sums[:, :starts]
        cost = best[:, :starts] - rise * rise / sizes[count - end : count - end + starts]
        place = cost.argmin(axis=1)
        best[:, end], last[:, end] = cost[each, place] + penalty, place
    return [_ends(own.tolist()) for own in last]


def _long_level_ends(signal: Values, penalty: float, shortest: int) -> list[int]:
    """The same for one long series, without the starts that bounds exclude.

    For a block of starts, what is left of the sum of squares is at least the least cost before them
    less the largest rise of the sums over the shortest segment. Where that exceeds the cost of a
    known start, none of the block begins the last segment.
    """
    count = len(signal)
    sums = np.concatenate([[0.0], np.cumsum(signal)])
    in_blocks = sums[: (count + 1) // BLOCK * BLOCK].reshape(-1, BLOCK)
    low, high = in_blocks.min(axis=1), in_blocks.max(axis=1)
    least = np.empty(len(in_blocks))
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(count + 1, dtype=np.int64)
    sizes = np.arange(count, 0, -1, dtype=np.float64)
    within = np.arange(BLOCK)
    latest = count - shortest + 1
    known = bounded = 0
    for first in range(shortest, count + 1, BLOCK):
        ends = np.arange(first, min(first + BLOCK, count + 1))[:, np.newaxis]
        level = sums[ends]
        values, places = np.full(len(ends), np.inf), np.zeros(len(ends), dtype=np.int64)
        # Blocks whose starts are far enough from every one of these ends.
        far = (first - shortest + 1) // BLOCK
        if far:
            least[bounded:far] = best[bounded * BLOCK : far * BLOCK].reshape(-1, BLOCK).min(axis=1)
            bounded = far
            rise = np.maximum(np.abs(level - low[:far]), np.abs(level - high[:far]))
            bound = least[:far] - rise * rise / (ends - np.arange(BLOCK - 1, far * BLOCK, BLOCK))
            most = best[known] - (level - sums[known]) ** 2 / (ends - known)
            # Bounds are rounded, too.
            kept = np.flatnonzero((bound <= most + 1e-9 * (1.0 + np.abs(most))).any(axis=0))
            if kept.size:
                starts = (kept[:, np.newaxis] * BLOCK + within).ravel()
                rise = level - sums[starts]
                cost = best[starts] - rise * rise / (ends - starts)
                chosen = cost.argmin(axis=1)
                values, places = cost[np.arange(len(ends)), chosen], starts[chosen]
        near = far * BLOCK
        for at, end in enumerate(ends[:, 0].tolist()):
            beyond = end - shortest + 1
            value, place = values[at], places[at]
            if beyond > near:
                rise = sums[end] - sums[near:beyond]
                cost = best[near:beyond] - rise * rise / sizes[count - end + near : latest]
                nearest = int(cost.argmin())
                if cost[nearest] < value:
                    value, place = cost[nearest], near + nearest
            best[end], last[end] = value + penalty, place
        known = int(last[min(first + BLOCK, count + 1) - 1])
    return _ends(last.tolist())


def _ends(last: list[int]) -> list[int]:
    """Ends of segments, from where the last segment before each place begins."""
    ends = [len(last) - 1]
    while last[ends[-1]] > 0:
        ends.append(last[ends[-1]])
    return ends[::-1]
