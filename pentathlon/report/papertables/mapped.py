"""The rows of a published table with one's own values as numbers, for `published compare`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.model import Evaluation
from pentathlon.published.beside import Mapped
from pentathlon.report.papertables.fill import boots_in_unit, fits
from pentathlon.report.papertables.load import Declared, Entry, papers


def filled_tables(study: str) -> tuple[str, ...]:
    """Ids of the tables of a study that can be filled row by row."""
    return tuple(one.table.id for one in _tables(study) if any(_rows(one)))


def mapped(study: str, table: str, evaluation: Evaluation) -> tuple[Mapped, ...]:
    """Every row of the table that one of our indicators fills, with the result's values."""
    return tuple(
        line
        for declared in _tables(study)
        if declared.table.id == table
        for entry in _rows(declared)
        for line in _lines(entry, evaluation)
    )


def _tables(study: str) -> Iterator[Declared]:
    for paper in papers():
        if paper.study.id == study:
            yield from paper.tables


def _rows(declared: Declared) -> Iterator[Entry]:
    """Entries of printed rows; columns and derived figures have no cell of their own."""
    for entry in declared.entries:
        if entry.row.row is not None and entry.row.indicator is not None and not entry.swept:
            yield entry


def _lines(entry: Entry, evaluation: Evaluation) -> Iterator[Mapped]:
    names = [system.name for system in evaluation.systems]
    found = [row for row in evaluation.rows if fits(entry, row)]
    assert entry.row.row is not None and entry.row.indicator is not None
    if not found:
        yield Mapped(
            row=entry.row.row,
            label=entry.label,
            unit=entry.unit,
            indicator=entry.row.indicator,
            values=(),
            note=entry.row.note,
        )
    for row in found:
        rest = {name: value for name, value in row.case.items() if name not in entry.row.case}
        extra = f", {case_text(rest)}" if rest and len(found) > 1 else ""
        values: list[tuple[str, float | None, str]] = []
        for name in names:
            boots = boots_in_unit(entry, row.summary(name))
            if boots is None:
                values.append((name, None, "not measured"))
            else:
                values.append((name, float(np.mean(boots)), f"mean of {len(boots)} boots"))
        yield Mapped(
            row=entry.row.row,
            label=f"{entry.label}{extra}",
            unit=entry.unit,
            indicator=row.key,
            values=tuple(values),
            note=entry.row.note,
        )
