"""Systems of two results: no block holds both, so they are not paired (docs/comparable.md).

Whatever changed on the machine between the two runs is in the difference. Intervals are those of
Welch over the boots, verdicts those of Holm's procedure as within one result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.comparability import checksum_objection
from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.diagnostics.stability import instability, of_boots
from pentathlon.evaluate.estimate import Series, counted, place, series, value_objection
from pentathlon.evaluate.estimators.welch import NO_PERCENTS, Estimate, welch
from pentathlon.evaluate.facts import (
    ResultLike,
    case_of,
    inventories,
    measured_systems,
    study_facts,
    system_facts,
)
from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.model import PostHoc, SystemFacts
from pentathlon.evaluate.model_aggregate import Guard
from pentathlon.evaluate.multiplicity import families
from pentathlon.evaluate.results.differing import Parameters, differing
from pentathlon.evaluate.results.guard import REFUSED, guards
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.titles import Titles
from pentathlon.evaluate.verdict import Claims, Verdict, decide, words
from pentathlon.evaluate.wording import PERFORMANCE, Wording, wording

FEWEST_BOOTS = 2


class AcrossRow(Frozen):
    """One metric of both sides."""

    key: str
    area: str
    workload: str
    metric: str
    title: str
    case_text: str
    unit: str
    role: str = PERFORMANCE
    baseline_mean: float | None
    mean: float | None
    baseline_boots: int
    boots: int
    percent: float | None
    """Ratio of speeds; + is faster than the baseline. Of context: of the values."""
    low_percent: float | None
    high_percent: float | None
    p_different: float | None
    p_not_worse: float | None
    """Smallest level at which it is shown not to be slower by δ or more."""
    verdict: Verdict
    words: str
    reason: str


class Across(Frozen):
    """A system of one result against a system of another."""

    baseline: str
    """Name of the baseline's system."""
    system: str
    baseline_title: str
    title: str
    delta_percent: float
    confidence: float
    guards: tuple[Guard, ...]
    unfinished: tuple[str, ...] = ()
    """Which of the two runs have not ended, one sentence each."""
    rows: tuple[AcrossRow, ...]
    only_baseline: tuple[str, ...]
    """Keys that only the baseline has."""
    only_system: tuple[str, ...]
    post_hoc: tuple[PostHoc, ...] = ()
    """What the judged result's study planned otherwise."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What qualifies every row, one sentence each."""
        return (
            *self.unfinished,
            "the two were measured in different runs, not in common blocks: any change of "
            "the machine in between is part of the difference",
            *(one.words for one in self.guards if one.outcome == "qualified"),
        )


@dataclass(frozen=True)
class Side:
    """One system of one result, read."""

    facts: SystemFacts
    everything: dict[str, Series]
    parameters: Parameters
    plan_hash: str
    title: str
    titles: Titles
    unfinished: str = ""
    """How far its run is if it has not ended."""


def side(result: ResultLike, system: str) -> Side:
    """Read one system of a result, with the rules of its own study.

    Raises:
        KeyError: the result has no such system.
    """
    plan = result.plan
    used, _ = exclude(counted(result.samples()), plan.study.evaluation.exclusions(), [system])
    inventories_of = inventories(result.inventory(), result.samples())
    facts = {one.name: one for one in system_facts(plan, measured_systems(used), inventories_of)}[
        system
    ]
    return Side(
        facts=facts,
        everything={key: one for (key, name), one in series(used).items() if name == system},
        parameters={step.workload: step.parameters for step in plan.steps.get(system, ())},
        plan_hash=plan.hash(),
        title=study_facts(plan).title,
        titles=Titles(getattr(result, "catalog", None)),
        unfinished=getattr(result, "unfinished", ""),
    )


