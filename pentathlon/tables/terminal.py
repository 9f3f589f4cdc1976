"""A table for the terminal."""

from __future__ import annotations

from rich.text import Text

from pentathlon.tables.grid import Grid
from pentathlon.tables.sheet import Sheet


def to_rich(grid: Grid) -> Sheet:
    """For the terminal."""
    table = Sheet(title=Text(grid.title), header_style="bold")
    for group, heading, numeric in zip(grid.groups, grid.headings, grid.numeric, strict=True):
        text = f"{group}\n{heading}" if group else heading
        table.add_column(Text(text), justify="right" if numeric else "left")
    for row in grid.rows:
        table.add_row(
            *(Text(cell.marked, style="dim italic" if cell.missing else "") for cell in row)
        )
    return table
