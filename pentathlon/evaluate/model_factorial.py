"""The effects of a factorial design as data.

An effect is a log-ratio of speeds: that of a factor compares a level with the factor's first one,
at the mean of all levels of the others; that of two factors is the ratio of two such effects, of
the first factor at a level of the second and at the second's first level.
"""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.verdict import Verdict


class Factor(Frozen):
    """A setting, with its levels; the first is the one that the others are compared with."""

    name: str
    levels: tuple[str, ...]


class Arm(Frozen):
    """One combination of levels, and the system that has it."""

    system: str
    levels: tuple[str, ...]


class Term(Frozen):
    """A main effect or a two-way interaction, between two levels of each of its factors."""

    name: str
    """Such as "scheduler" or "scheduler × nice"; with levels where a factor has more than two."""
    factors: tuple[str, ...]
    levels: tuple[str, ...]
    """The level of each factor that is compared with the factor's first one."""
    base: tuple[str, ...]
    """These first levels."""
    aliases: tuple[str, ...] = ()
    """What cannot be distinguished from it in a fraction, with its sign, such as "−a × b"."""

    @property
    def interaction(self) -> bool:
        """Whether it is one of two factors."""
        return len(self.factors) > 1


class TermEffect(Frozen):
    """One term for one metric."""

    term: str
    key: str
    """Of the row."""
    declared: bool
    blocks: int
    log_ratios: tuple[float, ...]
    """Per unit of inference: a block, or an install where there are several."""
    mean: float | None
    error: float | None
    """Standard error of the mean by its own units."""
    percent: float | None
    """exp(mean) − 1, in percent; + is faster."""
    low_percent: float | None
    """Interval at the study's confidence, for this effect alone."""
    high_percent: float | None
    adjusted_confidence: float | None
    adjusted_low_percent: float | None
    """Interval behind the verdict, after allowing for all metrics and terms."""
    adjusted_high_percent: float | None
    p_different: float | None
    p_equivalent: float | None
    mde_percent: float | None
    verdict: Verdict
    words: str
    reason: str
    """Why the verdict is not a plain one; "" if there is nothing to say."""
    parts: tuple[tuple[str, float], ...] = ()
    """For an interaction the effect of the first factor at both levels of the second, in percent,
    without a claim."""


class Ranked(Frozen):
    """A term over all metrics: how much it matters."""

    term: str
    shown: int
    """Declared metrics for which it is shown to matter."""
    equivalent: int
    """For which it is shown not to, within ±δ."""
    undecided: int
    unusable: int
    """Unstable, invalid or not measured."""
    strongest: str | None
    """Key of the metric with the largest shown effect."""
    percent: float | None
    """That effect."""
    words: str
    """The sentence on it."""


class Factorial(Frozen):
    """A factorial design and its effects."""

    words: str
    """What kind of design it is."""
    resolution: int | None
    """None: every combination was measured."""
    generators: tuple[str, ...]
    factors: tuple[Factor, ...]
    arms: tuple[Arm, ...]
    terms: tuple[Term, ...]
    effects: tuple[TermEffect, ...]
    ranking: tuple[Ranked, ...]
    """Terms, that which matters most first."""
    tested: int
    """Declared effects that were tested together."""
    selected: int
    """Of these, those that are shown."""
    exploratory_tested: int = 0
    exploratory_selected: int = 0
    cautions: tuple[str, ...] = ()
    open: str = ""
    """How many blocks would decide half of what is inconclusive, and the command for them."""

    def term(self, name: str) -> Term:
        """The term of that name.

        Raises:
            KeyError: no term has the name.
        """
        return {one.name: one for one in self.terms}[name]

    def of(self, term: str) -> list[TermEffect]:
        """The effects of a term, in the order of the rows."""
        return [one for one in self.effects if one.term == term]
