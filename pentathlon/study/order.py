"""Random orders that a seed gives, and orders that are balanced over their repetitions.

A random order draws a number for each item with Python's `random.Random("SEED/PLACE/...")` and
sorts by them; Python guarantees that sequence for a text seed (docs of `random.seed` and
`random.random`), while `shuffle` may change.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


def order_of(items: Sequence[T], seed: int, *place: str | int) -> list[T]:
    """The items in the random order that the seed gives them at that place."""
    generator = random.Random("/".join(str(part) for part in (seed, *place)))
    drawn = [(generator.random(), index) for index in range(len(items))]
    return [items[index] for _, index in sorted(drawn)]


def williams(count: int) -> list[list[int]]:
    """A Williams design: orders of 0 to `count` - 1, one after the other.

    Over all of them each item stands equally often in each place, and each item directly follows
    each other item equally often: once with an even count, of which there are `count` orders, and
    twice with an odd one, of which there are 2 `count` (E. J. Williams, Experimental designs
    balanced for the estimation of residual effects of treatments, Australian Journal of Scientific
    Research A 2, 1949).
    """
    # 0, 1, n-1, 2, n-2, ...: the differences between neighbours are all different.
    first = [(place + 1) // 2 if place % 2 else -(place // 2) % count for place in range(count)]
    rows = [[(item + shift) % count for item in first] for shift in range(count)]
    return rows if count % 2 == 0 or count == 1 else [*rows, *(row[::-1] for row in rows)]


def balanced(items: Sequence[T], number: int, seed: int, *place: str | int) -> list[T]:
    """The order of the items in one repetition.

    As many repetitions as a Williams design has orders go through all of them, in random order and
    with the items randomly assigned to its numbers.

    Args:
        number: the repetition, from 0.
        place: what is repeated.
    """
    count = len(items)
    cycle, within = divmod(number, count if count % 2 == 0 or count == 1 else 2 * count)
    return [items[index] for index in _cycle(count, seed, (*place, "cycle", cycle))[within]]


@lru_cache(maxsize=256)
def _cycle(count: int, seed: int, place: tuple[str | int, ...]) -> list[list[int]]:
    """All orders of a Williams design, as they follow one another at that place.

    Whoever takes turns asks for each of a cycle between two measured batches.
    """
    assigned = order_of(range(count), seed, *place, "items")
    return [[assigned[at] for at in row] for row in order_of(williams(count), seed, *place)]
