"""From our units to those of the papers."""

from __future__ import annotations

from fractions import Fraction

from pentathlon.published.expression import formula
from pentathlon.published.interval import Interval


def convert(text: str, value: float) -> float:
    """A value through a formula of x; NaN for 0, which no formula here may divide by."""
    if text == "x":
        return value
    if value == 0:
        return float("nan")
    return float(formula(text)({"x": Interval.exact(Fraction(value))}).low)
