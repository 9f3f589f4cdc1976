"""Tables for LaTeX: what is too wide for a page is broken into lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pentathlon.tables.grid import Grid, plain
from pentathlon.tables.latex import document_part, to_longtable

SENTENCE = "unstable; the blocks' ratios have a standard deviation of 73 % and more words than fit"


def wide(systems: int) -> Grid:
    names = [f"uml-7.{number}" for number in range(systems)]
    headings = ["Metric", *names, "Unit"]
    row = ["System call getpid, optimisation level 3", *["5,358,797"] * systems, "GB/s"]
    numeric = [False, *[True] * systems, False]
    for name in names[1:]:
        headings += [f"Speed % of paired blocks {name}", f"Verdict {name}"]
        row += ["−12.3 [−33.5, +15.5]", SENTENCE]
        numeric += [True, False]
    return plain("own: memory", headings, numeric, [row, row])


def test_the_columns_of_a_wide_table_fill_a_line_and_no_more() -> None:
    for systems in (2, 3):
        text = to_longtable(wide(systems), "tab:own")
        shares = [float(one) for one in re.findall(r"p\{([\d.]+)\\linewidth\}", text)]
        assert len(shares) == len(wide(systems).headings)
        assert 0.8 < sum(shares) < 1
        assert text.count(r"\begingroup") == text.count(r"\endgroup") == 1


def test_a_narrow_table_has_columns_as_wide_as_their_texts() -> None:
    text = to_longtable(plain("t", ["name", "value"], [False, True], [["a", "1"]]), "tab:t")
    assert r"\begin{longtable}{@{}lr@{}}" in text and "begingroup" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_sets_a_wide_table_within_its_page(tmp_path: Path) -> None:
    tables = document_part("0" * 64, [to_longtable(wide(2), "tab:own")])
    (tmp_path / "tables.tex").write_text(tables, encoding="utf-8")
    document = r"""\documentclass{article}
\usepackage{array,booktabs,longtable,textcomp}
\begin{document}\input{tables}\end{document}"""
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-1500:]
    too_wide = [float(one) for one in re.findall(r"Overfull .hbox \(([\d.]+)pt", done.stdout)]
    assert all(one < 5 for one in too_wide), too_wide
