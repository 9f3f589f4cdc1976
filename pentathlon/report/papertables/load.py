"""The tables' data files beside the published tables that they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from pentathlon.published import tables as published
from pentathlon.published.load import find_study, read
from pentathlon.published.model import Study
from pentathlon.report.papertables.model import Figure, Listing, PaperFile, Row, Sweep, Table

STUDIES = ("martinovic2012", "salah2010", "tolly2007", "vdovjak2021", "venkata2003")


@dataclass(frozen=True)
class Entry:
    """One row to fill: its words from the paper, and where our values come from."""

    label: str
    unit: str
    direction: str
    row: Row
    swept: bool = False
    """One of many sizes: a study that leaves some out is told so once, not line by line."""


@dataclass(frozen=True)
class Declared:
    """One table to fill."""

    study: Study
    table: published.Table
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """The tables of one study, and what stands for its figures."""

    study: Study
    tables: tuple[Declared, ...]
    figures: tuple[Figure, ...]
    listings: tuple[Listing, ...]


@lru_cache(maxsize=1)
def papers() -> tuple[Paper, ...]:
    """The studies whose tables can be filled.

    Raises:
        PublishedError: a data file is wrong, or names what the published tables do not have.
    """
    return tuple(_paper(name) for name in STUDIES)


def _paper(name: str) -> Paper:
    data = read(files("pentathlon.report.papertables") / f"{name}.toml", PaperFile)
    study = find_study(data.study)
    own = {table.id: table for table in data.table}
    declared = []
    for table in data.table:
        printed = study.table(table.id)
        entries = [_entry(printed, row) for row in _rows(table, own, printed)]
        entries += [_swept(printed, row, one) for row in printed.row for one in table.sweep]
        notes = own[table.like].notes if table.like is not None else ()
        declared.append(Declared(study, printed, tuple(entries), (*notes, *table.notes)))
    return Paper(study, tuple(declared), data.figure, data.listing)


def _rows(table: Table, own: dict[str, Table], printed: published.Table) -> list[Row]:
    """The table's rows; of one that is like another, those that the paper prints in both."""
    if table.like is None:
        return list(table.row)
    known = {row.id for row in printed.row}
    named = {row.row: row for row in table.row}
    return [named.get(row.row, row) for row in own[table.like].row if row.row in known]


def _entry(table: published.Table, row: Row) -> Entry:
    if row.row is not None:
        printed = table.find_row(row.row)
        unit = row.shown or printed.unit or ""
        return Entry(row.label or _label(printed), unit, printed.direction or "", row)
    if row.column is not None:
        column = _column(table, row.column)
        return Entry(row.label or _title(column), row.shown or column.unit or "", "", row)
    return Entry(row.label or "", row.shown or row.unit, "", row)


def _label(row: published.Row) -> str:
    """As printed, with the group where it is no symbol, and with the part."""
    group = f"{row.group} / " if row.group and row.group != row.symbol else ""
    return f"{group}{row.label}{f', {row.part}' if row.part else ''}"


def _column(table: published.Table, name: str) -> published.Column:
    table.row[0].cell(name)  # says what is wrong if there is none
    return next(one for one in table.column if one.id == name)


def _title(column: published.Column) -> str:
    return f"{column.group}, {column.title.lower()}" if column.group else column.title


def _swept(table: published.Table, printed: published.Row, sweep: Sweep) -> Entry:
    column = _column(table, sweep.column)
    value = int(printed.factors[sweep.from_]) * sweep.times
    row = Row(
        row=printed.id,
        column=sweep.column,
        indicator=sweep.indicator,
        case={**sweep.case, sweep.factor: value},
        unit=sweep.unit,
    )
    group = column.group if column.group and column.group.lower() != _first(column.title) else ""
    label = f"{printed.label} KB, {group + ', ' if group else ''}{column.title}"
    return Entry(label, column.unit or sweep.unit, printed.direction or "", row, swept=True)


def _first(title: str) -> str:
    return title.partition(" ")[0].lower()
