"""From the results of several machines to the fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.welch import NO_PERCENTS
from pentathlon.evaluate.evaluation import evaluate
from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.fleet.alike import unlike
from pentathlon.evaluate.fleet.fleet import FleetRow, MachineRow, judge_rows
from pentathlon.evaluate.fleet.model import (
    Fleet,
    FleetMachine,
    FleetMean,
    FleetRowResult,
    MachineEffect,
    Refused,
    Spread,
)
from pentathlon.evaluate.fleet.random_effects import (
    FEWEST_MACHINES,
    Heterogeneity,
    fleet_estimate,
    heterogeneity,
)
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict, decide, words
from pentathlon.study.counting import count_text

NATURE = {
    "key", "area", "workload", "metric", "title", "case_text", "unit", "role", "declared",
}  # fmt: skip
"""What a row is of, which the fleet's row takes over."""

FEW_MACHINES = 5
"""With fewer the interval over machines is so wide that it is worth a sentence."""
BOOT_ID = "kernel.boot_id"


class NoFleet(ValueError):
    """Results that are no fleet; the text is one sentence."""


def judge(results: Mapping[str, ResultLike], unmeasured: Sequence[str] = ()) -> Fleet:
    """Judge machine -> result.

    Args:
        unmeasured: machines of the campaign that have no result.

    Raises:
        NoFleet: fewer than two machines measured the same.
    """
    refused = unlike({name: one.plan for name, one in results.items()})
    kept = {name: one for name, one in results.items() if name not in refused}
    if len(kept) < FEWEST_MACHINES:
        reasons = "; ".join(refused.values())
        raise NoFleet(
            f"a fleet has at least {FEWEST_MACHINES} machines that measured the same, here is "
            f"{len(kept)}" + (f": {reasons}" if reasons else "")
        )
    judged = {name: evaluate(one) for name, one in kept.items()}
    first = next(iter(judged.values())).study
    plan = next(iter(kept.values())).plan
    systems = [one.name for one in plan.study.systems if one.name != first.reference]
    rule = Rule(first.delta_percent, first.confidence)
    rows = [row for name in systems for row in _rows(judged, name, rule)]
    return Fleet(
        study=first.name,
        title=first.title,
        question=first.question,
        reference=first.reference,
        systems=tuple(systems),
        delta_percent=first.delta_percent,
        confidence=first.confidence,
        machines=tuple(
            _machine(name, one, str(getattr(kept[name], "path", "")))
            for name, one in judged.items()
        ),
        refused=tuple(Refused(name=name, reason=text) for name, text in refused.items()),
        cautions=(
            *(
                f'machine "{name}" has measured nothing; the fleet is judged without it'
                for name in unmeasured
            ),
            *_cautions(judged, kept),
        ),
        means=tuple(_mean(judged, name, rule) for name in systems),
        rows=tuple(rows),
    )


def _machine(name: str, one: Evaluation, path: str) -> FleetMachine:
    return FleetMachine(
        name=name,
        path=path,
        plan_hash=one.study.plan_hash,
        cpu=_cpu(one),
        kernels={system.name: system.kernel for system in one.systems},
        blocks=max((system.boots for system in one.systems), default=0),
        samples=sum(system.samples for system in one.systems),
        unfinished=one.study.unfinished,
    )


def _cautions(judged: Mapping[str, Evaluation], kept: Mapping[str, ResultLike]) -> list[str]:
    found = [
        f'machine "{n}": {e.study.unfinished}' for n, e in judged.items() if e.study.unfinished
    ]
    count = len(judged)
    if count < FEW_MACHINES:
        found.append(
            f"{count_text(count, 'machine')} are a small sample: the interval over machines is "
            f"that of {count} values"
        )
    ids: dict[str, str] = {}
    for name, one in kept.items():
        table = one.inventory()
        for text in table.filter(table["path"] == BOOT_ID)["value_json"].unique().to_list():
            if text is not None and ids.setdefault(text, name) != name:
                found.append(
                    f'machines "{ids[text]}" and "{name}" were measured in the same boot of one '
                    "machine: they are not independent, and the interval does not apply to others"
                )
                break
    cpus = _by_value({name: _cpu(one) for name, one in judged.items()})
    if cpus:
        found.append(f"the machines have different processors: {cpus}")
    for system in next(iter(judged.values())).systems:
        kernels = _by_value(
            {
                name: next((s.kernel for s in evaluation.systems if s.name == system.name), "")
                for name, evaluation in judged.items()
            }
        )
        if kernels:
            found.append(f"{system.name} is not the same kernel everywhere: {kernels}")
    return found


def _cpu(one: Evaluation) -> str:
    return next((system.cpu for system in one.systems if system.cpu), "")


def _by_value(of: Mapping[str, str]) -> str:
    """Which machines have which value, in words; "" where it is the same on all that state one."""
    names: dict[str, list[str]] = {}
    for name, value in of.items():
        if value:
            names.setdefault(value, []).append(name)
    if len(names) < 2:
        return ""
    return "; ".join(f"{value} on {', '.join(found)}" for value, found in names.items())


def _rows(judged: Mapping[str, Evaluation], system: str, rule: Rule) -> list[FleetRowResult]:
    keys: dict[str, Row] = {}
    for evaluation in judged.values():
        for row in evaluation.rows:
            if row.comparison(system) is not None:
                keys.setdefault(row.key, row)
    known = {name: {row.key: row for row in one.rows} for name, one in judged.items()}
    found: dict[str, dict[str, Comparison | None]] = {
        key: {
            name: own[key].comparison(system) if key in own else None for name, own in known.items()
        }
        for key in keys
    }
    rows = [
        MachineRow(
            key,
            keys[key].workload,
            {
                name: np.array(one.effect.sample)
                for name, one in own.items()
                if one is not None and one.effect is not None and _counts(one)
            },
            keys[key].declared,
        )
        for key, own in found.items()
    ]
    return [
        _row(keys[done.row.key], system, found[done.row.key], done, rule)
        for done in judge_rows(rows, rule)
    ]


