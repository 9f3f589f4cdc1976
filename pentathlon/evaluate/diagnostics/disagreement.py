"""Where the arithmetic means and the paired blocks disagree on which system is faster.

Diff % is of the means of all boots, speed % of the mean log-ratio of the paired blocks. A boot far
from the others moves a mean of times much and a mean of logarithms little, so the two can have
opposite signs. A verdict is of the blocks; the row states that the means have another one.
"""

from __future__ import annotations

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model import Comparison

OPPOSED = (
    "the means show the opposite of the paired blocks, on which the verdict rests: some boots lie "
    "far from the others, or lack the other system's boot in their block"
)


def means_oppose(
    difference_percent: float | None, own: Series | None, log_ratio: float, delta_percent: float
) -> bool:
    """Whether Diff % and the mean log-ratio name different systems, and either is beyond ±δ.

    Args:
        difference_percent: of the means, in the direction of the metric.
        log_ratio: positive where the system is better.
    """
    if difference_percent is None or own is None:
        return False
    better = difference_percent if own.direction == "higher" else -difference_percent
    largest = max(abs(difference_percent), abs(ratio.percent(log_ratio)))
    return better * log_ratio < 0 and largest > delta_percent


def opposed(one: Comparison) -> bool:
    """Whether a comparison carries the caution."""
    return OPPOSED in one.cautions
