"""A derived figure of one system, for a line of a table."""

from __future__ import annotations

from dataclasses import dataclass

from pentathlon.evaluate.derived.model import Mean


@dataclass(frozen=True)
class Figure:
    """A derived figure with its interval, or why there is none."""

    value: float | None = None
    """None where it is only known to lie in the interval, or not at all."""
    low: float | None = None
    high: float | None = None
    why: str = ""
    words: str = ""
    """What stands in the place of a value; "" for none."""
    at: str = ""
    """Where the value was found."""


def of_mean(mean: Mean | None) -> Figure | None:
    """A mean with its interval; None for none."""
    return None if mean is None else Figure(mean.value, mean.low, mean.high)
