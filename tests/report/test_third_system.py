"""Three systems, where a case is measured by neither the reference nor the system compared."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import polars as pl
import pytest
from rich.console import Console

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.report.export import files
from pentathlon.report.html import page as html
from pentathlon.report.terminal.screen import render
from tests.fakes.synthetic import Item, Maker, Synthetic, same

ITEMS = [Item("w.shared", "time", {"n": n}, "ns", "lower", 100.0) for n in range(3)] + [
    Item("w.only_c", "time", {}, "ns", "lower", 100.0)
]


def slow(_: Item) -> float:
    return 0.5


@pytest.fixture(scope="module")
def made() -> Synthetic:
    """The case n=2 and the workload w.only_c are measured by c alone; w.shared n=1 not by b."""
    found = Maker(factors={"a": same, "b": same, "c": slow}, chosen=ITEMS, blocks=3).make()
    case, system, workload = pl.col("case"), pl.col("system"), pl.col("workload")
    alone = ((case == "n=2") | (workload == "w.only_c")) & (system != "c")
    found.tables["samples"] = found.tables["samples"].filter(~alone)
    return found


@pytest.fixture(scope="module")
def evaluation(made: Synthetic) -> Evaluation:
    return evaluate(made)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_shows_every_row_of_the_pair_that_measured_it(
    evaluation: Evaluation, full: bool, width: int
) -> None:
    text = io.StringIO()
    render(evaluation, Console(file=text, width=width), full)
    of_b, of_c = text.getvalue().split("c against a", 1)
    assert "Only c" not in of_b[of_b.index("b against a") :] and "Only c" in of_c
    assert "1 not measured" not in of_b


def test_one_that_only_another_system_measured_leaves_no_empty_table() -> None:
    found = Maker(factors={"a": same, "b": same, "c": same}, chosen=ITEMS, blocks=2).make()
    alone = (pl.col("system") == "c") | (pl.col("workload") == "w.only_c")
    found.tables["samples"] = found.tables["samples"].filter(alone & (pl.col("system") == "c"))
    text = io.StringIO()
    render(evaluate(found), Console(file=text, width=160))
    assert "W  b against a" not in text.getvalue() and "W  c against a" in text.getvalue()


class Cells(HTMLParser):
    """The cells of each row of the tables of results, by the row's id."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, list[str]] = {}
        self._cells: list[str] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if tag == "tr":
            name = found.get("id") or ""
            self._cells = self.rows.setdefault(name, []) if name.startswith("row-") else None
        elif tag in {"td", "th"} and self._cells is not None:
            self._cells.append("")

    def handle_data(self, data: str) -> None:
        if self._cells:
            self._cells[-1] += data


def test_each_verdict_of_the_page_stands_under_its_own_system(
    evaluation: Evaluation, made: Synthetic
) -> None:
    page = Cells()
    page.feed(html.render(evaluation, made))
    assert len(page.rows) == len(evaluation.rows)
    for place, row in enumerate(evaluation.rows):
        cells = page.rows[f"row-{place}"]
        # Name, three means, unit; then speed and verdict of b, and of c.
        assert len(cells) == 1 + 3 + 1 + 2 + 2, cells
        for start, name in ((5, "b"), (7, "c")):
            own = row.comparison(name)
            if own is None:
                assert [cell.strip() for cell in cells[start : start + 2]] == ["–", "–"]
            else:
                assert own.words in cells[start + 1]


def test_each_export_has_the_verdict_in_its_own_column(evaluation: Evaluation) -> None:
    lines = csv.DictReader(io.StringIO(files.to_csv(evaluation), newline=""))
    found = {(line["key"], line["system"]): line["verdict"] for line in lines}
    for row in evaluation.rows:
        for name in ("b", "c"):
            own = row.comparison(name)
            assert found[row.key, name] == ("" if own is None else own.verdict.value)
    for line in files.to_markdown(evaluation).splitlines():
        if line.startswith("| Only c"):
            assert [cell.strip() for cell in line.split("|")[6:9]] == ["–", "–", "–"]
