"""Orders that are balanced over their repetitions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.study.order import balanced, williams


@pytest.mark.parametrize("count", range(1, 12))
def test_a_williams_design_is_balanced_for_places_and_for_neighbours(count: int) -> None:
    rows = williams(count)
    assert len(rows) == (count if count % 2 == 0 or count == 1 else 2 * count)
    assert all(sorted(row) == list(range(count)) for row in rows)
    places = Counter((place, item) for row in rows for place, item in enumerate(row))
    assert set(places.values()) == {len(rows) // count}
    neighbours = Counter(pair for row in rows for pair in pairwise(row))
    assert len(neighbours) == count * (count - 1)
    assert set(neighbours.values()) <= {1 if count % 2 == 0 else 2}


@given(st.integers(0, 2**62), st.integers(1, 6), st.integers(0, 5))
def test_each_cycle_of_repetitions_is_balanced(seed: int, count: int, cycle: int) -> None:
    names = "abcdef"[:count]
    size = len(williams(count))
    numbers = range(cycle * size, (cycle + 1) * size)
    orders = [tuple(balanced(names, number, seed, "x")) for number in numbers]
    assert len(set(orders)) == size
    places = Counter((place, name) for order in orders for place, name in enumerate(order))
    assert set(places.values()) == {size // count}


def test_two_orders_are_drawn_equally_often_and_never_three_times_in_a_row() -> None:
    firsts = "".join(balanced("ab", number, 1, "x")[0] for number in range(4000))
    assert firsts.count("a") == 2000
    assert "aaa" not in firsts and "bbb" not in firsts
    # Which of the two a cycle begins with is a coin flip: 1000 expected, 5 standard deviations.
    assert 840 < sum(firsts[i] == "a" for i in range(0, 4000, 2)) < 1160
    other = "".join(balanced("ab", number, 2, "x")[0] for number in range(4000))
    assert other != firsts


def test_known_orders() -> None:
    """Fixed for good: a plan of an old result must come out the same in every later version."""
    assert williams(4) == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    assert ["".join(balanced("abc", number, 7, "x")) for number in range(6)] == KNOWN


KNOWN = ["bac", "acb", "abc", "cba", "bca", "cab"]
