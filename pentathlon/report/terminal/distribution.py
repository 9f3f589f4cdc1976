"""A small picture of distributions in a terminal: one line of blocks for each system."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.evaluate.display import scale, significant

LEVELS = " ▁▂▃▄▅▆▇█"
"""U+2581 to U+2588: eighths of a cell."""


def bins(values: Sequence[float], low: float, high: float, width: int) -> list[int]:
    """How many values lie in each of `width` equal parts of the range; its end is in the last."""
    counts = [0] * width
    span = high - low
    for value in values:
        place = int((value - low) / span * width) if span > 0 else width // 2
        counts[min(max(place, 0), width - 1)] += 1
    return counts


def line(values: Sequence[float], low: float, high: float, width: int) -> str:
    """The distribution of values as one line: the fullest part is a full block, and no part with a
    value is empty."""
    counts = bins(values, low, high, width)
    most = max(counts, default=0)
    top = len(LEVELS) - 1
    return "".join(LEVELS[-(-count * top // most)] if count else LEVELS[0] for count in counts)


def picture(
    groups: Sequence[tuple[str, Sequence[float]]], unit: str, width: int
) -> list[tuple[str, str]]:
    """Lines for a terminal: (name, distribution) on one axis for all groups, and the axis itself.

    Args:
        groups: name -> values, in the order of the lines; those without values are left out.
        width: characters of a distribution.
    """
    known = [(name, values) for name, values in groups if values]
    every = [value for _, values in known for value in values]
    if not every:
        return []
    low, high = min(every), max(every)
    lines = [(name, line(values, low, high, width)) for name, values in known]
    divisor, shown = scale(unit, high)
    left, right = (f"{significant(end / divisor, 4)} {shown}" for end in (low, high))
    gap = max(width - len(left) - len(right), 1)
    return [*lines, ("", f"{left}{' ' * gap}{right}")]
