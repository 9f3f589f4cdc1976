"""A table for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.safeio import escaping
from pentathlon.tables.grid import Grid
from pentathlon.tables.symbols import SYMBOL


def to_latex(grid: Grid) -> str:
    """A table of the package booktabs."""
    shape = "".join("r" if numeric else "l" for numeric in grid.numeric)
    marked_title = f"{grid.title} ({grid.unfinished})" if grid.unfinished else grid.title
    first = (
        [rf"\noindent\textbf{{{latex(grid.unfinished_sentence)}}}\par"] if grid.unfinished else []
    )
    lines = [
        *first,
        r"\begin{table}",
        rf"\caption{{{latex(marked_title)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
    ]
    lines += [r"\toprule"]
    if any(grid.groups):
        lines.append(escaping.latex_row([latex(group) for group in grid.groups_once]))
    lines += [escaping.latex_row([latex(one) for one in grid.headings]), r"\midrule"]
    lines += [escaping.latex_row([latex(cell.marked) for cell in row]) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {latex(note)}" for note in grid.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def to_longtable(grid: Grid, label: str) -> str:
    """A longtable with a repeated header, for tables that may be longer than a page."""
    columns = "".join("r" if numeric else "l" for numeric in grid.numeric)
    head = escaping.latex_row([escaping.latex(one) for one in grid.full_headings])
    lines = [
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{escaping.latex(grid.title)}}}\label{{{escaping.latex_label(label)}}}\\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(escaping.latex_row([escaping.latex(cell.text) for cell in row]) for row in grid.rows),
        r"\end{longtable}",
        *(rf"\par\footnotesize {escaping.latex(note)}" for note in grid.notes),
    ]
    return "\n".join(lines)


def document_part(plan_hash: str, tables: Sequence[str]) -> str:
    """The tables with what a document must load for them."""
    head = (
        "% Needs \\usepackage{booktabs,longtable,textcomp} and UTF-8 input.\n"
        f"% Plan {escaping.latex_comment(plan_hash)}\n"
    )
    return head + "\n\n".join(tables) + "\n"


def latex(text: str) -> str:
    """Text for LaTeX; a symbol at its start is set as one."""
    match = SYMBOL.match(text)
    if match is not None:
        return rf"${match[1]}_{{\mathrm{{{match[2]}}}}}$" + latex(text[match.end() :])
    return escaping.latex(text)
