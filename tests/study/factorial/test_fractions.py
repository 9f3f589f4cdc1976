"""Fractions of minimum aberration, against the published tables and against their definition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from pentathlon.study.factorial import fractions
from pentathlon.study.factorial.design import make
from pentathlon.study.factorial.fractions import NoFraction
from pentathlon.study.factorial.model import Factor, Fraction

# Factors, basic factors, resolution, and how many words of 3, 4, 5, ... letters the design of
# minimum aberration has: Chen, Sun and Wu 1993 (doi:10.2307/1403599), tables 2 to 4.
PUBLISHED = [
    (3, 2, 3, (1,)),
    (4, 3, 4, (0, 1)),
    (5, 4, 5, (0, 0, 1)),
    (5, 3, 3, (2, 1, 0)),
    (6, 3, 3, (4, 3, 0, 0)),
    (7, 3, 3, (7, 7, 0, 0, 1)),
    (6, 4, 4, (0, 3, 0, 0)),
    (7, 4, 4, (0, 7, 0, 0)),
    (8, 4, 4, (0, 14, 0, 0, 0, 1)),
    (9, 4, 3, (4, 14, 8, 0, 4, 1)),
    (7, 5, 4, (0, 1, 2)),
    (8, 5, 4, (0, 3, 4)),
    (9, 5, 4, (0, 6, 8, 0, 0, 1)),
    (10, 5, 4, (0, 10, 16, 0, 0, 5)),
    (8, 6, 5, (0, 0, 2, 1)),
    (9, 6, 4, (0, 1, 4, 2)),
]


@pytest.mark.parametrize(("factors", "basis", "resolution", "pattern"), PUBLISHED)
def test_word_length_patterns_are_the_published_ones(factors, basis, resolution, pattern):
    assert fractions.resolution(factors, basis) == resolution
    lengths = Counter(word.bit_count() for word in fractions.defining_words(factors, basis))
    assert tuple(lengths[length] for length in range(3, 3 + len(pattern))) == pattern
    assert sum(lengths.values()) == 2 ** (factors - basis) - 1


@pytest.mark.parametrize(("factors", "basis"), [(5, 3), (6, 4), (7, 4), (8, 6)])
def test_words_multiply_to_one_column_in_the_arms(factors, basis):
    columns = 2 * np.array(fractions.arms(factors, basis)) - 1
    assert (columns[0] == -1).all()
    assert len({tuple(row) for row in columns.tolist()}) == 1 << basis
    for word in fractions.defining_words(factors, basis):
        product = columns[:, [f for f in range(factors) if word >> f & 1]].prod(axis=1)
        assert (product == fractions.sign(word)).all()


@pytest.mark.parametrize("resolution", [3, 4, 5])
def test_any_fewer_factors_than_the_resolution_are_a_full_design(resolution):
    """Box and Hunter: a projection on R - 1 factors holds each combination equally often."""
    for factors in range(4, 9):
        basis = fractions.smallest(factors, resolution)
        arms = fractions.arms(factors, basis)
        reached = fractions.resolution(factors, basis) or factors + 1
        assert reached >= resolution
        for chosen in combinations(range(factors), min(reached, resolution) - 1):
            counts = Counter(tuple(arm[place] for place in chosen) for arm in arms)
            assert len(counts) == 2 ** len(chosen) and len(set(counts.values())) == 1


def factor(name: str, *levels) -> Factor:
    return Factor(setting="nice", name=name, levels=levels or (0, 1))


def test_aliases_have_the_same_column_up_to_their_sign():
    for count, least in ((3, 3), (5, 3), (6, 4), (7, 4)):
        design = make([factor(f"f{n}") for n in range(count)], Fraction(resolution=least))
        columns = 2 * np.array(design.arms) - 1
        seen = []
        for term, others in design.terms:
            own = columns[:, list(term)].prod(axis=1)
            for sign, other in others:
                assert (columns[:, list(other)].prod(axis=1) * sign == own).all()
                seen.append(other)
            seen.append(term)
        # Every main effect and two-way interaction stands exactly once.
        assert len(seen) == len(set(seen)) == count + count * (count - 1) // 2


def test_what_cannot_be_is_refused():
    two, three = factor("a"), factor("b", 0, 1, 2)
    cases = [
        ([three, two, factor("c")], Fraction(arms=4), "two levels"),
        ([two, factor("b")], Fraction(arms=8), "4 combinations"),
        ([factor(f"f{n}") for n in range(5)], Fraction(arms=8, resolution=4), "needs 16 arms"),
        ([factor(f"f{n}") for n in range(9)], Fraction(arms=8), "room for 7"),
        ([factor(f"f{n}") for n in range(9)], Fraction(resolution=6), "highest there is IV"),
        ([factor(f"f{n}") for n in range(7)], None, "128 arms"),
        ([factor(f"f{n}", *range(9)) for n in range(3)], None, "leave out factors"),
        ([factor(f"f{n}") for n in range(16)], Fraction(arms=16), "the most are 15"),
    ]
    for factors, fraction, words in cases:
        with pytest.raises(NoFraction, match=words):
            make(factors, fraction)


def test_a_fraction_of_everything_is_the_full_design():
    assert make([factor("a"), factor("b")], Fraction(arms=4)).basis is None
    assert make([factor("a"), factor("b")], Fraction(resolution=5)).basis is None
