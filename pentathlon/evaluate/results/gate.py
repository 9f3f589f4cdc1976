"""A gate for continuous integration: did it become slower, and is that known well enough?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np

from pentathlon.evaluate.estimators.welch import Estimate, paired, welch
from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.model import Comparison, Evaluation, PostHoc, Row
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.results.across import Across
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.evaluate.wording import CONTEXT
from pentathlon.study.later import Later


class Outcome(StrEnum):
    """What the gate states, the gravest first."""

    FAILURE = "failure"
    """Something that was requested was not measured, or cannot be compared."""
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"
    QUARANTINED = "quarantined"
    """It does not pass, and a record states why that is known and closes no gate."""


class GateRow(Frozen):
    """One metric at the gate."""

    key: str
    system: str
    percent: float | None
    low_percent: float | None
    high_percent: float | None
    outcome: Outcome
    words: str


class Further(Frozen):
    """A further run that was measured because a row was not known well enough."""

    path: str
    blocks: int
    workloads: tuple[str, ...]
    confidence: float
    """At which this run is judged."""


class Gate(Later, Frozen):
    """The gate's answer. `unfinished`: how far a run is that has not ended; "" if all have."""

    LATER = ("further", "not_measured_again")

    unfinished: str = ""
    outcome: Outcome
    baseline: str
    delta_percent: float
    post_hoc: tuple[PostHoc, ...] = ()
    """What is judged otherwise than the judged result's study planned."""
    rows: tuple[GateRow, ...]
    further: tuple[Further, ...] = ()
    not_measured_again: str = ""
    """Why no further run was measured although rows are not known well enough; "" if none is."""

    def of(self, outcome: Outcome) -> tuple[GateRow, ...]:
        """The rows with that outcome."""
        return tuple(row for row in self.rows if row.outcome is outcome)


class Entry(Frozen):
    """What the gate looks at, whether the sides were paired or not."""

    key: str
    workload: str
    system: str
    percent: float | None
    low_percent: float | None
    high_percent: float | None
    p_not_worse: float | None
    verdict: Verdict
    words: str

    @classmethod
    def not_measured(cls, key: str, workload: str, system: str, words: str) -> Entry:
        """One that has no value."""
        return cls(
            key=key, workload=workload, system=system, percent=None, low_percent=None,
            high_percent=None, p_not_worse=None, verdict=Verdict.NOT_MEASURED, words=words,
        )  # fmt: skip


def of_evaluation(evaluation: Evaluation, rule: Rule, delta: float) -> list[Entry]:
    """Every comparison of an evaluation, without context, of which more is no regression.

    Args:
        rule: what its study declared.
        delta: half width of the region of equivalence at this gate, as a log-ratio.
    """
    found = []
    done: dict[str, int] = {}
    for row in evaluation.rows:
        for one in row.comparisons:
            if one.effect is not None:
                done[one.system] = max(done.get(one.system, 0), len(one.effect.sample))
    for row in evaluation.rows:
        if not row.score:
            continue
        for one in row.comparisons:
            effect = one.effect
            p_value = None
            if not evaluation.study.in_blocks:
                p_value = _independent(row, one, evaluation.study.reference, rule, delta)
            elif effect is not None and len(effect.sample) > 1:
                looked = evaluation.study.decided.get(row.workload, done[one.system])
                levels = rule.levels(min(looked, done[one.system]))
                p_value = paired(np.array(effect.sample), levels).p_not_worse(delta)
            found.append(
                Entry(
                    key=row.key,
                    workload=row.workload,
                    system=one.system,
                    percent=None if effect is None else effect.percent,
                    low_percent=None if effect is None else effect.low_percent,
                    high_percent=None if effect is None else effect.high_percent,
                    p_not_worse=p_value,
                    verdict=one.verdict,
                    words=f"{one.words}: {one.reason}" if one.reason else one.words,
                )
            )
    return found


def _independent(
    row: Row, one: Comparison, reference: str, rule: Rule, delta: float
) -> float | None:
    """The same from boots that no block pairs; None with fewer than two on a side."""
    if one.effect is None or one.effect.p_different is None:
        return None
    sides = [summary for name in (one.system, reference) if (summary := row.summary(name))]
    own, other = (np.array([boot.value for boot in side.boot_means]) for side in sides)
    found = welch(own, other, row.direction)
    levels = rule.levels(min(len(own), len(other)))
    return Estimate(found.mean, found.error, found.freedom, levels).p_not_worse(delta)


