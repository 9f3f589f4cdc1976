"""The median with an exact interval: no assumption on the distribution but independence.

The number of values below the median is binomial with p = 1/2, so the interval between the k-th
smallest and the k-th largest of n values holds the median with probability 1 − 2 P(B ≤ k − 1)
(Thompson 1936; David and Nagaraja 2003, "Order Statistics", section 7.1). Its coverage comes in
steps: the one that is achieved is stated. At 95 % it needs 6 values: 1 − 2/2⁶ = 96.9 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class MedianInterval:
    """The interval from order statistics, in the unit of the sample."""

    low: float
    high: float
    confidence: float
    """The coverage that is achieved, at least the one that was requested."""


def median_interval(sample: Values, level: float) -> MedianInterval | None:
    """The narrowest symmetric interval of confidence at least 1 − level.

    Returns:
        None where even the whole range has less confidence.
    """
    count = len(sample)
    rank, tail = 0, 0.0
    while rank < count // 2:
        wider = 2.0 * float(special.bdtr(rank, count, 0.5))
        if wider > level:
            break
        rank, tail = rank + 1, wider
    if rank == 0:
        return None
    ordered = np.sort(sample)
    return MedianInterval(float(ordered[rank - 1]), float(ordered[count - rank]), 1.0 - tail)
