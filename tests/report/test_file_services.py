"""The section of the file services: tables, pictures and sentences from the same numbers."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import polars as pl

from pentathlon.evaluate import evaluate
from pentathlon.report import file_services
from pentathlon.report.experiments import registry
from pentathlon.report.experiments.entry import Section, Shown
from pentathlon.report.html import page as html
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Maker, same

FACTORS = {"old": same, "new": planted.newer_client}


def result():
    return Maker(
        factors=FACTORS, ends=planted.FILE_ENDS, chosen=list(planted.file_tasks()), blocks=3
    ).make()


def test_a_sheet_has_appendix_b_with_the_least_time_beside_each_cell():
    (sheet,) = file_services.sheets(evaluate(result()))
    assert sheet.figure == "Figure 1"
    assert [link.name for link in sheet.links] == list(planted.FILE_LINKS)
    old, new = sheet.links[0].lines
    assert (old.client, old.server, old.phase) == ("xp", "server-2003", "reference")
    assert new.phase == "phase 2, both upgraded"
    assert abs(float(new.faster) - planted.FILE_GAIN) < 0.1 and " to " in new.faster_interval
    assert abs(float(old.least) - 8.7) < 0.3 and float(old.over_least) > 3


def test_only_the_reference_is_called_so_where_it_is_missing_on_a_link():
    made = result()
    gone = (pl.col("system") == "old") & pl.col("case").str.contains("link=wan-10m-50ms")
    made.tables["samples"] = made.tables["samples"].filter(~gone)
    (sheet,) = file_services.sheets(evaluate(made))
    phases = {(link.name, line.system): line.phase for link in sheet.links for line in link.lines}
    assert phases == {
        ("wan-10m-50ms", "new"): "reference not measured here",
        ("wan-1m-200ms", "old"): "reference",
        ("wan-1m-200ms", "new"): "phase 2, both upgraded",
    }


def test_the_legend_has_the_shapes_of_the_plots():
    """The CSS shape of each system's dot is the symbol that Observable Plot draws for it."""
    assets = files("pentathlon.report.html") / "assets"
    script = (assets / "report.js").read_text(encoding="utf-8")
    style = (assets / "report.css").read_text(encoding="utf-8")
    symbols = json.loads(re.search(r"const SYMBOLS = (\[.*?\]);", script)[1])
    shapes = {
        "circle": "border-radius: 50%", "square": "border-radius: 0",
        "diamond": "rotate(45deg)", "triangle": "polygon(50% 0, 100% 100%, 0 100%)",
        "star": "polygon(50% 0, 61% 35%", "cross": "polygon(33% 0, 67% 0, 67% 33%",
    }  # fmt: skip
    assert len(symbols) == 6
    for place, symbol in enumerate(symbols):
        name = f".dot.s{place}" if place else ".dot"
        rule = re.search(rf"{re.escape(name)} \{{(.*?)\}}", style)[1]
        assert shapes[symbol] in rule, symbol
    for page in ("papers.html.j2", "report.html.j2"):
        assert "dot s{{ loop.index0 }}" not in (assets / page).read_text(encoding="utf-8")
    # The seventh system has the colour and the shape of the sixth, in legend and plot.
    assert 'while (SYMBOLS.length < systems.length) SYMBOLS.push("cross");' in script


def test_pictures_hold_the_numbers_of_the_table():
    evaluation = evaluate(result())
    (picture,) = file_services.payload(evaluation, lambda value: value)
    (task, _) = evaluation.derived.file_tasks
    assert picture["l"] == list(planted.FILE_LINKS)
    link, system, mean, low, high, least = picture["t"][0]
    assert (link, system, mean) == (0, 0, task.cells[0].time.value)
    assert low < mean < high and least == task.cells[0].least
    assert [one[:2] for one in picture["f"]] == [[0, 1], [1, 1]]


def test_the_page_has_the_section_only_where_there_are_file_tasks():
    made = result()
    page = html.render(evaluate(made), made)
    assert 'id="file-services"' in page and 'data-kind="file_services"' in page
    other = Maker(blocks=2, iterations=2).make()
    assert 'id="file-services"' not in html.render(evaluate(other), other)


def test_each_experiment_fills_its_own_section(monkeypatch):
    """The page knows sections by the registry alone."""
    made = result()
    monkeypatch.setattr(registry, "SHOWN", ())
    assert 'id="file-services"' not in html.render(evaluate(made), made)
    values = {"sheets": (), "links": (), "caption": "", "emulated_links": None}
    other = Section("other", "Another title", "file_services.html.j2", values)
    monkeypatch.setattr(registry, "SHOWN", (Shown("other", section=lambda _: other),))
    page = html.render(evaluate(made), made)
    assert '<a href="#other">Another title</a>' in page and '<section id="other">' in page


def test_the_tables_of_the_study_are_filled():
    from pentathlon.literature.filled.fill import fill  # noqa: PLC0415

    table, machines = (one for one in fill(evaluate(result())) if one.study == "tolly2007")
    assert (table.id, machines.id) == ("b1-copy-wan", "appendix-a")
    first = table.lines[0]
    assert first.label == "10 Mbps, 50 ms: time" and first.unit == "s"
    assert abs(float(first.cells[0].text) - 30.6) < 1
