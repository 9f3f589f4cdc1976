"""Tables in every format: nothing that is printed is lost on the way."""

from __future__ import annotations

import csv
import html.parser
import io
import json

import pytest
from rich.console import Console

from pentathlon.literature.grid import figure_grid, figure_points, table_grid
from pentathlon.literature.load import find_study, load_all
from pentathlon.literature.tables import Table
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.grid import Grid, GridCell
from pentathlon.tables.html import html_text, to_html
from pentathlon.tables.latex import latex, to_latex
from pentathlon.tables.markdown import to_markdown
from pentathlon.tables.terminal import to_rich

EVERY = [(study.id, table.id) for study in load_all() for table in study.tables]


def grid_of(study: str, table: str) -> Grid:
    found = find_study(study)
    return table_grid(found, found.table(table))


@pytest.mark.parametrize(("study", "table"), EVERY)
def test_csv_gives_every_cell_back(study: str, table: str) -> None:
    grid = grid_of(study, table)
    read = list(csv.reader(io.StringIO(to_csv(grid), newline="")))
    assert read[0] == grid.full_headings
    assert read[1:] == [["" if c.missing else c.text for c in row] for row in grid.rows]
    printed = {
        cell.text for row in find_study(study).table(table).row for cell in row.values.values()
    }
    assert printed <= {text for row in read[1:] for text in row} | {"missing"}


@pytest.mark.parametrize(("study", "table"), EVERY)
def test_json_gives_the_table_back(study: str, table: str) -> None:
    one = find_study(study).table(table)
    text = one.model_dump_json(exclude_none=True, exclude_defaults=True)
    assert Table.model_validate(json.loads(text)) == one


class Cells(html.parser.HTMLParser):
    """The texts of the td elements, row by row; unclosed tags are errors."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.rows[-1][-1] += data


@pytest.mark.parametrize(("study", "table"), EVERY)
def test_html_is_whole_and_gives_every_cell_back(study: str, table: str) -> None:
    grid = grid_of(study, table)
    parser = Cells()
    parser.feed(to_html(grid))
    assert not parser.open
    body = [row for row in parser.rows if row]
    # Symbols such as v_Mrd lose their underscore, which is markup there.
    expected = [[cell.marked.replace("_", "") for cell in row] for row in grid.rows]
    assert [[cell.replace("_", "") for cell in row] for row in body] == expected


@pytest.mark.parametrize(("study", "table"), EVERY)
def test_latex_has_a_cell_for_each_column(study: str, table: str) -> None:
    grid = grid_of(study, table)
    text = to_latex(grid)
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == len(grid.rows)
    for line in body:
        assert line.replace(r"\&", "").count("&") == len(grid.headings) - 1
        assert "%" not in line.replace(r"\%", "")


def test_special_characters_are_escaped() -> None:
    cell = GridCell('a & b <i> 50 % _x_ | "q"', reconstructed=True)
    grid = Grid("t", ("",), ("h",), (False,), ((cell,),), ("note 1 % & <b>",))
    assert "a &amp; b &lt;i&gt; 50 % _x_" in to_html(grid)
    assert r"a \& b <i> 50 \% \_x\_" in to_latex(grid)
    assert r"\| " in to_markdown(grid)
    console = Console(file=io.StringIO(), width=100)
    console.print(to_rich(grid))
    assert "a & b <i> 50 % _x_" in console.file.getvalue()  # type: ignore[attr-defined]


def test_markup_in_a_cell_stays_text() -> None:
    grid = Grid("[red]t", ("",), ("h",), (False,), ((GridCell("[bold]x[/]"),),))
    console = Console(file=io.StringIO(), width=60)
    console.print(to_rich(grid))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[bold]x[/]" in shown and "[red]t" in shown


def test_symbols_are_set_as_symbols() -> None:
    assert latex("v_Mrd - 8 MB") == r"$v_{\mathrm{Mrd}}$ - 8 MB"
    assert html_text("t_L1") == "<i>t</i><sub>L1</sub>"
    assert html_text("vista_x") == "vista_x"


def test_damage_is_shown() -> None:
    grid = grid_of("tolly2007", "b2-open-wan")
    lost = [row for row in grid.rows if row[-1].missing]
    assert len(lost) == 4
    assert any(note.startswith("missing: ") for note in grid.notes)
    assert any(note.startswith("† ") for note in grid.notes)
    assert "32.72†" in to_markdown(grid)


def test_a_footer_says_of_which_rows_less_is_better() -> None:
    """A cache size and a clock stand in the same table as times."""
    notes = grid_of("venkata2003", "text").notes
    (less,) = [note for note in notes if note.startswith("Less is better")]
    assert less.startswith("Less is better in Disk access per KB, fread, Linux; ")
    assert "size" not in less and "clock" not in less


@pytest.mark.parametrize(("study", "table"), EVERY)
def test_a_footer_of_all_rows_stands_where_all_rows_have_that_direction(
    study: str, table: str
) -> None:
    directions = {row.direction for row in find_study(study).table(table).row}
    notes = set(grid_of(study, table).notes)
    assert ("Less is better." in notes) == (directions == {"lower"})
    assert ("More is better." in notes) == (directions == {"higher"})


def test_figures_hold_the_numbers_of_their_tables() -> None:
    study = find_study("venkata2003")
    figure = study.figure("Figure 20")
    assert figure is not None
    points = figure_points(study, figure)
    assert len(points) == 2 * 17
    assert {"series": "read-write", "x": "1", "printed": "519.436"} in points
    grid = figure_grid(study, figure)
    assert [cell.text for cell in grid.rows[0]] == ["1", "26.487", "519.436"]
