"""Three families over the same rows: different, beyond ±δ, within ±δ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, Levels
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Claims

Values = npt.NDArray[np.float64]

Procedure: TypeAlias = Callable[[Values, Values, float], holm.Selection]
"""(p values, weights, rate) -> which rows are selected."""

PValue: TypeAlias = Callable[[Estimate], float]


@dataclass(frozen=True)
class Candidate:
    """A row of the families. `levels` are those of the look at which the row stands."""

    workload: str
    own: Estimate
    moderated: Estimate | None = None
    """The estimate behind its claims, where it borrows."""
    levels: Levels = ONE_LOOK


def claims(
    rows: Sequence[Candidate], rule: Rule, procedure: Procedure = holm.step_down
) -> list[tuple[Claims, float]]:
    """For each row what may be claimed, and the level at which its difference was tested.

    Each workload has the same share of the error rate. Each row is tested at the level of its
    look. Its overall p value is that of its repeated interval, which holds whenever the row was
    stopped, so rows of different looks are one family (Glimm, Maurer and Bretz 2010, section 3).
    """
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
