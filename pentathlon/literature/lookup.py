"""From the names in a claim to the cells that they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pentathlon.literature.claims import Claim
from pentathlon.literature.expression import formula
from pentathlon.literature.model import Study
from pentathlon.literature.printed import Printed, is_number, parse
from pentathlon.literature.problems import PublishedError
from pentathlon.literature.tables import Cell, Row, Table


@dataclass(frozen=True)
class Term:
    """A name in a claim.

    Attributes:
        table: the table that the cell or factor stands in.
        row: its row.
        column: its column, or the name of the factor.
        printed: the number; None if the cell is missing or holds a word.
        why: why there is no number; "" if there is.
        reconstructed: how the cell was put together from damaged text; None if it was not.
    """

    table: Table
    row: Row
    column: str
    printed: Printed | None
    why: str = ""
    reconstructed: str | None = None

    @property
    def title(self) -> str:
        """The column's title; the factor's name for a factor."""
        for one in self.table.column:
            if one.id == self.column:
                return one.name
        return self.column.replace("_", " ")

    @property
    def place(self) -> str:
        """Where it is printed, such as "Table 3, v_Mrd - 8 MB, Windows XP"."""
        where = f"{self.table.printed_as}, {self.row.name}"
        return where if len(self.table.column) == 1 else f"{where}, {self.title}"


def subjects(study: Study, claim: Claim) -> list[Row | None]:
    """The rows that a claim is true of one by one; [None] if it refers to single cells."""
    if claim.rows is None or claim.table is None:
        return [None]
    table = study.table(claim.table)
    if claim.rows == "all":
        return [row for row in table.row if row.id not in claim.skip]
    return [table.find_row(name) for name in claim.rows]


def terms(study: Study, claim: Claim, row: Row | None) -> dict[str, Term]:
    """Every name in the claim's formulas, for one of its rows.

    Raises:
        PublishedError: a name stands for nothing, or a cell is not there.
    """
    own = study.table(claim.table) if claim.table is not None else None
    names = formula(claim.expression).names
    if claim.than is not None:
        names += formula(claim.than).names
    found = {}
    for name in names:
        if name in claim.cells:
            table, at, column = locate(study, claim.cells[name], own)
            found[name] = _term(table, at, column, claim.read.get(name))
        elif row is not None and own is not None and name in row.values:
            found[name] = _term(own, row, name, claim.read.get(name))
        elif row is not None and own is not None and name in row.factors:
            found[name] = Term(own, row, name, parse(row.factors[name], exact=True))
        else:
            raise PublishedError(f'"{name}" is neither in "cells" nor a column or factor of a row')
    return found


def locate(study: Study, reference: str, own: Table | None) -> tuple[Table, Row, str]:
    """The cell that "TABLE/ROW/COLUMN" names, or "ROW/COLUMN" in a claim's own table.

    Raises:
        PublishedError: there is none.
    """
    parts = reference.split("/")
    if len(parts) == 3:
        table = study.table(parts[0])
    elif len(parts) == 2 and own is not None:
        table = own
    else:
        raise PublishedError(f'"{reference}" names no cell; write TABLE/ROW/COLUMN')
    row = table.find_row(parts[-2])
    row.cell(parts[-1])
    return table, row, parts[-1]


def _term(table: Table, row: Row, column: str, pattern: str | None) -> Term:
    cell = row.cell(column)
    blank = Term(table, row, column, None, reconstructed=cell.reconstructed)
    if cell.printed is None:
        return replace(blank, why=f"the cell is missing: {cell.missing}")
    number = _number(cell, pattern, exact=row.exact)
    if number is None:
        return replace(blank, why=f'the cell holds "{cell.printed}"')
    return replace(blank, printed=number)


def _number(cell: Cell, pattern: str | None, *, exact: bool) -> Printed | None:
    text = cell.printed or ""
    if pattern is None:
        return parse(text, cell.qualifier, exact=exact) if is_number(text) else None
    match = re.search(pattern, text)
    if match is None:
        raise PublishedError(f'"{pattern}" finds no number in "{text}"')
    return parse(match[1], exact=exact)
