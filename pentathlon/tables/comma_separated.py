"""A table as CSV (RFC 4180)."""

from __future__ import annotations

import csv
import io

from pentathlon.safeio import escaping
from pentathlon.tables.grid import Grid, GridCell


def to_csv(grid: Grid) -> str:
    """RFC 4180: numbers as Python's repr, else the texts as printed; missing cells are empty.

    There are no notes. Where a run has not ended, a first column reports it in every line.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    heading, mark = (["Unfinished"], [grid.unfinished]) if grid.unfinished else ([], [])
    writer.writerow([escaping.csv_field(one) for one in (*heading, *grid.full_headings)])
    for row in grid.rows:
        cells = (*mark, *(_data(cell) for cell in row))
        writer.writerow([escaping.csv_field(cell) for cell in cells])
    return out.getvalue()


def _data(cell: GridCell) -> str:
    if cell.missing:
        return ""
    return cell.text if cell.value is None else repr(cell.value)
