"""Two-level fractions of minimum aberration, and what is aliased with what in them.

A column of a two-level design is a set of factors, written as a bit mask; the product of two
columns is their exclusive or. A regular fraction of k factors in 2^n arms takes n factors as a
basis and makes each further one the product of some of them (its generator). The products of all
generators are the words of the defining relation, the length of the shortest the resolution (Box
and Hunter 1961, doi:10.1080/00401706.1961.10489951). Of all fractions of one size that of minimum
aberration has the fewest words of the shortest length, then of the next (Fries and Hunter 1980,
doi:10.1080/00401706.1980.10486210); it is searched for among all choices of generators.

It is always the fraction that holds the arm in which every factor is at its first level.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

MOST_ARMS = 64
MOST_FACTORS = 15
MOST_WORK = 1 << 24
"""Words that a search may look at."""


class NoFraction(ValueError):
    """There is no such fraction; the text is a sentence without its full stop."""


@lru_cache(maxsize=64)
def generators(factors: int, basis: int) -> tuple[int, ...]:
    """Generators of the two-level design of minimum aberration, one for each factor after the
    basis: the basic factors whose product it is, as a mask.

    Args:
        factors: how many factors.
        basis: how many of them are basic: the design has 2^basis arms.

    Raises:
        NoFraction: so many factors have no place in so few arms, or the search would be too long.
    """
    more, arms = factors - basis, 1 << basis
    if more <= 0:
        return ()
    candidates = [mask for mask in range(arms) if mask.bit_count() > 1]
    if more > len(candidates):
        raise NoFraction(
            f"{arms} arms have room for {arms - 1} two-level factors, and there are {factors}"
        )
    if comb(len(candidates), more) << more > MOST_WORK:
        raise NoFraction(
            f"fractions of {factors} factors in {arms} arms are not offered; "
            "take fewer factors or fewer arms"
        )
    import numpy as np  # noqa: PLC0415  0.1 s to load, and only designs with fractions need it

    chosen = np.array(list(combinations(candidates, more)), dtype=np.int64)
    lengths = np.array([mask.bit_count() for mask in range(arms)], dtype=np.int64)
    pattern = np.zeros((len(chosen), factors + 1), dtype=np.int64)
    every = np.arange(len(chosen))
    for subset in range(1, 1 << more):
        members = [place for place in range(more) if subset >> place & 1]
        word = np.bitwise_xor.reduce(chosen[:, members], axis=1)
        pattern[every, lengths[word] + len(members)] += 1
    # Longer words before shorter ones: the last key of lexsort counts most. Ties: the first choice.
    best = int(np.lexsort([every, *pattern[:, :0:-1].T])[0])
    return tuple(int(mask) for mask in chosen[best])


def defining_words(factors: int, basis: int) -> tuple[int, ...]:
    """The words of the defining relation but 1, as masks of factors, shortest first."""
    rules = [mask | 1 << (basis + place) for place, mask in enumerate(generators(factors, basis))]
    words = []
    for subset in range(1, 1 << len(rules)):
        word = 0
        for place, rule in enumerate(rules):
            if subset >> place & 1:
                word ^= rule
        words.append(word)
    return tuple(sorted(words, key=lambda word: (word.bit_count(), word)))


def resolution(factors: int, basis: int) -> int | None:
    """Length of the shortest word; None for a full design, which has none."""
    words = defining_words(factors, basis)
    return words[0].bit_count() if words else None


def arms(factors: int, basis: int) -> tuple[tuple[int, ...], ...]:
    """The arms as levels (0 or 1) of each factor; the first has them all at 0."""
    rules = generators(factors, basis)
    found = []
    for number in range(1 << basis):
        levels = [number >> place & 1 for place in range(basis)]
        levels += [(number & rule).bit_count() & 1 for rule in rules]
        found.append(tuple(levels))
    return tuple(found)


def smallest(factors: int, least: int) -> int:
    """Basis of the smallest design whose resolution is at least so much; the full one has any.

    Raises:
        NoFraction: no design of at most `MOST_ARMS` arms has it.
    """
    reached = 0
    for basis in range(2, factors + 1):
        if 1 << basis > MOST_ARMS:
            break
        try:
            found = resolution(factors, basis)
        except NoFraction:
            continue
        if found is None or found >= least:
            return basis
        reached = max(reached, found)
    raise NoFraction(
        f"no design of {factors} factors with resolution {roman(least)} has {MOST_ARMS} arms or "
        f"fewer" + (f"; the highest there is {roman(reached)}" if reached else "")
    )


def sign(word: int) -> int:
    """Product of the columns of a word of the defining relation: in the fraction that holds the arm
    with every factor at its first level, where every column is −1."""
    return -1 if word.bit_count() % 2 else 1


def roman(number: int) -> str:
    """A resolution as it is written, such as "IV"."""
    text = ""
    for value, letters in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        count, number = divmod(number, value)
        text += letters * count
    return text
