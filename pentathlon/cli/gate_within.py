"""One result at the gate: its systems against each other, and what failed in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pentathlon.cli.exits import InputError
from pentathlon.store.query import Result

if TYPE_CHECKING:
    from pentathlon.evaluate.model import Evaluation, PostHoc
    from pentathlon.evaluate.results.gate import Entry, Gate


@dataclass(frozen=True)
class Choices:
    """What a gate judges, which further runs must not change.

    Attributes:
        against: the baseline; None for the reference.
        system: the only system to judge.
    """

    against: str | None
    system: str | None
    delta_percent: float
    only: list[str]
    by_delta: bool

    def judged(self, found: Result) -> list[str]:
        """Names of the systems of a result that are to be judged."""
        return [self.system] if self.system else [one.name for one in found.study.systems]


def within(found: Result, choices: Choices) -> tuple[str, list[Entry], Evaluation]:
    """Judge the systems of a result against one of them: its name, the rows, the evaluation.

    Raises:
        InputError: there is no such system, or nothing to compare with.
    """
    from pentathlon.cli import across  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.estimators.ratio import delta_log  # noqa: PLC0415
    from pentathlon.evaluate.evaluation import evaluate  # noqa: PLC0415
    from pentathlon.evaluate.results.gate import of_evaluation  # noqa: PLC0415
    from pentathlon.evaluate.rule import Rule  # noqa: PLC0415

    label = across.chosen(found, choices.against or found.study.reference)
    others = [one for one in choices.judged(found) if one == choices.system or one != label]
    for name in others:
        across.chosen(found, name)
    if not others or others == [label]:
        raise InputError(
            f"{found.path} has one system, {label}; name another result with --against"
        )
    evaluated = evaluate(found.focused(label, others))
    rule = Rule.declared(found.plan.study)
    entries = of_evaluation(evaluated, rule, delta_log(choices.delta_percent))
    entries += [
        failed("identical systems", one.systems[1], one.words)
        for one in evaluated.identical
        if one.whole
    ]
    return label, entries, evaluated


def answered(
    found: Result, entries: Sequence[Entry], label: str, choices: Choices, confidence: float
) -> Gate:
    """The answer by these rows and what failed in the result.

    Args:
        label: the baseline.

    Raises:
        InputError: there are none.
    """
    from pentathlon.evaluate.results import gate as gates  # noqa: PLC0415  loads SciPy

    every = [*entries, *failures(found, choices.only)]
    if not every:
        what = f" that --only {' --only '.join(choices.only)} chooses" if choices.only else ""
        raise InputError(f"{found.path} has no metric{what}")
    return gates.gate(
        every,
        label,
        delta_percent=choices.delta_percent,
        confidence=confidence,
        only_by_delta=choices.by_delta,
    ).model_copy(update={"unfinished": found.unfinished})


def post_hoc(found: Result) -> tuple[PostHoc, ...]:
    """What the options chose; that a gate looks at every metric alike is its own rule."""
    from pentathlon.evaluate.posthoc import find_post_hoc  # noqa: PLC0415  loads SciPy

    return tuple(one for one in find_post_hoc(found) if one.what != "declared")


def failures(found: Result, only: list[str]) -> list[Entry]:
    """What was requested and failed for good, which may have no row of its own."""
    from pentathlon.evaluate.results.matching import matches  # noqa: PLC0415

    values: dict[tuple[str, str], str] = {}
    names = {system.name for system in found.study.systems}
    for failure in found.state.unresolved():
        name = failure.workload or "boot"
        if failure.system in names and (failure.workload is None or matches(f"{name}.", only)):
            values.setdefault((name, failure.system), failure.reason)
    return [failed(name, system, f"failed: {reason}") for (name, system), reason in values.items()]


def failed(name: str, system: str, words: str) -> Entry:
    from pentathlon.evaluate.results.gate import Entry  # noqa: PLC0415  loads SciPy

    return Entry.not_measured(name, name, system, words)


def narrowed(
    found: Result, delta: float, only: list[str], confidence: float | None = None
) -> Result:
    """The result with another δ and with the chosen metrics alone, which are its family.

    Args:
        confidence: None for the study's.
    """
    from pentathlon.evaluate.results.matching import matches  # noqa: PLC0415

    rules = found.study.evaluation
    evaluation = rules.model_copy(
        update={
            "delta_percent": delta,
            "declared": None,
            "confidence": rules.confidence if confidence is None else confidence,
        }
    )
    return found.narrowed(evaluation, lambda key: matches(key, only))
