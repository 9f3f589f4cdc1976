"""A table for the terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pentathlon.tables.grid import Grid


def to_rich(grid: Grid) -> Table:
    """For the terminal."""
    table = Table(title=Text(grid.title), title_justify="left", header_style="bold")
    for group, heading, numeric in zip(grid.groups, grid.headings, grid.numeric, strict=True):
        text = f"{group}\n{heading}" if group else heading
        table.add_column(Text(text), justify="right" if numeric else "left")
    for row in grid.rows:
        table.add_row(
            *(Text(cell.marked, style="dim italic" if cell.missing else "") for cell in row)
        )
    return table
