"""Means of boots with their intervals, and how they are said."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from pentathlon.evaluate.derived.model import Mean
from pentathlon.evaluate.derived.series import mean_of
from pentathlon.evaluate.display import signed, significant


def mean(
    values: Sequence[float], level: float, least: float = -math.inf, most: float = math.inf
) -> Mean | None:
    """The mean of the boots; None without any.

    Args:
        level: 1 − confidence.
        least, most: as for `mean_of`.
    """
    return mean_of(np.array(values), level, least=least, most=most) if values else None


def ratio(logs: Sequence[float], level: float) -> Mean | None:
    """The geometric mean of ratios, given by their logarithms, with its interval."""
    found = mean(logs, level)
    if found is None:
        return None
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return Mean(value=math.exp(found.value), low=low, high=high, boots=found.boots)


def percent(ratio: Mean) -> str:
    """A ratio as a change."""
    scaled = Mean(
        value=100 * (ratio.value - 1),
        low=None if ratio.low is None else 100 * (ratio.low - 1),
        high=None if ratio.high is None else 100 * (ratio.high - 1),
        boots=ratio.boots,
    )
    return interval(scaled, signed, " %")


def points(mean: Mean) -> str:
    """A difference of percentages."""
    return interval(mean, signed, " percentage points")


def interval(mean: Mean, text: Callable[[float], str], unit: str) -> str:
    """A mean with its interval, where it has one."""
    words = f"{text(mean.value)}{unit}"
    if mean.low is not None and mean.high is not None:
        words += f" ({text(mean.low)} to {text(mean.high)})"
    return words


def thousands(mean: Mean) -> str:
    """A mean in thousands of its unit."""
    return interval(mean, lambda value: significant(value / 1e3), "")
