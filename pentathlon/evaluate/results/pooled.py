"""A result against several earlier ones: what changes from run to run is part of the error.

Boots of several runs are no more repetitions than their runs: whatever differs from run to run
(the machine's neighbours, its temperature, where a kernel lay in memory) is common to a run's
boots. So the run is the unit of the baseline. Its mean is that of K runs' means, their variance s²
is known with K − 1 degrees of freedom, and the judged run has an effect with the same variance:

    error² = s² / K + max(s², w)

with w the variance of the judged run's mean by its own boots, which counts where it has fewer or
noisier boots than the baseline's runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators.welch import NO_PERCENTS, Estimate
from pentathlon.evaluate.model import SystemFacts
from pentathlon.evaluate.planning.alpha_spending import fixed
from pentathlon.evaluate.results.across import Side, claims_of, objection
from pentathlon.evaluate.results.differing import differing
from pentathlon.evaluate.results.gate import Entry
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Claims, Verdict, decide, words
from pentathlon.evaluate.wording import CONTEXT, wording

FEWEST_RUNS = 3
"""Of fewer the variance is hardly known: an interval would hold everything."""


@dataclass(frozen=True)
class Run:
    """One system of one earlier result."""

    label: str
    facts: SystemFacts
    parameters: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Series]


@dataclass(frozen=True)
class Pooled:
    """The answer. `left_out`: (label, reason) of runs that cannot stand in the baseline."""

    entries: tuple[Entry, ...]
    used: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def compare_pooled(
    runs: Sequence[Run], system: Side, delta_percent: float, confidence: float
) -> Pooled:
    """Judge a system of one result against the same system in earlier results.

    Args:
        runs: the earlier ones, each with its boots.
    """
    left_out = [(one.label, reason) for one in runs if (reason := _mismatch(one, system))]
    refused = {label for label, _ in left_out}
    used = [one for one in runs if one.label not in refused]
    rule = Rule(delta_percent, confidence)
    rows = {
        key: one
        for key, one in system.everything.items()
        if system.titles.role(one.workload, one.metric) != CONTEXT
    }
    reasons: dict[str, tuple[Verdict, str]] = {}
    estimates: dict[str, Estimate] = {}
    for key, own in rows.items():
        others = [one.rows[key] for one in used if key in one.rows]
        wrong = next((text for one in others if (text := objection(own, one, differs=False))), None)
        if wrong is not None:
            reasons[key] = Verdict.INVALID, wrong
        elif len(others) < FEWEST_RUNS:
            have = (
                "1 earlier result has"
                if len(others) == 1
                else f"{len(others)} earlier results have"
            )
            text = f"{have} this row; {FEWEST_RUNS} are needed"
            reasons[key] = Verdict.INCONCLUSIVE, text
        else:
            estimates[key] = _estimate(own, others)
    claims = claims_of(estimates, [rows[key].workload for key in estimates], rule)
    entries = [
        _entry(
            system,
            rows[key],
            rule,
            reasons.get(key),
            estimate=estimates.get(key),
            claims=claims.get(key),
        )
        for key in sorted(rows)
    ]
    shared = set.intersection(*(set(one.rows) for one in used)) if used else set()
    lost = sorted(shared - set(system.everything))
    text = "not measured: only the earlier results have it"
    entries += [
        Entry.not_measured(key, used[0].rows[key].workload, system.facts.name, text) for key in lost
    ]
    return Pooled(tuple(entries), tuple(one.label for one in used), tuple(left_out))


def _estimate(own: Series, others: Sequence[Series]) -> Estimate:
    sign = 1.0 if own.direction == "higher" else -1.0
    boots = sign * np.log(np.array(list(own.blocks.values())))
    means = np.array([sign * np.log(list(one.blocks.values())).mean() for one in others])
    between = float(np.var(means, ddof=1))
    within = float(np.var(boots, ddof=1)) / len(boots) if len(boots) > 1 else 0.0
    error = math.sqrt(between / len(means) + max(between, within))
    apart = float(boots.mean() - means.mean())
    return Estimate(apart, error, float(len(means) - 1), fixed(len(means)))


def _mismatch(one: Run, system: Side) -> str | None:
    """Why a run is no baseline for the judged one; None if it is."""
    own, other = system.facts, one.facts
    versions = (own.catalog_version, other.catalog_version)
    if None not in versions and versions[0] != versions[1]:
        return f"its catalog has version {versions[1]}, that of the judged result {versions[0]}"
    if own.layer != other.layer:
        return f"its layer is {other.layer}, that of the judged result {own.layer}"
    if own.cpu and other.cpu and own.cpu != other.cpu:
        return f"its CPU is {other.cpu}, that of the judged result {own.cpu}"
    names = differing(one.parameters, system.parameters)
    if names:
        return f"it ran {', '.join(names[:3])} with other parameters"
    return None


def _entry(
    system: Side,
    own: Series,
    rule: Rule,
    reason: tuple[Verdict, str] | None,
    *,
    estimate: Estimate | None,
    claims: Claims | None,
) -> Entry:
    kind = wording(system.titles.role(own.workload, own.metric), own.unit)
    p_not_worse, text = None, ""
    if estimate is not None and claims is not None:
        verdict = decide(claims, estimate.mean, kind)
        p_not_worse = estimate.p_not_worse(rule.delta)
    else:
        verdict, text = reason or (Verdict.INCONCLUSIVE, "")
    shown = words(verdict, rule.delta_percent, kind=kind)
    return Entry(
        key=own.key,
        workload=own.workload,
        system=system.facts.name,
        **(NO_PERCENTS if estimate is None else estimate.percents(rule.rate)),
        p_not_worse=p_not_worse,
        verdict=verdict,
        words=f"{shown}: {text}" if text else shown,
    )
