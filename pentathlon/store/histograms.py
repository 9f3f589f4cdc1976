"""Histograms of raw values: what the agent counted in buckets, and the quantiles of one round.

The buckets are those of HdrHistogram with three significant digits (docs/protocol.md): a quantile
is known to a thousandth of itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pentathlon.study.catalog import Histogram


def quantile(event: Mapping[str, Any], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    It is the upper bound of the bucket that the value lies in, but never above the greatest value,
    so the quantile 1 is exact. Of fewer than 1 / (1 - share) values it is the greatest one.

    Args:
        event: a `histogram` event of the agent, with at least one value.
        share: 0 < share <= 1.

    Raises:
        ValueError: the buckets do not add up to the count.
    """
    total, highest = int(event["count"]), int(event["highest"])
    counted = sum(count for _, count in event["buckets"])
    if total < 1 or counted != total:
        raise ValueError(f"a histogram of {total} values has {counted} in its buckets")
    # Of 1000 values the quantile 0.999 is the 999th, though 0.999 * 1000 is a little above 999.
    rank = min(max(math.ceil(round(share * total, 9)), 1), total)
    seen = 0
    for upper, count in event["buckets"]:
        seen += count
        if seen >= rank:
            return float(min(upper, highest))
    raise AssertionError("the buckets add up to the count")


def derived(event: Mapping[str, Any], histogram: Histogram) -> Iterator[dict[str, Any]]:
    """The `sample` events that stand for a histogram: one for each indicator derived from it."""
    for indicator, share in histogram.quantiles.items():
        yield {
            **event,
            "event": "sample",
            "indicator": indicator,
            "value": quantile(event, share),
            "batch": event["count"],
        }
