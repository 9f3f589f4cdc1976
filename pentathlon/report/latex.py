"""Tables for LaTeX, with the rules of the booktabs package."""

from __future__ import annotations

from collections.abc import Sequence

ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{NO-BREAK SPACE}": "~",
    "−": r"$-$",
    "–": "--",
    "δ": r"$\delta$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "µ": r"\textmu{}",
    "…": r"\dots{}",
    "∞": r"$\infty$",
    "²": r"$^2$",
}


def escape(text: str) -> str:
    """Text with every character that LaTeX would interpret, or cannot set, replaced."""
    return "".join(ESCAPES.get(character, character) for character in text)


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
    head = " & ".join(escape(cell) for cell in header) + r" \\"
    lines = [
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{escape(caption)}}}\label{{{label}}}\\",
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
        *(" & ".join(escape(cell) for cell in cells) + r" \\" for cells in rows),
        r"\end{longtable}",
    ]
    return "\n".join(lines)


def document_part(plan_hash: str, tables: Sequence[str]) -> str:
    """The tables with what a document must load for them."""
    head = (
        "% Needs \\usepackage{booktabs,longtable,textcomp} and UTF-8 input.\n"
        f"% Plan {plan_hash}\n"
    )
    return head + "\n\n".join(tables) + "\n"
