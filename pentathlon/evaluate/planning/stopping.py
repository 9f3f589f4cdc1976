"""Whether a study has measured enough, by the rule of its plan.

The rule reads the same evaluation that the report prints, so what it saw can be seen again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from pentathlon.evaluate.display import percent_text
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model import Comparison, Effect, Evaluation
from pentathlon.evaluate.verdict import Verdict
from pentathlon.study.counting import count_text
from pentathlon.study.stopping import Stopping

DECIDED = {Verdict.EQUIVALENT, Verdict.NEGLIGIBLE}


def is_met(evaluation: Evaluation, stopping: Stopping, blocks: int) -> str | None:
    """Why so many blocks are enough, or None if the study goes on.

    `looks`: every declared metric's repeated interval (the one behind its verdict) excludes 0,
    or lies inside ±δ. `precision`: every declared metric's own interval is narrow enough.
    Metrics that are invalid or not measured on a side do not count; more blocks do not help.
    """
    if not stopping.may_stop(blocks):
        return None
    found = list(_comparisons(evaluation))
    if not found or any(one.effect is None for one in found):
        return None
    what = "every declared metric" if evaluation.study.declared else "every metric"
    if stopping.rule == "looks":
        if all(decided(one, evaluation.study.delta_percent) for one in found):
            return f"after {count_text(blocks, 'block')} {what} is decided"
        return None
    wanted = stopping.half_width_percent or 0.0
    if all(_half_width(one.effect) <= math.log1p(wanted / 100) for one in found):
        return f"after {count_text(blocks, 'block')} {what} is known to ±{percent_text(wanted)}"
    return None


def decided_workloads(evaluation: Evaluation) -> tuple[str, ...]:
    """Workloads of which every row that can be judged has a verdict, and some row can.

    A row that is unstable or inconclusive keeps its workload; one that is invalid or not measured
    does not, as more blocks do not help it. Exploratory rows count like declared ones.
    """
    found: dict[str, list[Comparison]] = {}
    for row in evaluation.rows:
        if row.score or row.declared:
            found.setdefault(row.workload, []).extend(row.comparisons)
    judged: Mapping[str, list[Comparison]] = {
        workload: [one for one in own if one.verdict not in {Verdict.INVALID, Verdict.NOT_MEASURED}]
        for workload, own in found.items()
    }
    return tuple(
        workload
        for workload, own in judged.items()
        if own and all(one.verdict.is_shown or one.verdict in DECIDED for one in own)
    )


def decided(one: Comparison, delta_percent: float) -> bool:
    """Whether the interval behind the verdict excludes 0 or lies inside ±δ."""
    if one.verdict.is_shown or one.verdict in DECIDED:
        return True
    effect = one.effect
    if (
        effect is None
        or effect.adjusted_low_percent is None
        or effect.adjusted_high_percent is None
    ):
        return False
    low, high = effect.adjusted_low_percent, effect.adjusted_high_percent
    least = math.expm1(-math.log1p(delta_percent / 100)) * 100
    return low > 0 or high < 0 or (low > least and high < delta_percent)


def _comparisons(evaluation: Evaluation) -> Iterator[Comparison]:
    for row in evaluation.rows:
        for one in row.comparisons:
            if row.declared and one.verdict not in {Verdict.INVALID, Verdict.NOT_MEASURED}:
                yield one


def _half_width(effect: Effect | None) -> float:
    """Half width of the own interval as a log-ratio; infinite without one."""
    if effect is None or effect.low_percent is None or effect.high_percent is None:
        return math.inf
    return (ratio.log_of(effect.high_percent) - ratio.log_of(effect.low_percent)) / 2
