"""Tables for a column of a paper: numbers that siunitx reads, and that fit what is declared."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.export.siunitx import MOST_ROWS, to_siunitx
from tests.fakes.synthetic import Item, Maker, same

NUMBER = re.compile(r"[+-]\d+(\.\d+)?|\{--\}")


def made(count: int, factor: float = 1.3):
    chosen = [
        Item(f"{area}.w_{number}", "time", {}, "ns", "lower", 50.0, 0.004)
        for number in range(count)
        for area in ("process", "memory")
    ]
    factors = {"a": same, "b_c": lambda _: factor}
    return evaluate(Maker(factors=factors, chosen=chosen, blocks=6, noise=0.2).make())


def test_numbers_are_plain_and_fit_their_column() -> None:
    text = to_siunitx(made(2))
    tables = text.split(r"\begin{table}")[1:]
    assert len(tables) == 2, "areas, then what is decided"
    for table in tables:
        whole, places = map(int, re.search(r"table-format=\+(\d)\.(\d)", table).groups())
        lines = table[table.index(r"\midrule") : table.index(r"\bottomrule")].splitlines()[1:]
        assert len(lines) in (3, 4)
        for line in lines:
            for cell in line.removesuffix(r" \\").split(" & ")[1:4]:
                assert NUMBER.fullmatch(cell), cell
                integer, _, decimals = cell.lstrip("+-").partition(".")
                assert len(integer) <= whole and len(decimals) <= places, (cell, table)
    assert r"b\_c" in text and "−" not in text


def test_long_tables_are_parted() -> None:
    text = to_siunitx(made(MOST_ROWS))
    assert "part 1" in text and "part 2" in text
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == 3


def test_without_a_comparison_there_is_no_table() -> None:
    single = evaluate(
        Maker(factors={"a": same}, chosen=[Item("w.c", "t", {}, "ns", "lower", 5.0)]).make()
    )
    assert r"\begin" not in to_siunitx(single)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_tables_fit_a_column(tmp_path) -> None:
    (tmp_path / "tables.tex").write_text(to_siunitx(made(3, factor=25.0)), encoding="utf-8")
    document = r"""\documentclass[twocolumn]{article}
\usepackage{array,booktabs,siunitx}
\begin{document}\input{tables}\end{document}"""
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    if "siunitx.sty' not found" in done.stdout:
        pytest.skip("no siunitx")
    assert done.returncode == 0, done.stdout[-1500:]
    assert "Overfull" not in done.stdout
