"""Contrasts between the arms of a design: what is added up to a main effect or an interaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.model_factorial import Term
from pentathlon.evaluate.values import Values
from pentathlon.study.factorial.design import Design


@dataclass(frozen=True)
class Contrast:
    """A term and the coefficient of each arm's log speed; they add up to 0."""

    term: Term
    coefficients: Values
    parts: tuple[tuple[str, Values], ...] = ()
    """For an interaction: the first factor's effect at each level of the second."""


def contrasts(design: Design) -> tuple[Contrast, ...]:
    """Every main effect and two-way interaction of a design, aliases as one."""
    return tuple(_contrasts(design))


def _contrasts(design: Design) -> Iterator[Contrast]:
    arms = np.array(design.arms, dtype=np.int64)
    for places, aliases in design.terms:
        names = design.alias_words(aliases)
        counts = [len(design.levels[place]) for place in places]
        for levels in np.ndindex(*(count - 1 for count in counts)):
            chosen = tuple(level + 1 for level in levels)
            yield _contrast(design, arms, places, chosen, names)


def _contrast(
    design: Design,
    arms: npt.NDArray[np.int64],
    places: tuple[int, ...],
    levels: tuple[int, ...],
    aliases: tuple[str, ...],
) -> Contrast:
    of = [design.levels[place] for place in places]
    # Which levels are meant has to be said only where there are more than two.
    name = " × ".join(
        design.factors[place] if len(own) == 2 else f"{design.factors[place]}[{own[level]}]"
        for place, own, level in zip(places, of, levels, strict=True)
    )
    term = Term(
        name=name,
        factors=tuple(design.factors[place] for place in places),
        levels=tuple(own[level] for own, level in zip(of, levels, strict=True)),
        base=tuple(own[0] for own in of),
        aliases=aliases,
    )
    first, level = places[0], levels[0]
    if len(places) == 1:
        return Contrast(term, _difference(arms, first, level))
    second, other = places[1], levels[1]
    parts = tuple(
        (design.levels[second][at], _difference(arms, first, level, (second, at)))
        for at in (0, other)
    )
    return Contrast(term, parts[1][1] - parts[0][1], parts)


def _difference(
    arms: npt.NDArray[np.int64],
    place: int,
    level: int,
    held: tuple[int, int] | None = None,
) -> Values:
    """Mean of the arms with a level less that of the arms with the first one; `held`: only among
    the arms that have a level of another factor."""
    among = np.ones(len(arms), dtype=np.bool_) if held is None else arms[:, held[0]] == held[1]
    found = np.zeros(len(arms))
    for wanted, sign in ((level, 1.0), (0, -1.0)):
        chosen = among & (arms[:, place] == wanted)
        found[chosen] = sign / int(chosen.sum())
    return found
