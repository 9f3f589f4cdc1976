"""The tables' data files beside the published tables that they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from pentathlon.literature import tables as published
from pentathlon.literature.filled.groups import BETTER, group
from pentathlon.literature.filled.model import Figure, Listing, PaperFile, Row, Sweep, Table
from pentathlon.literature.load import find_study, read
from pentathlon.literature.model import Study, plain_name

STUDIES = ("martinovic2012", "salah2010", "tolly2007", "vdovjak2021", "venkata2003")


@dataclass(frozen=True)
class Entry:
    """One row to fill: its words from the paper, and where our values come from."""

    label: str
    unit: str
    direction: str
    """"higher", "lower", or "" where neither is better."""
    group: str
    """Group of the metric: "v", "t", "W_G" (martinovic2012, section 5.2), or ""."""
    row: Row
    swept: bool = False
    """One of many sizes: those that a study leaves out are counted in one note."""


@dataclass(frozen=True)
class Declared:
    """One table to fill."""

    study: Study
    id: str
    printed_as: str
    title: str
    section: str
    table: published.Table
    """Where labels and printed values come from."""
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    like: str | None = None
    """Id of the table of the same measurements."""
    size: str | None = None
    """Factor of ours that states how large the file is that the title names."""

    @property
    def inventory(self) -> bool:
        """Whether it describes machines and systems, and no result."""
        return self.table.kind == "inventory"


@dataclass(frozen=True)
class Paper:
    """The tables of one study, and what stands for its figures."""

    study: Study
    tables: tuple[Declared, ...]
    figures: tuple[Figure, ...]
    listings: tuple[Listing, ...]

    def find(self, name: str) -> Declared | None:
        """The table with that id or printed name, such as "Table 3"; None if there is none."""
        wanted = plain_name(name)
        for one in self.tables:
            names = {plain_name(one.id), plain_name(one.printed_as)}
            if wanted in names | {text.removeprefix("table ") for text in names}:
                return one
        return None

    def together(self) -> Iterator[tuple[Declared, ...]]:
        """The tables in their order, each with those of the same measurements behind it."""
        for one in self.tables:
            if one.like is None:
                yield (one, *(other for other in self.tables if other.like == one.id))


@lru_cache(maxsize=1)
def papers() -> tuple[Paper, ...]:
    """The studies whose tables can be filled.

    Raises:
        PublishedError: a data file is wrong, or names what the published tables do not have.
    """
    return tuple(_paper(name) for name in STUDIES)


def paper(study: str) -> Paper:
    """The tables of one study.

    Raises:
        KeyError: no study has the name.
    """
    return {one.study.id: one for one in papers()}[study]


def _paper(name: str) -> Paper:
    data = read(files("pentathlon.literature.filled") / f"{name}.toml", PaperFile)
    study = find_study(data.study)
    own = {table.id: table for table in data.table}
    declared = tuple(_declared(study, table, own) for table in data.table)
    return Paper(study, declared, data.figure, data.listing)


def _declared(study: Study, table: Table, own: dict[str, Table]) -> Declared:
    printed = study.table(table.of or table.id)
    entries = [_entry(printed, row) for row in _rows(table, own, printed)]
    entries += [_swept(printed, row, one) for row in printed.row for one in table.sweep]
    notes = own[table.like].notes if table.like is not None else ()
    return Declared(
        study=study,
        id=table.id,
        printed_as=table.printed_as or printed.printed_as,
        title=table.title or printed.title,
        section=table.section or printed.section,
        table=printed,
        entries=tuple(entries),
        notes=tuple(dict.fromkeys((*notes, *table.notes))),
        like=table.like,
        size=table.size,
    )


def _rows(table: Table, own: dict[str, Table], printed: published.Table) -> list[Row]:
    """The table's rows; of one that is like another, those that the paper prints in both.

    A table that is like another may have rows of its own behind them.
    """
    if table.like is None:
        return list(table.row)
    known = {row.id for row in printed.row}
    named = {row.row: row for row in table.row if row.row is not None}
    shared = [row for row in own[table.like].row if row.row is None or row.row in known]
    ids = {row.row for row in shared}
    return [
        *(named.get(row.row or "", row) for row in shared),
        *(row for row in table.row if row.row is None or row.row not in ids),
    ]


def _entry(table: published.Table, row: Row) -> Entry:
    label, symbol, unit, direction = row.label or "", None, row.shown or row.unit, None
    if row.row is not None:
        printed = table.find_row(row.row)
        label, symbol, direction = row.label or _label(printed), printed.symbol, printed.direction
        unit = row.shown or printed.unit or row.unit
    elif row.column is not None:
        column = _column(table, row.column)
        label, unit = row.label or _title(column), row.shown or column.unit or row.unit
    own = "" if row.fact is not None else group(symbol, unit)
    known = row.direction or direction or BETTER[own]
    # A count per second of which less is better, such as interrupts, is no throughput.
    return Entry(label, unit, known, own if known == BETTER[own] else "", row)


def _label(row: published.Row) -> str:
    """As printed, with the group where it is no symbol, and with the part."""
    above = f"{row.group} / " if row.group and row.group != row.symbol else ""
    return f"{above}{row.label}{f', {row.part}' if row.part else ''}"


def _column(table: published.Table, name: str) -> published.Column:
    table.row[0].cell(name)  # states what is wrong if there is none
    return next(one for one in table.column if one.id == name)


def _title(column: published.Column) -> str:
    return f"{column.group}, {column.title.lower()}" if column.group else column.title


def _swept(table: published.Table, printed: published.Row, sweep: Sweep) -> Entry:
    column = _column(table, sweep.column)
    value = int(printed.factors[sweep.from_]) * sweep.times
    row = Row(
        row=printed.id,
        column=sweep.column,
        metric=sweep.metric,
        case={**sweep.case, sweep.factor: value},
        unit=sweep.unit,
    )
    repeats = (column.group or "").lower() in ("", column.title.partition(" ")[0].lower())
    label = f"{printed.label} KB, {column.title if repeats else column.name}"
    unit = column.unit or sweep.unit
    own = group(None, unit)
    return Entry(label, unit, printed.direction or BETTER[own], own, row, swept=True)
