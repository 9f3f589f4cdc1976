"""Fill the tables of the studies from an evaluation.

A value is the mean of the boots (martinovic2012, formula (3)) as it was measured, converted to the
table's own unit: means come first, here as in `compare`, so the two commands show one difference. A
rate of measured times is therefore the harmonic mean of the boots' rates: all work by all time. The
difference is formula (4) of these values, the deviation flag the paper's 1 %. Verdicts are those of
the evaluation. A table of which nothing was measured is left out. Tables of the same measurements
on other machines, as of two experiments, are one table here. Tables of machines and systems are
filled from the inventory, and appear if the result fills another table of their study.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from pentathlon.evaluate import published as model
from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.display import bytes_text, signed_percent, significant
from pentathlon.evaluate.model import Evaluation, Failure, Row, Summary
from pentathlon.evaluate.warnings import warnings
from pentathlon.literature.filled import facts, figures
from pentathlon.literature.filled.load import Declared, Entry, papers
from pentathlon.literature.filled.model import Wanted
from pentathlon.literature.filled.table import ABSENT, BETTER, Cell, Filled, Judgement, Line
from pentathlon.literature.filled.units import convert
from pentathlon.study.counting import count_text, listed

EXPERIMENT = re.compile(r", experiment (\d)$")


def fill(evaluation: Evaluation, *, named: Collection[tuple[str, str]] = ()) -> tuple[Filled, ...]:
    """Every table of which the result measured at least one row, in the papers' order.

    Args:
        named: (study, table) of tables of machines that are wanted whatever was measured.
    """
    found: list[Filled] = []
    for paper in papers():
        own = [(group, _table(group, evaluation)) for group in paper.together()]
        results = any(table.measured and not group[0].inventory for group, table in own)
        for table in (table for _, table in own if table.measured):
            requested = any((table.study, name) in named for name in table.ids)
            if results or requested:
                found.append(table)
    return tuple(found)


def _table(group: Sequence[Declared], evaluation: Evaluation) -> Filled:
    first = group[0]
    lines: list[Line] = []
    reasons: dict[str, None] = {}
    notes: dict[str, list[str]] = {}
    left_out = 0
    for entry in _entries(group):
        own = list(fill_entry(entry, evaluation, reasons))
        if all(cell.text == ABSENT for cell in own[0].cells):
            left_out += entry.swept
            if entry.swept or entry.row.optional:
                continue
        if entry.row.note and any(line.measured for line in own):
            notes.setdefault(entry.row.note, []).append(entry.label)
        lines += own
    return Filled(
        study=first.study.id,
        id=first.id,
        printed_as=listed([one.printed_as for one in group]),
        title=_title([one.title for one in group], _sizes(first, lines, evaluation)),
        section=listed(list(dict.fromkeys(one.section for one in group))),
        systems=tuple(system.name for system in evaluation.systems),
        reference=evaluation.study.reference,
        lines=tuple(lines),
        notes=(
            *warnings(evaluation),
            *dict.fromkeys(note for one in group for note in one.notes),
            *((f"{left_out} further rows of the paper were {ABSENT}.",) if left_out else ()),
            *(_note(text, at) for text, at in notes.items()),
            *reasons,
        ),
        ids=tuple(one.id for one in group),
    )


def _entries(group: Sequence[Declared]) -> Iterator[Entry]:
    """The rows of the first table, then those that only a later one has."""
    rows, labels = set(), set()
    for place, one in enumerate(group):
        own = [
            entry
            for entry in one.entries
            if not place
            or ((entry.row.row is None or entry.row.row not in rows) and entry.label not in labels)
        ]
        rows |= {entry.row.row for entry in own}
        labels |= {entry.label for entry in own}
        yield from own


def _sizes(declared: Declared, lines: Sequence[Line], evaluation: Evaluation) -> tuple[int, ...]:
    """How large the files were that the filled rows are of, where the title names a size."""
    if declared.size is None:
        return ()
    keys = {line.key for line in lines if line.key}
    values = {row.case.get(declared.size) for row in evaluation.rows if row.key in keys}
    return tuple(sorted(value for value in values if isinstance(value, int)))


def _title(titles: Sequence[str], sizes: Sequence[int]) -> str:
    """One title for tables of the same measurements: "..., experiments 1 and 2".

    A title that names the size of a file is the paper's: the sizes of the result stand behind it.
    """
    if sizes:
        return f"{titles[0]} in the paper, {listed([bytes_text(one) for one in sizes])} here"
    plain = list(dict.fromkeys(EXPERIMENT.sub("", title) for title in titles))
    numbers = [found[1] for title in titles if (found := EXPERIMENT.search(title))]
    if len(numbers) == len(titles) > 1:
        return f"{listed(plain)}, experiments {listed(numbers)}"
    return titles[0] if len(titles) == 1 else listed(plain)


def _note(text: str, labels: Sequence[str]) -> str:
    which = labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
    return f"{which}: {text}."


def fill_entry(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Iterator[Line]:
    """The lines of a row: one for each case that it leaves open; reasons for gaps are added."""
    names = [system.name for system in evaluation.systems]
    if entry.row.fact is not None:
        yield facts.line(entry, evaluation, reasons)
        return
    if entry.row.derived is not None:
        yield figures.line(entry, evaluation, reasons)
        return
    found = [row for row in evaluation.rows if fits(entry, row)]
    if not found:
        yield _absent(entry, evaluation, reasons)
        return
    fixed = {name for name, wanted in entry.row.case.items() if not isinstance(wanted, tuple)}
    for row in found:
        rest = {name: value for name, value in row.case.items() if name not in fixed}
        open_ = len(found) > 1 or len(fixed) < len(entry.row.case)
        extra = f", {case_text(rest)}" if rest and open_ else ""
        boots = {name: boots_in_unit(entry, row.summary(name)) for name in names}
        base = boots[evaluation.study.reference]
        yield Line(
            label=entry.label + extra,
            unit=entry.unit,
            better=BETTER[entry.direction],
            cells=tuple(
                _cell(row.summary(name), boots[name])
                if boots[name] is not None
                else _missing(entry, name, evaluation.failures, reasons)
                for name in names
            ),
            judgements=tuple(
                _judgement(row, name, boots[name], base) for name in names if name != names[0]
            ),
            key=row.key,
            group=entry.group,
            note=entry.row.note,
        )


def fits(entry: Entry, row: Row) -> bool:
    """Whether a row of the result fills the entry."""
    wanted = entry.row
    return (f"{row.workload}.{row.metric}", row.unit) == (wanted.metric, wanted.unit) and all(
        _same(row.case.get(name), value) for name, value in wanted.case.items()
    )


def _same(value: object, wanted: Wanted) -> bool:
    if isinstance(wanted, tuple):
        return isinstance(value, int | float) and wanted[0] <= value <= wanted[1]
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


def _cell(summary: Summary | None, boots: Boots | None) -> Cell:
    assert summary is not None and boots is not None
    value = model.mean(boots)
    deviation = model.deviation_percent(boots)
    known = len(boots) > 1 and np.isfinite(deviation)
    spread = f", within {significant(deviation, 2)} %" if known else ""
    return Cell(
        text=significant(value),
        value=value if np.isfinite(value) else None,
        deviation_percent=deviation if np.isfinite(deviation) else None,
        flagged=bool(deviation > model.TOLERANCE_PERCENT),
        detail=f"{count_text(summary.samples, 'sample')} in "
        f"{count_text(summary.boots, 'boot')}{spread}",
    )


def _judgement(row: Row, system: str, own: Boots | None, base: Boots | None) -> Judgement:
    comparison = row.comparison(system)
    difference = None
    if own is not None and base is not None:
        difference = model.difference_percent(model.mean(own), model.mean(base))
    shown = "–" if difference is None else signed_percent(difference)
    known = difference if difference is not None and np.isfinite(difference) else None
    if comparison is None:
        return Judgement(system, shown, None, "", known)
    return Judgement(system, shown, comparison.verdict, comparison.words, known)


def _absent(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Line:
    cells = tuple(
        _missing(entry, system.name, evaluation.failures, reasons) for system in evaluation.systems
    )
    return Line(
        label=entry.label,
        unit=entry.unit,
        better=BETTER[entry.direction],
        cells=cells,
        judgements=tuple(
            Judgement(system.name, "–", None, "") for system in evaluation.systems[1:]
        ),
        measured=False,
        group=entry.group,
        note=entry.row.note,
    )


def _missing(
    entry: Entry, system: str, failures: Sequence[Failure], reasons: dict[str, None]
) -> Cell:
    """Why a system has no value: what it reported, else that the study did not request it."""
    workload = (entry.row.metric or "").rpartition(".")[0]
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
