"""A result of one's own beside a published table: never a verdict, always with the caution.

Only ratios inside one study mean anything: the machines differ. So every value is given with its
difference to the reference of its own study (martinovic2012, formula (4)), in our unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pentathlon.evaluate.display import signed, significant
from pentathlon.evaluate.model import Evaluation, Scalar
from pentathlon.evaluate.model import Row as OwnRow
from pentathlon.evaluate.published import difference_percent
from pentathlon.published.expression import formula
from pentathlon.published.grid import Grid, GridCell
from pentathlon.published.interval import Interval
from pentathlon.published.model import Study
from pentathlon.published.parts import Part
from pentathlon.published.printed import is_number, parse
from pentathlon.published.problems import PublishedError
from pentathlon.published.tables import Counterpart, Row, Table

OWN = "yours"


class Value(Part):
    """One value, published or one's own, in the unit of our indicator."""

    source: str
    """The study's name, or "yours"."""
    system: str
    indicator: str
    value: float | None
    unit: str
    difference_percent: float | None
    """To the reference of its own study; None for the reference, or if there is no value."""
    printed: str
    """As printed, with its unit; "" for one's own."""
    note: str = ""


class Comparison(Part):
    """One published row and what corresponds to it in the result."""

    label: str
    values: tuple[Value, ...]
    own_rows: int
    """Rows of the result that correspond; 0 if it measured none."""
    note: str


class Mapped(Part):
    """What the report fills a row of a published table with, in the table's own unit.

    Attributes:
        row: id of the published row.
        label: the row's words; with the case where the result has several.
        values: (system, mean of the boots, or None, and why), the reference first.
    """

    row: str
    label: str
    unit: str
    indicator: str
    values: tuple[tuple[str, float | None, str], ...]
    note: str = ""


class Beside(Part):
    """A published table beside a result."""

    study: str
    table: str
    result: str
    cautions: tuple[str, ...]
    comparisons: tuple[Comparison, ...]


def beside(
    study: Study,
    table: Table,
    evaluation: Evaluation,
    result: str,
    *,
    mapped: Sequence[Mapped] = (),
    filled: Sequence[str] = (),
) -> Beside:
    """Put a result beside a published table.

    Args:
        mapped: rows that the report's tables fill from the result; those that have a counterpart of
            their own are left out.
        filled: ids of the tables of the study that the report can fill.

    Raises:
        PublishedError: no row or column of the table corresponds to an indicator of ours.
    """
    points = list(_points(table))
    own = {row.id for row in table.row if row.counterpart is not None}
    rest = [one for one in mapped if one.row not in own]
    if not points and not rest:
        known = {one.id for one in study.tables if any(True for _ in _points(one))} | {*filled}
        others = [one.id for one in study.tables if one.id in known]
        where = f"; of {study.id}, these do: {', '.join(others)}" if others else ""
        raise PublishedError(
            f"{table.printed_as} of {study.id} has no row that corresponds to an indicator"
            f" of a workload{where}"
        )
    return Beside(
        study=study.id,
        table=f"{table.printed_as}: {table.title}",
        result=result,
        cautions=_cautions(study, table, evaluation),
        comparisons=tuple(
            _compare(study, label, counterpart, cells, evaluation)
            for label, counterpart, cells in points
        )
        + tuple(_placed(study, table, one) for one in rest),
    )


def _placed(study: Study, table: Table, one: Mapped) -> Comparison:
    """A published row as it is printed, and what the report fills it with."""
    cells = _row_cells(table, table.find_row(one.row))
    numbers = [_number(text) for _, text, _ in cells]
    named = [system for system, _, _ in cells]
    reference = study.facts.reference_system
    base = named.index(reference) if reference in named else 0
    values = [
        Value(
            source=study.id,
            system=system,
            indicator=one.label,
            value=number,
            unit=unit or one.unit,
            difference_percent=_difference(number, numbers[base], place == base),
            printed=f"{text} {unit}".strip(),
        )
        for place, ((system, text, unit), number) in enumerate(zip(cells, numbers, strict=True))
    ]
    mine = [value for _, value, _ in one.values]
    values += [
        Value(
            source=OWN,
            system=system,
            indicator=one.indicator,
            value=value,
            unit=one.unit,
            difference_percent=_difference(value, mine[0], place == 0),
            printed="",
            note=note,
        )
        for place, (system, value, note) in enumerate(one.values)
    ]
    measured = sum(value is not None for value in mine)
    return Comparison(
        label=one.label, values=tuple(values), own_rows=min(measured, 1), note=one.note
    )


def _number(text: str) -> float | None:
    return float(Interval.exact(parse(text).value).low) if is_number(text) else None


Cells = list[tuple[str, str, str]]
"""(system, text, unit) of a published row."""


def _points(table: Table) -> Iterable[tuple[str, Counterpart, Cells]]:
    """Rows with a counterpart and their cells, then columns with one."""
    for row in table.row:
        if row.counterpart is not None:
            yield row.name, row.counterpart, _row_cells(table, row)
    for column in table.column:
        if column.counterpart is not None:
            label = f"{column.group}, {column.title.lower()}" if column.group else column.title
            cells = [
                (row.system or row.label, row.cell(column.id).printed or "", column.unit or "")
                for row in table.row
            ]
            yield label, column.counterpart, cells


