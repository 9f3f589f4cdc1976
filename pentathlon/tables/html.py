"""A table as a fragment of HTML."""

from __future__ import annotations

import html

from pentathlon.tables.grid import Grid, GridCell
from pentathlon.tables.symbols import SYMBOL


def to_html(grid: Grid) -> str:
    """A fragment: a table with its notes, without style."""
    lines = ['<figure class="published">']
    if grid.unfinished:
        lines.append(f"<p><strong>{html.escape(grid.unfinished_sentence)}</strong></p>")
    lines.append('<table class="published">')
    lines.append(f"<caption>{html.escape(grid.title)}</caption>")
    lines.append("<thead>")
    if any(grid.groups):
        lines.append(_html_row("th", [html.escape(group) for group in grid.groups_once]))
    lines.append(_html_row("th", [html_text(one) for one in grid.headings], ' scope="col"'))
    lines += ["</thead>", "<tbody>"]
    for row in grid.rows:
        cells = [
            f"<td{_class(cell, numeric)}>{html_text(cell.marked)}</td>"
            for cell, numeric in zip(row, grid.numeric, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>", "<figcaption>"]
    lines += [f"<p>{html_text(note)}</p>" for note in grid.notes]
    return "\n".join([*lines, "</figcaption>", "</figure>"]) + "\n"


def html_text(text: str) -> str:
    """Text for HTML; a symbol at its start is set as one."""
    match = SYMBOL.match(text)
    if match is not None:
        return f"<i>{match[1]}</i><sub>{match[2]}</sub>" + html.escape(text[match.end() :])
    return html.escape(text)


def _html_row(tag: str, cells: list[str], attributes: str = "") -> str:
    return "<tr>" + "".join(f"<{tag}{attributes}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _class(cell: GridCell, numeric: bool) -> str:
    names = [
        name
        for name, holds in (
            ("number", numeric),
            ("missing", cell.missing),
            ("reconstructed", cell.reconstructed),
        )
        if holds
    ]
    return f' class="{" ".join(names)}"' if names else ""
