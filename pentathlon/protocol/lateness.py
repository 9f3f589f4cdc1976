"""Quantiles of how late an emulator handed frames over, from its histogram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def quantile_ns(buckets: Iterable[Sequence[int]], share: float) -> float:
    """The least lateness that `share` of the frames do not exceed, by nearest rank.

    Args:
        buckets: (lateness in ns, frames), in any order, also of several histograms.

    >>> quantile_ns([(300, 1), (100, 2), (200, 1)], 0.5)
    100.0
    """
    ordered = sorted((value, count) for value, count in buckets)
    total = sum(count for _, count in ordered)
    seen = 0
    for value, count in ordered:
        seen += count
        if seen >= share * total:
            return float(value)
    return 0.0
