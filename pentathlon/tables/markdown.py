"""A table in GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.safeio import escaping
from pentathlon.tables.grid import Grid


def to_markdown(grid: Grid) -> str:
    """A pipe table with its notes as a list."""
    escape = escaping.markdown
    lines = [f"> **{escape(grid.unfinished_sentence)}**", ""] if grid.unfinished else []
    lines += [f"**{escape(grid.title)}**", "", *pipe_table(grid), ""]
    lines += [f"- {escape(note)}" for note in grid.notes]
    return "\n".join(lines) + "\n"


def pipe_table(grid: Grid) -> list[str]:
    """The lines of the table alone, without title and notes."""
    rule = [":--" if not numeric else "--:" for numeric in grid.numeric]
    return [
        _pipe([escaping.markdown(one) for one in grid.full_headings]),
        _pipe(rule),
        *(_pipe([escaping.markdown(cell.marked) for cell in row]) for row in grid.rows),
    ]


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