def compare_results(
    baseline: Side, system: Side, delta_percent: float, confidence: float
) -> Across:
    """Judge a system of one result against a system of another.

    Args:
        delta_percent, confidence: those of the study whose system is judged, or chosen ones.
    """
    rule = Rule(delta_percent, confidence)
    looked_at = guards(
        system.facts,
        baseline.facts,
        (system.parameters, baseline.parameters),
        (system.plan_hash, baseline.plan_hash),
    )
    refused = next((one.words for one in looked_at if one.outcome == REFUSED), None)
    other = set(differing(system.parameters, baseline.parameters))
    shared = [one for key, one in system.everything.items() if key in baseline.everything]
    shared.sort(key=lambda one: place(one, system.titles))
    pairs = [(baseline.everything[own.key], own) for own in shared]
    reasons = {
        own.key: refused or objection(own, one, differs=own.workload in other) for one, own in pairs
    }
    estimates = {
        own.key: welch(
            np.array(list(own.blocks.values())),
            np.array(list(one.blocks.values())),
            own.direction if _kind(system, own).score else "higher",
        )
        for one, own in pairs
        if reasons[own.key] is None and min(len(own.blocks), len(one.blocks)) >= FEWEST_BOOTS
    }
    claims = claims_of(estimates, [system.everything[key].workload for key in estimates], rule)
    return Across(
        baseline=baseline.facts.name,
        system=system.facts.name,
        baseline_title=baseline.title,
        title=system.title,
        delta_percent=delta_percent,
        confidence=confidence,
        guards=looked_at,
        unfinished=tuple(
            f"of the {name} ({one.facts.name}), {one.unfinished}"
            for name, one in (("first result", baseline), ("second result", system))
            if one.unfinished
        ),
        rows=tuple(
            _row(
                system.titles,
                pair,
                estimates.get(pair[1].key),
                rule,
                _judge(
                    pair,
                    reasons[pair[1].key],
                    estimates.get(pair[1].key),
                    claims.get(pair[1].key),
                    kind=_kind(system, pair[1]),
                ),
            )
            for pair in pairs
        ),
        only_baseline=tuple(sorted(baseline.everything.keys() - system.everything.keys())),
        only_system=tuple(sorted(system.everything.keys() - baseline.everything.keys())),
    )


def _kind(found: Side, one: Series) -> Wording:
    return wording(found.titles.role(one.workload, one.metric), one.unit)


def objection(own: Series, other: Series, *, differs: bool) -> str | None:
    found = value_objection(own, other)
    if found is not None or differs:
        return found
    return checksum_objection(own.checksums, other.checksums)


def claims_of(
    estimates: dict[str, Estimate], workloads: Sequence[str], rule: Rule
) -> dict[str, Claims]:
    pairs = zip(workloads, estimates.values(), strict=True)
    judged = families.claims([families.Candidate(*pair) for pair in pairs], rule)
    return {key: claims for key, (claims, _) in zip(estimates, judged, strict=True)}


def _judge(
    sides: tuple[Series, Series],
    objection: str | None,
    estimate: Estimate | None,
    claims: Claims | None,
    *,
    kind: Wording,
) -> tuple[Verdict, str]:
    if objection is not None:
        return Verdict.INVALID, objection
    if estimate is None or claims is None:
        few = min(len(one.blocks) for one in sides)
        return Verdict.INCONCLUSIVE, f"{few} boot on one side; an interval needs {FEWEST_BOOTS}"
    verdict = decide(claims, estimate.mean, kind)
    logs = [np.log(list(one.blocks.values())) for one in reversed(sides)]
    trouble = next((text for one in logs if (text := instability(one)) is not None), None)
    apart = max(map(min, logs)) > min(map(max, logs))
    if trouble is not None and not (verdict.is_shown and apart):
        return Verdict.UNSTABLE, of_boots(trouble)
    return verdict, ""


def _row(
    titles: Titles,
    sides: tuple[Series, Series],
    estimate: Estimate | None,
    rule: Rule,
    judgement: tuple[Verdict, str],
) -> AcrossRow:
    other, own = sides
    role = titles.role(own.workload, own.metric)
    return AcrossRow(
        key=own.key,
        area=titles.area(own.workload),
        workload=own.workload,
        metric=own.metric,
        title=titles.title(own.workload, own.metric),
        case_text=case_text(case_of(own.case_json)),
        unit=own.unit,
        role=role,
        baseline_mean=other.summary.mean,
        mean=own.summary.mean,
        baseline_boots=len(other.blocks),
        boots=len(own.blocks),
        **(NO_PERCENTS if estimate is None else estimate.percents(rule.rate)),
        p_different=None if estimate is None else estimate.p_different(),
        p_not_worse=None if estimate is None else estimate.p_not_worse(rule.delta),
        verdict=judgement[0],
        words=words(judgement[0], rule.delta_percent, kind=wording(role, own.unit)),
        reason=judgement[1],
    )
