"""Fill the tables of the studies from an evaluation.

A value is the mean of the boots (martinovic2012, formula (3)) as it was measured, converted to the
table's own unit: means come first, here as in `compare`, so the two commands show one difference. A
rate of measured times is therefore the harmonic mean of the boots' rates: all work by all time. The
difference is formula (4) of these values, the deviation flag the paper's 1 %. Verdicts are those of
the evaluation. A table of which nothing was measured is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pentathlon.evaluate import published as model
from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.display import signed_percent, significant
from pentathlon.evaluate.model import Evaluation, Failure, Row, Summary
from pentathlon.report.papertables import figures
from pentathlon.report.papertables.filled import ABSENT, Cell, Filled, Judgement, Line
from pentathlon.report.papertables.load import Declared, Entry, papers
from pentathlon.report.papertables.units import convert

BETTER = {"higher": "more is better", "lower": "less is better", "": ""}


def fill(evaluation: Evaluation) -> tuple[Filled, ...]:
    """Every table of which the result measured at least one row, in the papers' order."""
    filled = (_table(table, evaluation) for paper in papers() for table in paper.tables)
    return tuple(table for table in filled if table.measured)


def _table(declared: Declared, evaluation: Evaluation) -> Filled:
    lines: list[Line] = []
    reasons: dict[str, None] = {}
    notes: dict[str, list[str]] = {}
    left_out = 0
    for entry in declared.entries:
        own = list(_lines(entry, evaluation, reasons))
        if entry.swept and all(cell.text == ABSENT for cell in own[0].cells):
            left_out += 1
            continue
        if entry.row.note and any(line.measured for line in own):
            notes.setdefault(entry.row.note, []).append(entry.label)
        lines += own
    printed = declared.table
    return Filled(
        study=declared.study.id,
        id=printed.id,
        printed_as=printed.printed_as,
        title=printed.title,
        section=printed.section,
        systems=tuple(system.name for system in evaluation.systems),
        reference=evaluation.study.reference,
        lines=tuple(lines),
        notes=(
            *declared.notes,
            *_left_out(left_out),
            *(_note(text, at) for text, at in notes.items()),
            *reasons,
        ),
    )


def _layers(evaluation: Evaluation) -> Iterator[str]:
    """What qualifies every row of a comparison."""
    for pair in evaluation.pairs:
        for caution in pair.cautions:
            yield f"{pair.system}: {caution}."


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{count} further rows of the paper were {ABSENT}.",) if count else ()


def _note(text: str, labels: Sequence[str]) -> str:
    which = labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
    return f"{which}: {text}."


def _lines(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Iterator[Line]:
    names = [system.name for system in evaluation.systems]
    if entry.row.derived is not None:
        yield figures.line(entry, evaluation, reasons)
        return
    found = [row for row in evaluation.rows if fits(entry, row)]
    if not found:
        yield _absent(entry, evaluation, reasons)
        return
    for row in found:
        rest = {name: value for name, value in row.case.items() if name not in entry.row.case}
        extra = f", {case_text(rest)}" if rest and len(found) > 1 else ""
        boots = {name: boots_in_unit(entry, row.summary(name)) for name in names}
        base = boots[evaluation.study.reference]
        yield Line(
            label=entry.label + extra,
            unit=entry.unit,
            better=BETTER[entry.direction],
            cells=tuple(
                _cell(entry, row.summary(name), boots[name])
                if boots[name] is not None
                else _missing(entry, name, evaluation.failures, reasons)
                for name in names
            ),
            judgements=tuple(
                _judgement(row, name, boots[name], base) for name in names if name != names[0]
            ),
            key=row.key,
        )


def fits(entry: Entry, row: Row) -> bool:
    """Whether a row of the result fills the entry."""
    wanted = entry.row
    return (f"{row.workload}.{row.indicator}", row.unit) == (wanted.indicator, wanted.unit) and all(
        _same(row.case.get(name), value) for name, value in wanted.case.items()
    )


def _same(value: object, wanted: str | int) -> bool:
    return value == wanted or (not isinstance(wanted, str) and str(value) == str(wanted))


Boots = np.ndarray[tuple[int], np.dtype[np.float64]]


def boots_in_unit(entry: Entry, summary: Summary | None) -> Boots | None:
    """The boots on the table's scale: their mean is the measured mean, converted; None without any.

    Each stands to this mean as it was measured, so that it deviates here as in `compare`.
    """
    if summary is None:
        return None
    boots = np.array([boot.value for boot in summary.boot_means])
    if not summary.mean:
        return np.array([convert(entry.row.convert, value) for value in boots])
    return boots * (convert(entry.row.convert, summary.mean) / summary.mean)


def _cell(entry: Entry, summary: Summary | None, boots: Boots | None) -> Cell:
    assert summary is not None and boots is not None
    value = model.mean(boots)
    deviation = model.deviation_percent(boots)
    spread = "" if not np.isfinite(deviation) else f", within {significant(deviation, 2)} %"
    return Cell(
        text=significant(value),
        flagged=bool(deviation > model.TOLERANCE_PERCENT),
        detail=f"{summary.samples} samples in {summary.boots} boots{spread}",
    )


def _judgement(row: Row, system: str, own: Boots | None, base: Boots | None) -> Judgement:
    comparison = row.comparison(system)
    difference = "–"
    if own is not None and base is not None:
        difference = signed_percent(model.difference_percent(model.mean(own), model.mean(base)))
    if comparison is None:
        return Judgement(difference, None, "")
    return Judgement(difference, comparison.verdict, comparison.words)


def _absent(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Line:
    cells = tuple(
        _missing(entry, system.name, evaluation.failures, reasons) for system in evaluation.systems
    )
    return Line(
        label=entry.label,
        unit=entry.unit,
        better=BETTER[entry.direction],
        cells=cells,
        judgements=tuple(Judgement("–", None, "") for _ in cells[1:]),
        measured=False,
    )


def _missing(
    entry: Entry, system: str, failures: Sequence[Failure], reasons: dict[str, None]
) -> Cell:
    """Why a system has no value: what it reported, else that the study did not ask for it."""
    workload = (entry.row.indicator or "").rpartition(".")[0]
    for failure in failures:
        if (failure.system, failure.workload) == (system, workload) and _concerns(failure, entry):
            reasons.setdefault(f"{system}, {workload}: {failure.kind}: {failure.reason}")
            return Cell(failure.kind, missing=True, detail=failure.reason)
    return Cell(ABSENT, missing=True)


def _concerns(failure: Failure, entry: Entry) -> bool:
    """Whether a failure's case is that of the row, as far as both name the same factors."""
    for part in filter(None, failure.case.split(",")):
        name, _, value = part.partition("=")
        if name in entry.row.case and str(entry.row.case[name]) != value:
            return False
    return True
