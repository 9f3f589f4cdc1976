"""A whole comparison as data: weighted means over areas, suites and all (docs/evaluation.md).

Means are weighted geometric means of ratios of speed, given as mean log-ratios: + is better than
the reference.
"""

from __future__ import annotations

import math

from pentathlon.evaluate.frozen import Frozen


class Member(Frozen):
    """One part that a mean is made of."""

    name: str
    weight: float
    """Its share of the mean's weight; the shares add up to 1."""
    mean: float
    """Mean log-ratio of the part."""


def below_floor(mean: float, floor_percent: float | None) -> bool:
    """Whether a mean log-ratio is no larger than its noise floor, if there is one."""
    return floor_percent is not None and abs(mean) <= math.log1p(floor_percent / 100)


class Mean(Frozen):
    """The weighted geometric mean of the ratios of speed over some rows."""

    kind: str
    """"all", "area" or "suite"."""
    name: str
    rows: int
    weight: float
    """Share of the stated weights that the measured rows carry; 1 if every row was measured."""
    blocks: int
    mean: float
    """Mean over the blocks of the weighted mean of the log-ratios."""
    percent: float
    low_percent: float | None
    """Interval at the study's confidence over the blocks; None with fewer than two."""
    high_percent: float | None
    p_different: float | None
    members: tuple[Member, ...]
    floor_percent: float | None = None
    """Noise floor of this very mean on this machine: the same rows and weights between two names of
    one system. None where the calibration did not measure all of its rows."""

    @property
    def below_floor(self) -> bool:
        """Whether the machine makes up as much between two names of one system."""
        return below_floor(self.mean, self.floor_percent)


class LeftOut(Frozen):
    """A row that carries weight and is in no mean, with the reason."""

    key: str
    weight: float
    reason: str


class Without(Frozen):
    """The mean over everything without one part."""

    kind: str
    """"area" or "workload"."""
    name: str
    percent: float
    low_percent: float | None
    high_percent: float | None
    changes: bool
    """Whether the answer, faster, slower or undecided, is another one without it."""


class Turn(Frozen):
    """The weight of one part at which both systems are equal, the others in proportion."""

    name: str
    weight: float
    """Its share now."""
    at: float | None
    """Its share at which the winner changes; None if no share does it."""


class Sensitivity(Frozen):
    """How the answer depends on the weights of the parts: areas, or workloads of a single area."""

    kind: str
    """"area" or "workload"."""
    parts: tuple[Member, ...]
    share_faster: float
    """Share of all possible weights under which the system's mean is above the reference's."""
    share_shown_faster: float
    """Share of them under which the interval excludes equality too."""
    share_shown_slower: float
    smallest_change: float | None
    """Least share of the weight that must move to other parts for the winner to change."""
    moved_to: str | None
    """Where it must move; None if no weights change the winner."""
    turns: tuple[Turn, ...]


class Dominance(Frozen):
    """Whether one system is at least as good in every row (intersection-union test)."""

    p_not_worse: float
    """Largest one-sided p value of "not slower by δ or more" over all rows."""
    p_not_better: float
    """The same for "not faster by δ or more": the reference dominates."""
    dominates: bool
    dominated: bool
    in_the_way: str | None
    """Key of the row with the largest p value of the direction that comes nearer."""


class Absolute(Frozen):
    """Formula (2) of martinovic2012 over the cases of one metric, with equal weights."""

    title: str
    workload: str
    metric: str
    cases: int
    unit: str
    values: dict[str, float]
    """System -> W_G."""


class Guard(Frozen):
    """One thing that was looked at before two sides were compared."""

    what: str
    outcome: str
    """"same", "qualified", "refused" or "not known"."""
    words: str


class SystemAggregate(Frozen):
    """One system against the reference as a whole."""

    system: str
    means: tuple[Mean, ...]
    """Over everything first, then areas, then suites."""
    left_out: tuple[LeftOut, ...]
    without: tuple[Without, ...]
    sensitivity: Sensitivity | None
    dominance: Dominance | None
    guards: tuple[Guard, ...] = ()
    """Everything that was looked at before the two were compared."""

    def mean(self, kind: str, name: str) -> Mean | None:
        """The mean of that kind and name, or None if it has no measured row."""
        return next((m for m in self.means if (m.kind, m.name) == (kind, name)), None)

    @property
    def everything(self) -> Mean | None:
        """The mean over all rows."""
        return next((one for one in self.means if one.kind == "all"), None)


class Share(Frozen):
    """How often one system has the best mean among all systems, over all possible weights."""

    system: str
    share: float
