"""Exports: full precision where numbers are read by programs, escapes where text is set."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.report.areas import overviews
from pentathlon.report.export import area_table
from pentathlon.report.export import files as export
from pentathlon.safeio import escaping
from tests.fakes.synthetic import Item, Maker, items, same


@pytest.fixture(scope="module")
def result():
    published = Item("process.getpid", "time", {"opt_level": "3"}, "ns", "lower", 60.0, 0.01, 0.01)
    return Maker(chosen=[*items(sizes=(1024, 4096, 16384)), published]).make()


@pytest.fixture(scope="module")
def evaluation(result):
    return evaluate(result)


def test_every_format_is_written(evaluation, result, tmp_path):
    texts = [name for name in export.FORMATS if name not in export.PICTURES]
    files = export.write(evaluation, result, tmp_path / "new", [*texts, "csv"])
    assert [path.name for path in files] == [
        "report.html",
        "evaluation.csv",
        "evaluation.md",
        "evaluation.tex",
        "evaluation.siunitx.tex",
        "evaluation.json",
        "evaluation.hyperfine.json",
        "evaluation.bmf.json",
        "evaluation.benchstat.txt",
        "methods.md",
        "methods.tex",
        "methods.bib",
    ]
    assert all(path.stat().st_size > 1000 for path in files)


def test_an_unknown_format_writes_nothing(evaluation, result, tmp_path):
    with pytest.raises(export.ExportError, match=r'^"docx" is no format of the report; use one of'):
        export.write(evaluation, result, tmp_path / "new", ["csv", "docx"])
    assert not (tmp_path / "new").exists()


def test_json_is_read_back_without_loss(evaluation):
    text = export.to_json(evaluation)
    assert Evaluation.model_validate_json(text) == evaluation
    means = {row["key"]: row["summaries"][0]["mean"] for row in json.loads(text)["rows"]}
    assert means["process.getpid.time"] == evaluation.row("process.getpid.time").summaries[0].mean


def test_csv_has_a_line_for_each_metric_and_system_in_full_precision(evaluation):
    lines = list(csv.DictReader(io.StringIO(export.to_csv(evaluation), newline="")))
    assert len(lines) == len(evaluation.rows) * 3
    for line in lines:
        row = evaluation.row(line["key"])
        summary = row.summary(line["system"])
        assert float(line["mean"]) == summary.mean
        assert int(line["samples"]) == summary.samples
        comparison = row.comparison(line["system"])
        if comparison is None:
            assert line["verdict"] == ""
        else:
            assert line["verdict"] == comparison.verdict.value
            assert float(line["low_percent"]) == comparison.effect.low_percent
            assert float(line["difference_percent"]) == comparison.difference_percent


def test_markdown_tables_have_as_many_cells_as_headings(evaluation):
    text, _, papers = export.to_markdown(evaluation).partition("## Tables of the studies")
    assert "venkata2003, Figure 26" in papers
    tables = [line for line in text.splitlines() if line.startswith("|")]
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in tables}
    assert counts == {len(area_table.headings(evaluation)) + 1}
    assert len(tables) == len(evaluation.rows) + 2 * len(evaluation.areas)
    assert "compares layers uml and host, not kernels" in text


def test_markdown_has_the_answer_of_each_area_first_and_what_its_signs_mean(evaluation):
    text = export.to_markdown(evaluation).replace("\N{NO-BREAK SPACE}", " ")
    first, _, rest = text.partition("## ")
    for found in overviews(evaluation):
        assert len(found.lines) > 1
        for line in found.lines:
            assert re.search(rf"^- .*{line.title}: ", first, re.M), line
    assert "+ is faster. Sure:" in first
    assert "Diff % is of the means shown" in rest


def test_latex_tables_have_as_many_cells_as_headings(evaluation):
    text = export.to_latex(evaluation)
    tables = text.split(r"\begin{longtable}")[1:]
    for table in tables:
        rows = [line for line in table.splitlines() if line.endswith(r"\\") and "&" in line]
        counts = {len(re.findall(r"(?<!\\)&", line)) for line in rows}
        machine = r"\label{tab:venkata2003-hardware}" in table
        cells = len(evaluation.systems) + 1 if machine else len(area_table.headings(evaluation))
        assert counts == {cells - 1}
    assert text.count(r"\end{longtable}") == len(tables) == 6
    assert text.isascii()


HOSTILE = "a|b & c_d 100% {x} ~^\\ <i> #1 `q` *z* [l]"


def test_hostile_names_are_escaped():
    chosen = [Item("x.y", "time", {"variant": HOSTILE}, "ns", "lower", 5.0)]
    evaluation = evaluate(Maker(factors={"a": same, "b": same}, chosen=chosen).make())
    markdown = export.to_markdown(evaluation)
    assert r"a\|b & c\_d 100% {x} \~^\\ \<i\> \#1 \`q\` \*z\* \[l\]" in markdown
    assert (
        r"a|b \& c\_d 100\% \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} <i> \#1"
        in export.to_latex(evaluation)
    )


def test_latex_escape_covers_its_specials():
    for character in r"\&%$#_{}~^":
        assert escaping.latex(character) != character


def test_one_system_exports_its_means():
    evaluation = evaluate(Maker(factors={"a": same}, chosen=items()[:4]).make())
    lines = list(csv.DictReader(io.StringIO(export.to_csv(evaluation), newline="")))
    assert [line["system"] for line in lines] == ["a"] * 4
    assert area_table.headings(evaluation) == ["Metric", "a", "Unit"]