def _row_cells(table: Table, row: Row) -> Cells:
    return [
        (
            f"{column.group}, {column.title}" if column.group else column.title,
            row.cell(column.id).printed or "",
            row.unit or column.unit or "",
        )
        for column in table.systems
    ]


def _compare(
    study: Study, label: str, counterpart: Counterpart, cells: Cells, evaluation: Evaluation
) -> Comparison:
    rows = [row for row in evaluation.rows if _corresponds(row, counterpart)]
    published = [
        (system, _converted(text, counterpart), text, printed) for system, text, printed in cells
    ]
    named = [system for system, _, _, _ in published]
    reference = study.facts.reference_system
    base = named.index(reference) if reference in named else 0
    values = [
        Value(
            source=study.id,
            system=system,
            indicator=label,
            value=value,
            unit=counterpart.unit,
            difference_percent=_difference(value, published[base][1], place == base),
            printed=f"{text} {printed}".strip(),
        )
        for place, (system, value, text, printed) in enumerate(published)
    ]
    for row in rows:
        values += _own(row, evaluation)
    return Comparison(label=label, values=tuple(values), own_rows=len(rows), note=counterpart.note)


def _own(row: OwnRow, evaluation: Evaluation) -> list[Value]:
    base = row.summary(evaluation.study.reference)
    found = []
    for system in evaluation.systems:
        summary = row.summary(system.name)
        own = system.name == evaluation.study.reference
        found.append(
            Value(
                source=OWN,
                system=system.name,
                indicator=row.key,
                value=None if summary is None else summary.mean,
                unit=row.unit,
                difference_percent=None
                if summary is None or base is None
                else _difference(summary.mean, base.mean, own),
                printed="",
                note="not measured" if summary is None else f"mean of {summary.boots} boots",
            )
        )
    return found


def _difference(value: float | None, reference: float | None, own: bool) -> float | None:
    if own or value is None or not reference:
        return None
    return difference_percent(value, reference)


def _converted(text: str, counterpart: Counterpart) -> float | None:
    """A printed value in our unit; None for a word or a missing cell."""
    if not is_number(text):
        return None
    value = Interval.exact(parse(text).value)
    if value.low == 0:
        return None
    return float(formula(counterpart.convert)({"x": value}).low)


def _corresponds(row: OwnRow, counterpart: Counterpart) -> bool:
    if (f"{row.workload}.{row.indicator}", row.unit) != (counterpart.indicator, counterpart.unit):
        return False
    return all(_fits(row.case.get(name), wanted) for name, wanted in counterpart.case.items())


def _fits(value: Scalar, wanted: str | int | tuple[int, int]) -> bool:
    if isinstance(wanted, tuple):
        return isinstance(value, int | float) and wanted[0] <= value <= wanted[1]
    return value == wanted


def _cautions(study: Study, table: Table, evaluation: Evaluation) -> tuple[str, ...]:
    machines = ", ".join(dict.fromkeys(system.cpu or "?" for system in evaluation.systems))
    layers = ", ".join(dict.fromkeys(system.layer for system in evaluation.systems))
    hardware = [one.printed_as for one in study.tables if one.kind == "inventory"]
    where = f" (described in {', '.join(hardware)})" if hardware else ""
    return (
        f"The machines differ: {study.id} measured in {study.facts.year} on its own hardware"
        f"{where}; yours is {machines}, layer {layers}. A value of one says nothing about the "
        "other.",
        "The programs differ too: the published values come from other benchmark programs and "
        "other versions of the systems. Compare, if anything, the differences inside each study.",
        "Published values are means without intervals; no verdict is given here.",
        *(f"{table.printed_as}: {note}" for note in table.notes),
    )


def beside_grid(found: Beside) -> Grid:
    """The comparison as a grid, one line per value."""
    rows = []
    for one in found.comparisons:
        for place, value in enumerate(one.values):
            rows.append(_line(one, value, place == 0))
        if not one.own_rows:
            nothing = GridCell("nothing in your result corresponds", missing=True)
            rows.append((GridCell(""), GridCell(OWN), nothing, *[GridCell("")] * 4))
    notes = dict.fromkeys(one.note for one in found.comparisons if one.note)
    return Grid(
        title=f"{found.study}, {found.table}, beside {found.result}",
        groups=("",) * 7,
        headings=("Published row", "Source", "System", "Value", "Unit", "Diff %", "As printed"),
        numeric=(False, False, False, True, False, True, True),
        rows=tuple(rows),
        notes=(*found.cautions, *notes, "Diff %: to the reference of the same source."),
    )


def _line(one: Comparison, value: Value, first: bool) -> tuple[GridCell, ...]:
    label = one.label if first else (value.indicator if value.source == OWN else "")
    difference = value.difference_percent
    return (
        GridCell(label),
        GridCell(value.source),
        GridCell(value.system),
        GridCell("–" if value.value is None else significant(value.value)),
        GridCell(value.unit),
        GridCell("" if difference is None else signed(difference)),
        GridCell(value.printed or value.note),
    )


def as_mapping(found: Beside) -> Mapping[str, object]:
    """The comparison as JSON data."""
    return found.model_dump(mode="json")