def _counts(one: Comparison) -> bool:
    """Whether a machine's row is in the mean. What is invalid is no measurement; a row that is
    unstable there is one, and to leave it out would favour the quiet machines."""
    return one.verdict is not Verdict.INVALID and one.effect is not None and bool(one.effect.sample)


def _row(
    row: Row,
    system: str,
    own: Mapping[str, Comparison | None],
    done: FleetRow,
    rule: Rule,
) -> FleetRowResult:
    estimate, claims = done.estimate, done.claims
    percents = NO_PERCENTS
    verdict, reason = Verdict.INCONCLUSIVE, ""
    if estimate is None or claims is None:
        count = count_text(len(done.row.samples), "machine")
        reason = f"{count} measured it; an interval over machines needs {FEWEST_MACHINES}"
        if not done.row.samples:
            verdict, reason = Verdict.NOT_MEASURED, "no machine measured it"
        else:
            percents = {**NO_PERCENTS, "percent": ratio.percent(float(done.row.means.mean()))}
    else:
        percents = estimate.percents(rule.rate)
        verdict = decide(claims, estimate.mean, row.kind)
        if verdict is Verdict.INCONCLUSIVE and not (
            percents["low_percent"] <= 0 <= percents["high_percent"]
        ):
            reason = "its own interval excludes 0, but not after allowing for all rows"
    missing = len(own) - len(done.row.samples)
    if missing and done.row.samples and not reason:
        reason = f"without {count_text(missing, 'machine')} that did not measure it"
    mde = None if estimate is None else ratio.percent(estimate.detectable(rule.rate))
    return FleetRowResult(
        **row.model_dump(include=NATURE),
        system=system,
        machines=tuple(
            _effect(name, one, counted=name in done.row.samples, odd=done.odd.get(name))
            for name, one in own.items()
        ),
        counted=len(done.row.samples),
        **percents,
        p_different=None if estimate is None else estimate.p_different(),
        p_equivalent=None if estimate is None else estimate.p_equivalent(rule.delta),
        verdict=verdict,
        words=words(verdict, rule.delta_percent, mde, row.kind),
        reason=reason,
        spread=_spread(done.heterogeneity),
    )


def _effect(
    name: str, one: Comparison | None, *, counted: bool, odd: float | None
) -> MachineEffect:
    effect = None if one is None else one.effect
    return MachineEffect(
        machine=name,
        blocks=0 if effect is None else effect.blocks,
        percent=None if effect is None else effect.percent,
        low_percent=None if effect is None else effect.low_percent,
        high_percent=None if effect is None else effect.high_percent,
        verdict=Verdict.NOT_MEASURED if one is None else one.verdict,
        words="not measured" if one is None else one.words,
        reason="it has no sample" if one is None else one.reason,
        counted=counted,
        p_odd=odd,
    )


def _spread(found: Heterogeneity | None) -> Spread | None:
    if found is None:
        return None
    return Spread(
        tau_percent=ratio.percent(found.tau),
        tau_low_percent=ratio.percent(found.low),
        tau_high_percent=None if found.high > ratio.CUT else ratio.percent(found.high),
        i_squared=found.share,
        i_squared_low=found.share_low,
        i_squared_high=found.share_high,
        p_alike=found.p_alike,
        prediction_low_percent=ratio.percent(found.prediction_low),
        prediction_high_percent=ratio.percent(found.prediction_high),
    )


def _mean(judged: Mapping[str, Evaluation], system: str, rule: Rule) -> FleetMean:
    """The mean of all rows, which every machine has of its own rows, over the machines."""
    found = {
        name: one
        for name, evaluation in judged.items()
        if (one := _whole(evaluation, system)) is not None
    }
    effects = tuple(
        MachineEffect(
            machine=name,
            blocks=one.blocks,
            percent=one.percent,
            low_percent=one.low_percent,
            high_percent=one.high_percent,
            verdict=Verdict.INCONCLUSIVE,
            words="",
            reason="",
            counted=True,
        )
        for name, one in found.items()
    )
    if len(found) < FEWEST_MACHINES:
        return FleetMean(
            system=system, machines=effects, p_different=None, spread=None, **NO_PERCENTS
        )
    estimate = fleet_estimate(np.array([one.mean for one in found.values()]))
    return FleetMean(
        system=system,
        machines=effects,
        **estimate.percents(rule.rate),
        p_different=estimate.p_different(),
        spread=_spread(_of_means(list(found.values()), rule)),
    )


def _whole(evaluation: Evaluation, system: str) -> Mean | None:
    one = next((one for one in evaluation.aggregates if one.system == system), None)
    return None if one is None else one.everything


def _of_means(found: Sequence[Mean], rule: Rule) -> Heterogeneity | None:
    """From the interval of each machine's mean, which is Student's t over its blocks."""
    variances = []
    for one in found:
        if one.high_percent is None or one.low_percent is None or one.blocks < 2:
            return None
        half = (ratio.log_of(one.high_percent) - ratio.log_of(one.low_percent)) / 2.0
        variances.append((half / ratio.t_quantile(rule.rate, one.blocks - 1)) ** 2)
    if not np.isfinite(variances).all():
        return None
    return heterogeneity(
        np.array([one.mean for one in found]),
        np.array(variances),
        np.array([one.blocks - 1.0 for one in found]),
        rule.rate,
    )
