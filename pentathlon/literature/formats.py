"""A grid in the formats that people paste: terminal, CSV, Markdown, LaTeX, HTML."""

from __future__ import annotations

import csv
import html
import io
import re

from rich.table import Table as RichTable
from rich.text import Text

from pentathlon.literature.grid import Grid, GridCell
from pentathlon.safeio import escaping

SYMBOL = re.compile(r"^([vtcpW])_([A-Za-z0-9]+)")
DAGGER = "†"


def marked(cell: GridCell) -> str:
    """The cell with the mark of a reconstructed one."""
    return cell.text + DAGGER if cell.reconstructed and not cell.missing else cell.text


def to_rich(grid: Grid) -> RichTable:
    """For the terminal."""
    table = RichTable(title=Text(grid.title), title_justify="left", header_style="bold")
    for group, heading, numeric in zip(grid.groups, grid.headings, grid.numeric, strict=True):
        text = f"{group}\n{heading}" if group else heading
        table.add_column(Text(text), justify="right" if numeric else "left")
    for row in grid.rows:
        table.add_row(
            *(Text(marked(cell), style="dim italic" if cell.missing else "") for cell in row)
        )
    return table


def to_csv(grid: Grid) -> str:
    """RFC 4180: numbers as Python's repr, else the texts as printed; missing cells are empty.

    There are no notes. Where a run has not ended, a first column says so in every line.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    heading, mark = (["Unfinished"], [grid.unfinished]) if grid.unfinished else ([], [])
    writer.writerow([escaping.csv_field(one) for one in (*heading, *full_headings(grid))])
    for row in grid.rows:
        cells = (*mark, *(_data(cell) for cell in row))
        writer.writerow([escaping.csv_field(cell) for cell in cells])
    return out.getvalue()


def _data(cell: GridCell) -> str:
    if cell.missing:
        return ""
    return cell.text if cell.value is None else repr(cell.value)


def to_markdown(grid: Grid) -> str:
    """A pipe table with its notes as a list."""
    rule = [":--" if not numeric else "--:" for numeric in grid.numeric]
    escape = escaping.markdown
    headings = [escape(one) for one in full_headings(grid)]
    lines = [f"> **{escape(_sentence(grid))}**", ""] if grid.unfinished else []
    lines += [f"**{escape(grid.title)}**", "", _pipe(headings), _pipe(rule)]
    lines += [_pipe([escape(marked(cell)) for cell in row]) for row in grid.rows]
    lines += ["", *(f"- {escape(note)}" for note in grid.notes)]
    return "\n".join(lines) + "\n"


def to_latex(grid: Grid) -> str:
    """A table of the package booktabs."""
    shape = "".join("r" if numeric else "l" for numeric in grid.numeric)
    marked_title = f"{grid.title} ({grid.unfinished})" if grid.unfinished else grid.title
    first = [rf"\noindent\textbf{{{latex(_sentence(grid))}}}\par"] if grid.unfinished else []
    lines = [
        *first,
        r"\begin{table}",
        rf"\caption{{{latex(marked_title)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
    ]
    lines += [r"\toprule"]
    if any(grid.groups):
        lines.append(escaping.latex_row([latex(group) for group in _once(grid.groups)]))
    lines += [escaping.latex_row([latex(one) for one in grid.headings]), r"\midrule"]
    lines += [escaping.latex_row([latex(marked(cell)) for cell in row]) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {latex(note)}" for note in grid.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def to_html(grid: Grid) -> str:
    """A fragment: a table with its notes, without style."""
    lines = ['<figure class="published">']
    if grid.unfinished:
        lines.append(f"<p><strong>{html.escape(_sentence(grid))}</strong></p>")
    lines.append('<table class="published">')
    lines.append(f"<caption>{html.escape(grid.title)}</caption>")
    lines.append("<thead>")
    if any(grid.groups):
        lines.append(_html_row("th", [html.escape(group) for group in _once(grid.groups)]))
    lines.append(_html_row("th", [html_text(one) for one in grid.headings], ' scope="col"'))
    lines += ["</thead>", "<tbody>"]
    for row in grid.rows:
        cells = [
            f"<td{_class(cell, numeric)}>{html_text(marked(cell))}</td>"
            for cell, numeric in zip(row, grid.numeric, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>", "<figcaption>"]
    lines += [f"<p>{html_text(note)}</p>" for note in grid.notes]
    return "\n".join([*lines, "</figcaption>", "</figure>"]) + "\n"


def _sentence(grid: Grid) -> str:
    return f"{grid.unfinished[:1].upper()}{grid.unfinished[1:]}."


def latex(text: str) -> str:
    """Text for LaTeX; a symbol at its start is set as one."""
    match = SYMBOL.match(text)
    if match is not None:
        return rf"${match[1]}_{{\mathrm{{{match[2]}}}}}$" + latex(text[match.end() :])
    return escaping.latex(text)


def html_text(text: str) -> str:
    """Text for HTML; a symbol at its start is set as one."""
    match = SYMBOL.match(text)
    if match is not None:
        return f"<i>{match[1]}</i><sub>{match[2]}</sub>" + html.escape(text[match.end() :])
    return html.escape(text)


def full_headings(grid: Grid) -> list[str]:
    """Headings with their groups, for formats with one heading line."""
    pairs = zip(grid.groups, grid.headings, strict=True)
    return [f"{group}: {heading}" if group else heading for group, heading in pairs]


def _once(groups: tuple[str, ...]) -> list[str]:
    """Each group at its first column only."""
    return [
        group if place == 0 or groups[place - 1] != group else ""
        for place, group in enumerate(groups)
    ]


def _pipe(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


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
