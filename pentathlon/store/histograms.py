"""Histograms of raw values: what the agent counted in buckets, and the quantiles of one round.

The buckets are those of HdrHistogram with three significant digits (docs/protocol.md): a quantile
is known to a thousandth of itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pentathlon.protocol import events
from pentathlon.study.catalog import Histogram


def quantile(event: events.Histogram, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    It is the upper bound of the bucket that the value lies in, but never above the greatest value,
    so the quantile 1 is exact. Of fewer than 1 / (1 - share) values it is the greatest one.

    Args:
        event: its buckets hold as many values as it states, at least one.
        share: 0 < share <= 1.
    """
    total = event.count
    # Of 1000 values the quantile 0.999 is the 999th, though 0.999 * 1000 is a little above 999.
    rank = min(max(math.ceil(round(share * total, 9)), 1), total)
    seen = 0
    for upper, count in event.buckets:
        seen += count
        if seen >= rank:
            return float(min(upper, event.highest))
    raise AssertionError("the buckets add up to the count")


def derived(event: events.Histogram, entry: Histogram) -> Iterator[tuple[str, float]]:
    """Each metric that is derived from a histogram, and its value.

    Args:
        entry: the histogram in the catalog.
    """
    for metric, share in entry.quantiles.items():
        yield metric, quantile(event, share)
