"""One result full of hostile text, through every writer: nothing acts, nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest
from rich.text import Text

from pentathlon.cli.screen import Screen
from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.exchange import packets
from pentathlon.report.export import files
from pentathlon.report.html import page as html
from pentathlon.report.terminal import screen as terminal
from pentathlon.safeio import escaping
from pentathlon.store import schema
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.grid import Grid, GridCell
from pentathlon.tables.html import to_html
from pentathlon.tables.latex import to_latex
from pentathlon.tables.markdown import to_markdown
from pentathlon.tables.terminal import to_rich
from tests.fakes.synthetic import Item, Maker, Synthetic, same

ACTS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202eevil\u2066\u2028"
LATEX = r"\input{/etc/passwd}\write18{id}$x$%\\[1pt]^^M"
MARKDOWN = (
    "\r\n# heading\n| cell | <img src=x onerror=alert(1)> `code` [a](javascript:x) &lt; www.x.y"
)
HTML = "</script><script>alert(1)</script><b onclick=x>\"'"
FORMULAS = ("=cmd|'/c calc'!A0", "+1+cmd", "-1+cmd", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1")
WORST = f"{ACTS}{LATEX}{MARKDOWN}{HTML}"


@pytest.fixture(scope="module")
def result() -> Synthetic:
    chosen = [
        Item(f"{WORST}.{n}x", f"in{WORST}", {"variant": f"{one}{WORST}"}, one + WORST, "lower", 5.0)
        for n, one in enumerate(FORMULAS)
    ]
    made = Maker(factors={"a": same, "b": lambda _: 1.2}, chosen=chosen).make()
    names = {"a": f"=a{WORST}", "b": f"@b{WORST}"}
    failure = {
        "block": 0, "system": "b", "boot": "0.b.0", "attempt": 0, "stage": "step",
        "workload": f"=w{WORST}", "workload_order": 0, "process": 0, "case": f"=c{WORST}",
        "kind": "failed", "reason": f"=r{WORST}", "resolved": False, "utc": "2026-01-05T10:00:00Z",
    }  # fmt: skip
    made.tables["failures"] = pl.DataFrame([failure], schema=schema.FAILURES)
    reported = made.tables["inventory"]
    made.tables["inventory"] = reported.with_columns(
        pl.when(pl.col("path") == "kernel.release")
        .then(pl.concat_str(pl.lit(json.dumps(f"=i{WORST}")[:-1]), pl.col("system"), pl.lit('"')))
        .otherwise(pl.col("value_json"))
        .alias("value_json")
    )
    made.tables = {
        name: table.with_columns(pl.col("system").replace(names))
        for name, table in made.tables.items()
    }
    study = made.plan.study
    made.plan = made.plan.model_copy(
        update={
            "study": study.model_copy(
                update={
                    "title": f"=t{WORST}",
                    "question": f"- q{WORST}",
                    "reference": names[study.reference],
                    "systems": tuple(
                        one.model_copy(update={"name": names[one.name]}) for one in study.systems
                    ),
                }
            ),
            "targets": {names[name]: one for name, one in made.plan.targets.items()},
            "steps": {names[name]: one for name, one in made.plan.steps.items()},
            "blocks": tuple(
                tuple(boot.model_copy(update={"system": names[boot.system]}) for boot in block)
                for block in made.plan.blocks
            ),
        }
    )
    return made


@pytest.fixture(scope="module")
def evaluation(result: Synthetic) -> Evaluation:
    return evaluate(result)


@pytest.fixture
def grid() -> Grid:
    return Grid(
        title=WORST,
        groups=("", WORST),
        headings=tuple(f"{one}{WORST}" for one in ("=h", "*[")),
        numeric=(False, True),
        rows=tuple((GridCell(f"{one}{WORST}"), GridCell("", value=-1.5)) for one in FORMULAS),
        notes=(WORST, f"- {WORST}"),
    )


def acting(text: str) -> list[str]:
    """Characters that act, besides the ends of lines."""
    return [one for one in text if one not in "\r\n" and escaping.control(one)]


def fields(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_no_field_of_csv_is_a_formula_and_numbers_stay_numbers(
    evaluation: Evaluation, grid: Grid
) -> None:
    for text in (files.to_csv(evaluation), to_csv(grid)):
        assert not acting(text)
        for field in (one for line in fields(text) for one in line):
            begins = field.lstrip()
            assert not begins.startswith(("=", "+", "@", "＝")), field
            if begins.startswith("-"):
                float(field)
    assert [line[1] for line in fields(to_csv(grid))[1:]] == ["-1.5"] * len(FORMULAS)
    lines = list(csv.DictReader(io.StringIO(files.to_csv(evaluation), newline="")))
    slower = [float(one["difference_percent"]) for one in lines if one["difference_percent"]]
    assert len(slower) == len(FORMULAS) and all(one < 0 for one in slower)


def test_packets_of_a_foreign_table_hold_no_formula() -> None:
    table = pl.DataFrame({"=flow": list(FORMULAS), "late_ns": [-1] * len(FORMULAS)})
    head, *lines = fields(packets.csv(table))
    assert head == ["'=flow", "late_ns"]
    assert all(one.startswith("'") and number == "-1" for one, number in lines)


COMMANDS = {
    "begin", "end", "caption", "label", "toprule", "midrule", "bottomrule", "endfirsthead",
    "endhead", "endfoot", "endlastfoot", "noindent", "textbf", "par", "footnotesize", "usepackage",
    "textbackslash", "textasciitilde", "textasciicircum", "textmu", "dots", "textdagger", "delta",
    "pm", "times", "infty", "mathrm", "begingroup", "endgroup", "setlength", "tabcolsep",
    "linewidth", "scriptsize", "tiny", "raggedleft", "raggedright", "arraybackslash",
}  # fmt: skip


def test_latex_has_no_command_but_our_own(evaluation: Evaluation, grid: Grid) -> None:
    for text in (files.to_latex(evaluation), to_latex(grid)):
        assert not acting(text) and "^^" not in text
        found = set(re.findall(r"\\([A-Za-z]+)", text.replace(r"\\", "\n")))
        assert found <= COMMANDS, found - COMMANDS
        for label in re.findall(r"\\label\{([^}]*)\}", text):
            assert re.fullmatch(r"[A-Za-z0-9.:-]+", label)
        # A row that begins with [ or * would be an argument of the row's end before it.
        assert not re.search(r"\\\\\s*[\[*]", text)
        for line in text.splitlines():
            bare = re.sub(r"\\[\\{}%$#&_^~]", "", line)
            assert bare.count("{") == bare.count("}"), line


def test_markdown_has_no_heading_cell_or_tag_but_our_own(
    evaluation: Evaluation, grid: Grid
) -> None:
    text = files.to_markdown(evaluation)
    assert not acting(text) and "\r" not in text
    ours = [line for line in text.splitlines() if line.startswith("#")]
    areas = [f"## {escaping.markdown(area.capitalize())}" for area in evaluation.areas]
    assert ours == [f"# {escaping.markdown(evaluation.study.title)}", *areas, "## Not measured"]
    for one in (text, to_markdown(grid)):
        bare = re.sub(r"\\[^A-Za-z0-9\s]", "", one).replace(f"`{evaluation.study.plan_hash}`", "")
        # What is left of marks is our own: headings, bold text, quotes, tables.
        assert not re.search(r"<|`|\]\(|&lt|www\.", bare)
        cells = {line.count("|") for line in bare.splitlines() if line.startswith("|")}
        assert len(cells) == 1, cells


class Page(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_html_has_no_element_or_attribute_but_our_own(
    evaluation: Evaluation, result: Synthetic, grid: Grid
) -> None:
    for text in (html.render(evaluation, result), to_html(grid)):
        page = Page()
        page.feed(text)
        assert not [one for one in page.found if one[0] == "img" or "onclick" in one[1]]
        assert "alert(1)</script>" not in text
        for _, attributes in page.found:
            assert not str(attributes.get("href")).startswith("javascript")


def test_nothing_acts_on_the_terminal(evaluation: Evaluation, grid: Grid) -> None:
    for full in (False, True):
        file = io.StringIO()
        screen = Screen(stderr=False)
        screen.file = file
        terminal.render(evaluation, screen, full=full)
        screen.print(to_rich(grid))
        screen.print(Text(WORST), WORST)
        text = file.getvalue()
        assert "evil" in text and "\\x1b]0;owned" in text.replace("\n", "")
        assert not acting(text)


def test_json_holds_everything_and_nothing_that_acts(
    evaluation: Evaluation, capsys: pytest.CaptureFixture[str]
) -> None:
    text = files.to_json(evaluation)
    assert not acting(text)
    assert Evaluation.model_validate_json(text) == evaluation
    for worst in (WORST, "\U000e0041"):
        shown = escaping.json_document(json.dumps({worst: worst}, ensure_ascii=False))
        assert not acting(shown) and json.loads(shown) == {worst: worst}


def test_fields_of_csv() -> None:
    for text in FORMULAS:
        assert str(escaping.csv_field(text)).startswith("'")
    for same_text in ("", "-", "-1.5", "+3", "1e5", "-14.56%", "a=b", "–", "−3", "N/A"):
        assert escaping.csv_field(same_text) == same_text
    assert escaping.csv_field(-1.5) == -1.5 and escaping.csv_field(None) == ""
