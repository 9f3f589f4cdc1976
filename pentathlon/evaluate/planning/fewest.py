"""How many blocks are enough."""

from __future__ import annotations

from collections.abc import Callable

MOST_BLOCKS = 10_000
"""The most that a study can have."""


def fewest(enough: Callable[[int], bool], least: int) -> int | None:
    """The fewest blocks, of `least` or more, that are enough; None where not even the most are.

    Args:
        enough: whether so many blocks are; more than enough are enough.
    """
    if not enough(MOST_BLOCKS):
        return None
    low, high = least - 1, MOST_BLOCKS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
