"""Intervals of which an end may not be known, as text."""

from __future__ import annotations

from pentathlon.evaluate.display import interval_text, significant


def percent_interval(low: float | None, high: float | None, form: str = "[{}, {}]") -> str:
    """An interval in percent; "" where an end is None."""
    return "" if low is None or high is None else interval_text(low, high, form)


def value_interval(low: float | None, high: float | None, divisor: float = 1.0) -> str:
    """An interval of values such as "1.2 to 1.5"; "" where an end is None."""
    if low is None or high is None:
        return ""
    return f"{significant(low / divisor)} to {significant(high / divisor)}"