def of_across(found: Across) -> list[Entry]:
    """Every row of a comparison of two results; what only the baseline has was not measured."""
    rows = [
        Entry(
            **row.model_dump(
                include={"key", "workload", "percent", "low_percent", "high_percent", "p_not_worse",
                         "verdict"}
            ),
            system=found.system,
            words=f"{row.words}: {row.reason}" if row.reason else row.words,
        )
        for row in found.rows
        if row.role != CONTEXT
    ]  # fmt: skip
    return rows + [
        Entry.not_measured(
            key,
            key.partition("[")[0].rpartition(".")[0],
            found.system,
            "not measured: only the baseline has it",
        )
        for key in found.only_baseline
    ]


def quarantined(found: Gate, record: Mapping[tuple[str, str], str]) -> Gate:
    """The same with rows that are known to be unstable set apart.

    Args:
        record: (key, system) -> why it is in quarantine.
    """
    rows = tuple(
        row.model_copy(
            update={
                "outcome": Outcome.QUARANTINED,
                "words": f"{row.words}; was {row.outcome.value}, in quarantine: {reason}",
            }
        )
        if row.outcome is not Outcome.PASS
        and (reason := record.get((row.key, row.system))) is not None
        else row
        for row in found.rows
    )
    return found.model_copy(update={"outcome": _gravest(rows), "rows": rows})


def merged(first: Gate, later: Gate) -> Gate:
    """The answer of a run and of a further one, which states what the first one left open.

    Rows that the first run decided keep its answer; what failed in the further one is added.
    """
    answers = {(row.key, row.system): row for row in later.rows}
    rows = []
    for row in first.rows:
        answer = answers.pop((row.key, row.system), None)
        rows.append(row if answer is None or row.outcome is not Outcome.INCONCLUSIVE else answer)
    rows += [row for row in answers.values() if row.outcome is Outcome.FAILURE]
    unfinished = "; ".join(filter(None, (first.unfinished, later.unfinished)))
    return first.model_copy(
        update={"rows": tuple(rows), "outcome": _gravest(rows), "unfinished": unfinished}
    )


def _gravest(rows: Sequence[GateRow]) -> Outcome:
    outcomes = {row.outcome for row in rows}
    return next((one for one in Outcome if one in outcomes), Outcome.FAILURE)


def gate(
    entries: Sequence[Entry],
    baseline: str,
    *,
    delta_percent: float,
    confidence: float,
    only_by_delta: bool = False,
) -> Gate:
    """Judge the chosen metrics.

    A row is a regression where it is shown to be slower (by at least δ, with `only_by_delta`); it
    passes where it is shown not to be slower by δ or more, after Holm over the chosen rows of a
    system; in between it is inconclusive.
    """
    shown: set[tuple[str, str]] = set()
    for system in dict.fromkeys(one.system for one in entries):
        tested = [one for one in entries if one.system == system and one.p_not_worse is not None]
        weights = holm.workload_weights([one.workload for one in tested])
        p_values = np.array([one.p_not_worse for one in tested], dtype=np.float64)
        selected = holm.step_down(p_values, weights, 1.0 - confidence).selected
        shown |= {(one.key, system) for one, yes in zip(tested, selected, strict=True) if yes}
    rows = tuple(
        GateRow(
            **one.model_dump(exclude={"workload", "p_not_worse", "verdict"}),
            outcome=_outcome(one, (one.key, one.system) in shown, only_by_delta=only_by_delta),
        )
        for one in entries
    )
    return Gate(outcome=_gravest(rows), baseline=baseline, delta_percent=delta_percent, rows=rows)


GOOD = (Verdict.FASTER, Verdict.FASTER_BY_DELTA, Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)


def _outcome(one: Entry, shown: bool, *, only_by_delta: bool) -> Outcome:
    if one.verdict in (Verdict.INVALID, Verdict.NOT_MEASURED):
        return Outcome.FAILURE
    if one.verdict is Verdict.SLOWER_BY_DELTA:
        return Outcome.REGRESSION
    if one.verdict is Verdict.SLOWER and not only_by_delta:
        return Outcome.REGRESSION
    if one.verdict in GOOD or (shown and one.verdict is not Verdict.UNSTABLE):
        return Outcome.PASS
    return Outcome.INCONCLUSIVE
