"""Three families over the same rows: different, beyond ±δ, within ±δ.

Declared rows are judged by Holm's procedure, exploratory ones by that of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.multiplicity import fdr, holm
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, Levels
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.values import Values
from pentathlon.evaluate.verdict import Claims

PValue: TypeAlias = Callable[[Estimate], float]


@dataclass(frozen=True)
class Candidate:
    """A row of the families. `levels` are those of the look at which the row stands."""

    workload: str
    own: Estimate
    moderated: Estimate | None = None
    """The estimate behind its claims, where it borrows."""
    levels: Levels = ONE_LOOK
    declared: bool = True


def claims(rows: Sequence[Candidate], rule: Rule) -> list[tuple[Claims, float]]:
    """For each row what may be claimed, and the level at which its difference was tested.

    Each workload has the same share of the error rate. Each row is tested at the level of its
    look. Its overall p value is that of its repeated interval, which holds whenever the row was
    stopped, so rows of different looks are one family (Glimm, Maurer and Bretz 2010, section 3).
    """
    found: dict[int, tuple[Claims, float]] = {}
    for declared, procedure in ((True, holm.step_down), (False, fdr.step_up)):
        places = [place for place, one in enumerate(rows) if one.declared is declared]
        judged = _claims([rows[place] for place in places], rule, procedure)
        found |= zip(places, judged, strict=True)
    return [found[place] for place in range(len(rows))]


def _claims(
    rows: Sequence[Candidate],
    rule: Rule,
    procedure: Callable[[Values, Values, float], holm.Selection],
) -> list[tuple[Claims, float]]:
    weights = holm.workload_weights([one.workload for one in rows])

    def select(p_value: PValue) -> holm.Selection:
        overall = [
            one.levels.overall(
                p_borne(p_value, one.own, one.moderated, one.levels.nominal(rule.rate))
            )
            for one in rows
        ]
        return procedure(np.array(overall), weights, rule.rate)

    different = select(Estimate.p_different)
    beyond = select(lambda one: one.p_beyond(rule.delta))
    equivalent = select(lambda one: one.p_equivalent(rule.delta))
    return [
        (
            Claims(
                different=bool(different.selected[place]),
                beyond=bool(beyond.selected[place]),
                equivalent=bool(equivalent.selected[place]),
            ),
            float(different.levels[place]),
        )
        for place in range(len(rows))
    ]


def p_borne(p_value: PValue, own: Estimate, moderated: Estimate | None, level: float) -> float:
    """The p value of a claim: 1 for a row that borrows and whose own interval does not bear it."""
    if moderated is None:
        return p_value(own)
    return p_value(moderated) if p_value(own) <= level else 1.0
