"""A result judged otherwise than its study planned, out of what a caller in Python gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pentathlon.evaluate.results.matching import matches
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.query import Result
from pentathlon.study.catalog import metric_key
from pentathlon.study.check import check_judgement


def known(name: str, names: Iterable[str], what: str, path: Path) -> str:
    """The name, if there is such a thing.

    Raises:
        ValueError: there is none.
    """
    every = list(names)
    if name not in every:
        raise ValueError(f'"{name}" is no {what} of {path}{did_you_mean(name, every)}')
    return name


def focused(result: Result, reference: str | None, systems: Sequence[str] | None) -> Result:
    """The result with some of its systems, seen from a reference.

    Raises:
        ValueError: a name is none of its systems, or the reference is to be compared with itself.
    """
    names = [system.name for system in result.study.systems]
    base = known(reference or result.study.reference, names, "system", result.path)
    if systems is None:
        others = [name for name in names if name != base]
    else:
        others = [known(name, names, "system", result.path) for name in systems]
        if base in others:
            raise ValueError(f'"{base}" cannot be compared with itself; name other systems')
        if not others:
            raise ValueError("no system is named; name at least one")
    if base == result.study.reference and len(others) == len(names) - 1:
        return result
    return result.focused(base, others)


def by(
    result: Result,
    *,
    delta: float | None,
    confidence: float | None,
    declared: Sequence[str] | None,
    weights: Mapping[str, float] | None,
    only: Sequence[str] | None,
) -> Result:
    """The result, judged by these rules; None keeps what the study planned.

    Raises:
        ValueError: a number is out of its range, or a name or pattern means nothing here.
    """
    if delta is not None and not 0 < delta < 100:
        raise ValueError(f"delta is {delta:g}; give a percentage between 0 and 100")
    if confidence is not None and not 0.5 < confidence < 1:
        raise ValueError(
            f"confidence is {confidence:g}; give a fraction between 0.5 and 1, such as 0.95"
        )
    _no_text("declared", declared)
    _no_text("only", only)
    rules = result.study.evaluation
    evaluation = rules.model_copy(
        update={
            "delta_percent": rules.delta_percent if delta is None else float(delta),
            "confidence": rules.confidence if confidence is None else float(confidence),
            "declared": rules.declared if declared is None else tuple(declared),
            "headlines": rules.headlines and declared is None,
        }
    )
    for name, weight in (weights or {}).items():
        if not 0 <= weight <= 1e6:
            raise ValueError(f'the weight of "{name}" is {weight:g}; give one from 0 to 1000000')
    used = dict(result.study.weights if weights is None else weights)
    study = result.study.model_copy(update={"evaluation": evaluation, "weights": used})
    for problem in check_judgement(study, result.catalog):
        where = "weights" if problem.path[0] == "weights" else "declared"
        raise ValueError(f"{where}: {problem.text}")
    return result.narrowed(evaluation, _only(result, only), used)


def _no_text(name: str, value: Sequence[str] | None) -> None:
    if isinstance(value, str):
        raise ValueError(f'{name} is one text; give a list, such as ["{value}"]')


def _only(result: Result, patterns: Sequence[str] | None) -> Callable[[str], bool]:
    if patterns is None:
        return lambda key: True
    if not patterns:
        raise ValueError("only is empty and would leave nothing to judge; name a metric")
    return choosing(result, patterns, "only:")


def choosing(result: Result, patterns: Sequence[str], called: str) -> Callable[[str], bool]:
    """Which metrics patterns choose; each of them has to name what was requested.

    Args:
        called: what the error calls the patterns.

    Raises:
        ValueError: a pattern chooses nothing.
    """
    workloads = {step.workload for steps in result.plan.steps.values() for step in steps}
    requested = {
        metric_key(one.id, metric.id, "")
        for one in result.catalog.workloads
        if one.id in workloads
        for metric in one.metrics
    }
    keys = requested | set(result.samples()["key"].unique())
    for pattern in patterns:
        if not any(matches(key, [pattern]) for key in keys):
            near = did_you_mean(pattern, sorted(requested | workloads))
            raise ValueError(f'{called} "{pattern}" chooses no metric of {result.path}{near}')
    return lambda key: matches(key, patterns)
