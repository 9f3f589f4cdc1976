"""The design of a study: its arms, and what its effects are aliased with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from pentathlon.study.factorial import fractions
from pentathlon.study.factorial.fractions import MOST_ARMS, MOST_FACTORS, NoFraction, roman
from pentathlon.study.factorial.model import Factor, Fraction

LONGEST = 32
"""Characters of an arm's name that is made of its levels; longer ones are numbered."""

Term = tuple[int, ...]
"""Numbers of the factors of a main effect or an interaction."""


@dataclass(frozen=True)
class Design:
    """Factors and arms.

    Attributes:
        factors: their names.
        levels: the levels of each.
        arms: for each arm the number of the level of each factor; all are 0 in the first.
        basis: how many factors are basic in a two-level fraction; None: every combination is
            measured.
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    arms: tuple[tuple[int, ...], ...]
    basis: int | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each arm as a system: its levels, or a number where these are too long."""
        names = ["+".join(self._part(place, level) for place, level in enumerate(arm))
                 for arm in self.arms]  # fmt: skip
        if max(map(len, names)) > LONGEST or len(set(names)) < len(names):
            wide = len(str(len(names)))
            names = [f"arm-{number:0{wide}}" for number in range(1, len(names) + 1)]
        return tuple(names)

    def _part(self, place: int, level: int) -> str:
        text = re.sub(r"[^A-Za-z0-9._-]+", "-", self.levels[place][level]).strip("-._")
        if text and text[0].isalpha() and text not in ("on", "off"):
            return text
        return f"{self.factors[place]}-{text or level}"

    def title(self, arm: int) -> str:
        """An arm in words: "scheduler = batch, nice = 10"."""
        return ", ".join(
            f"{name} = {levels[level]}"
            for name, levels, level in zip(self.factors, self.levels, self.arms[arm], strict=True)
        )

    @property
    def resolution(self) -> int | None:
        """Its resolution; None for a full design."""
        return None if self.basis is None else fractions.resolution(len(self.factors), self.basis)

    @property
    def words(self) -> str:
        """What kind of design it is."""
        count = len(self.arms)
        kinds = " × ".join(str(len(levels)) for levels in self.levels)
        if self.basis is None:
            return f"full factorial design, {kinds} = {count} arms"
        whole = 1 << len(self.factors)
        assert self.resolution is not None
        return (
            f"1/{whole // count} fraction of {len(self.factors)} factors in {count} arms, "
            f"resolution {roman(self.resolution)}, minimum aberration"
        )

    @property
    def generator_words(self) -> tuple[str, ...]:
        """The generators of a fraction, such as "d = a × b × c", with their signs."""
        if self.basis is None:
            return ()
        rules = fractions.generators(len(self.factors), self.basis)
        found = []
        for place, rule in enumerate(rules):
            # Every column is −1 in the first arm, so an even product needs a minus.
            minus = "" if rule.bit_count() % 2 else "−"
            found.append(f"{self.factors[self.basis + place]} = {minus}{self.name(_term(rule))}")
        return tuple(found)

    def alias_words(self, others: Sequence[tuple[int, Term]]) -> tuple[str, ...]:
        """The names of aliases with their signs."""
        return tuple(f"{'−' if sign < 0 else ''}{self.name(term)}" for sign, term in others)

    def name(self, term: Term) -> str:
        """A term's name: a factor, or factors with a cross between them."""
        return " × ".join(self.factors[place] for place in term)

    @cached_property
    def terms(self) -> tuple[tuple[Term, tuple[tuple[int, Term], ...]], ...]:
        """Main effects, then two-way interactions, each with its aliases of at most two factors.

        Terms that are aliases of each other are one contrast, and stand once: under the first of
        them, main effects before interactions. An alias has the sign with which it is added.
        """
        count = len(self.factors)
        every = [(one,) for one in range(count)] + list(combinations(range(count), 2))
        if self.basis is None:
            return tuple((term, ()) for term in every)
        words = fractions.defining_words(count, self.basis)
        known = {_mask(term): term for term in every}
        found: list[tuple[Term, tuple[tuple[int, Term], ...]]] = []
        taken: set[int] = set()
        for term in every:
            mask = _mask(term)
            if mask in taken:
                continue
            others = {mask ^ word: fractions.sign(word) for word in words}
            aliases = tuple((others[one], known[one]) for one in known if one in others)
            taken |= {mask, *others}
            found.append((term, aliases))
        return tuple(found)


def _mask(term: Term) -> int:
    return sum(1 << place for place in term)


def _term(mask: int) -> Term:
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def make(factors: Sequence[Factor], fraction: Fraction | None) -> Design:
    """The design of some factors.

    Raises:
        NoFraction: there is no such design, or it has too many arms.
    """
    names = tuple(one.title for one in factors)
    levels = tuple(one.texts for one in factors)
    counts = [len(one) for one in levels]
    if len(factors) > MOST_FACTORS:
        raise NoFraction(f"there are {len(factors)} factors; the most are {MOST_FACTORS}")
    whole = 1
    for count in counts:
        whole *= count
    if fraction is None:
        if whole > MOST_ARMS:
            hint = "take a [fraction]" if set(counts) == {2} else "leave out factors or levels"
            raise NoFraction(
                f"every combination of the levels would be {whole} arms; the most are {MOST_ARMS}: "
                f"{hint}"
            )
        return Design(names, levels, tuple(product(*(range(count) for count in counts))))
    if long := next((n for n, count in zip(names, counts, strict=True) if count > 2), None):
        raise NoFraction(
            f'a fraction is for factors of two levels, and "{long}" has more; leave out '
            "[fraction], or levels"
        )
    basis = _basis(len(factors), fraction)
    if basis >= len(factors):
        return make(factors, None)
    return Design(names, levels, fractions.arms(len(factors), basis), basis)


def _basis(count: int, fraction: Fraction) -> int:
    least = fraction.resolution
    if fraction.arms is None:
        assert least is not None
        return fractions.smallest(count, least)
    if fraction.arms > 1 << count:
        raise NoFraction(f"{count} factors of two levels have {1 << count} combinations, not more")
    basis = fraction.arms.bit_length() - 1
    found = fractions.resolution(count, basis)
    if least is not None and found is not None and found < least:
        raise NoFraction(
            f"{fraction.arms} arms of {count} factors have resolution {roman(found)} at most; "
            f"resolution {roman(least)} needs {1 << fractions.smallest(count, least)} arms"
        )
    return basis
