"""Tables for LaTeX, with the rules of the booktabs package."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.safeio.escaping import latex, latex_comment, latex_label, latex_row


def table(
    *,
    caption: str,
    label: str,
    header: Sequence[str],
    left: Sequence[bool],
    rows: Sequence[Sequence[str]],
) -> str:
    """A longtable with a caption and a repeated header."""
    columns = "".join("l" if one else "r" for one in left)
    head = latex_row([latex(cell) for cell in header])
    lines = [
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{latex(caption)}}}\label{{{latex_label(label)}}}\\",
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
        *(latex_row([latex(cell) for cell in cells]) for cells in rows),
        r"\end{longtable}",
    ]
    return "\n".join(lines)


def document_part(plan_hash: str, tables: Sequence[str]) -> str:
    """The tables with what a document must load for them."""
    head = (
        "% Needs \\usepackage{booktabs,longtable,textcomp} and UTF-8 input.\n"
        f"% Plan {latex_comment(plan_hash)}\n"
    )
    return head + "\n\n".join(tables) + "\n"
