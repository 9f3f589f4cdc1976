"""Filled tables as grids, which every format is made from, and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from pentathlon.published.grid import Grid, GridCell
from pentathlon.report.papertables.filled import Cell, Filled, Line

FLAG = "* a boot deviates by more than 1 % from the mean."

COMPARED = (
    "Diff % and verdicts are against {}. Diff % is of the means shown, in the unit shown; a verdict"
    " is of the ratios in paired blocks, in which a boot far off counts less, so they can"
    " disagree in sign."
)


def grid(table: Filled) -> Grid:
    """A table with the systems, the unit, then the differences and verdicts."""
    others = [name for name in table.systems if name != table.reference]
    sides = [heading for name in others for heading in ("Diff %", "Verdict")]
    flagged = any(cell.flagged for line in table.lines for cell in line.cells)
    compared = (COMPARED.format(table.reference),) if others else ()
    return Grid(
        title=f"{table.study}, {table.printed_as}: {table.title}",
        groups=("", *("" for _ in table.systems), "", *(n for n in others for _ in range(2))),
        headings=(table.printed_as.partition(",")[0], *table.systems, "Unit", *sides),
        numeric=(False, *(True for _ in table.systems), False, *(True, False) * len(others)),
        rows=tuple(_row(line) for line in table.lines),
        notes=(*compared, *((FLAG,) if flagged else ()), *table.notes),
    )


def _row(line: Line) -> tuple[GridCell, ...]:
    cells = [GridCell(line.label), *(_cell(cell) for cell in line.cells), GridCell(line.unit)]
    for one in line.judgements:
        cells += [GridCell(one.difference), GridCell(one.words)]
    return tuple(cells)


def _cell(cell: Cell) -> GridCell:
    if cell.interval:
        return GridCell(f"{cell.text} [{cell.interval}]")
    return GridCell(f"{cell.text}*" if cell.flagged else cell.text, missing=cell.missing)


def to_json(tables: Sequence[Filled]) -> str:
    """All tables as JSON, texts as they are shown."""
    return json.dumps([dataclasses.asdict(one) for one in tables], ensure_ascii=False, indent=1)
