"""The rows of a table as the paper prints them and as a result fills them.

`published compare` shows what `tables` shows: both take the rows from the same data files and the
values from the same lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.published import difference_percent
from pentathlon.literature import tables as published
from pentathlon.literature.comparison import OWN, Comparison, Value
from pentathlon.literature.filled.fill import fill_entry
from pentathlon.literature.filled.load import Declared, Entry, paper
from pentathlon.literature.filled.table import Line
from pentathlon.literature.filled.units import factor
from pentathlon.literature.interval import Interval
from pentathlon.literature.model import Study
from pentathlon.literature.printed import is_number, parse


def filled_tables(study: str) -> tuple[str, ...]:
    """Ids of the tables of a study that a result can fill."""
    return tuple(one.id for one in paper(study).tables)


def mapped(
    declared: Declared, evaluation: Evaluation
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Every row of a table with its printed and its own values, and why some have none."""
    reasons: dict[str, None] = {}
    rows = tuple(_row(declared, entry, evaluation, reasons) for entry in declared.entries)
    return rows, tuple(reasons)


def _row(
    declared: Declared, entry: Entry, evaluation: Evaluation, reasons: dict[str, None]
) -> Comparison:
    lines = [
        line
        for line in fill_entry(entry, evaluation, reasons)
        if line.measured or entry.row.fact is not None
    ]
    return Comparison(
        label=entry.label,
        values=(
            *_with_differences(declared.study, list(_printed(declared.table, entry))),
            *(own for line in lines for own in _own(entry, line, evaluation)),
        ),
        own_rows=len(lines),
        direction=entry.direction,
        group=entry.group,
        note=entry.row.note,
    )


def _with_differences(study: Study, printed: Sequence[Value]) -> Iterator[Value]:
    """The printed values with their differences to that of the study's reference."""
    named = [one.system for one in printed]
    reference = study.facts.reference_system
    place = named.index(reference) if reference in named else 0
    for number, one in enumerate(printed):
        base = printed[place].value
        if number != place and one.value is not None and base:
            difference = difference_percent(one.value, base)
            yield one.model_copy(update={"difference_percent": difference})
        else:
            yield one


def _own(entry: Entry, line: Line, evaluation: Evaluation) -> Iterator[Value]:
    differences = {one.system: one.difference_percent for one in line.judgements}
    for system, cell in zip(evaluation.systems, line.cells, strict=True):
        words = cell.text if cell.value is None and cell.low is None else ""
        yield Value(
            source=OWN,
            system=system.name,
            metric=line.key or line.label,
            value=cell.value,
            unit=entry.unit,
            printed="",
            difference_percent=differences.get(system.name),
            low=cell.low,
            high=cell.high,
            words=words,
            note="" if cell.missing else cell.detail,
        )


def _printed(table: published.Table, entry: Entry) -> Iterator[Value]:
    """The cells that the row stands for: a row of the paper, or a column of some of its rows."""
    row = entry.row
    if row.row is not None and row.column is None:
        for name in row.rows or (row.row,):
            found = table.find_row(name)
            # Of several rows, what stands last in their labels separate them.
            which = f" ({found.label.rpartition(', ')[2]})" if row.rows else ""
            for column in table.systems or table.column[:1]:
                yield _cell(found, column, entry, f"{column.name}{which}", table.study)
        return
    if row.column is None:
        return
    column = next(one for one in table.column if one.id == row.column)
    for found in table.row:
        if row.row is not None:
            wanted = found.id == row.row
        else:
            wanted = not row.rows or found.id in row.rows
        if wanted and _has(found, row.where):
            yield _cell(found, column, entry, _system(found, row.where), table.study)


def _has(row: published.Row, where: dict[str, str]) -> bool:
    known = {**row.factors, "label": row.label, "group": row.group, "part": row.part}
    return all(known.get(name) == value for name, value in where.items())


def _system(row: published.Row, where: dict[str, str]) -> str:
    """The system that a row is of: named in the row, or by the words that `where` leaves open."""
    if row.system is not None:
        return row.system
    known = [("part", row.part), ("group", row.group), ("label", row.label)]
    factors = set(where) - {name for name, _ in known}
    parts = [text for name, text in known if text and name not in where]
    if factors and row.part:  # The group names the link that the factors are of.
        parts = [text for text in parts if text != row.group]
    return ", ".join(parts)


def _cell(
    row: published.Row, column: published.Column, entry: Entry, system: str, study: str
) -> Value:
    cell = row.cell(column.id)
    text = cell.printed or ""
    unit = row.unit or column.unit or ""
    words, value, printed = "", None, f"{cell.text} {unit}".strip()
    if column.kind == "text" or not is_number(text):
        words, printed = text, "" if text else cell.text
    else:
        value = float(Interval.exact(parse(text).value).low) * factor(unit, entry.unit)
    return Value(
        source=study,
        system=system,
        metric=entry.label,
        value=value,
        unit=entry.unit,
        difference_percent=None,
        printed=printed,
        words=words,
    )
