"""A table for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.safeio import escaping
from pentathlon.tables.grid import Grid
from pentathlon.tables.symbols import SYMBOL

WIDE = 75
"""Letters of the document's own size that a line of a page takes."""
GAP = 2
"""Letters between two columns."""
GAP_SHARE = 0.018
"""The same of the width of a line, where columns have fixed widths."""
SIZES = {r"\footnotesize": 78, r"\scriptsize": 90, r"\tiny": 110}
"""Smaller fonts, and the letters of columns that a line takes of them."""


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
    size, columns = _columns(grid)
    head = escaping.latex_row([escaping.latex(one) for one in grid.full_headings])
    lines = [
        *([rf"\begingroup{size}\setlength{{\tabcolsep}}{{3pt}}"] if size else []),
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
        *([r"\endgroup"] if size else []),
        *(rf"\par\footnotesize {escaping.latex(note)}" for note in grid.notes),
    ]
    return "\n".join(lines)


def _columns(grid: Grid) -> tuple[str, str]:
    """Size of the font, "" for the document's own, and the columns of a longtable.

    A table that is wider than a page has columns of fixed widths, in which texts are broken.
    """
    texts = [
        [heading, *(row[place].text for row in grid.rows)]
        for place, heading in enumerate(grid.full_headings)
    ]
    natural = [max(map(len, column)) for column in texts]
    if sum(natural) + GAP * len(natural) <= WIDE:
        return "", "".join("r" if numeric else "l" for numeric in grid.numeric)
    least = [max((len(word) for text in column for word in text.split()), default=1) + 1
             for column in texts]  # fmt: skip
    size, room = next(
        (one for one in SIZES.items() if sum(least) <= one[1]), (list(SIZES)[-1], sum(least))
    )
    more = [max(0, long - short) for long, short in zip(natural, least, strict=True)]
    share = min(1.0, (room - sum(least)) / (sum(more) or 1))
    widths = [short + one * share for short, one in zip(least, more, strict=True)]
    across = 1 - GAP_SHARE * (len(widths) - 1)
    fixed = [
        rf">{{\{'raggedleft' if numeric else 'raggedright'}\arraybackslash}}"
        rf"p{{{across * width / max(room, sum(widths)):.4f}\linewidth}}"
        for numeric, width in zip(grid.numeric, widths, strict=True)
    ]
    return size, "".join(fixed)


def document_part(plan_hash: str, tables: Sequence[str]) -> str:
    """The tables with what a document must load for them."""
    head = (
        "% Needs \\usepackage{array,booktabs,longtable,textcomp} and UTF-8 input.\n"
        f"% Plan {escaping.latex_comment(plan_hash)}\n"
    )
    return head + "\n\n".join(tables) + "\n"


def latex(text: str) -> str:
    """Text for LaTeX; a symbol at its start is set as one."""
    match = SYMBOL.match(text)
    if match is not None:
        return rf"${match[1]}_{{\mathrm{{{match[2]}}}}}$" + latex(text[match.end() :])
    return escaping.latex(text)
