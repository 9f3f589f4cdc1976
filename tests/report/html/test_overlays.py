"""The figures over offered load: every mean is a point with its interval, in the paper's order."""

from __future__ import annotations

import re

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.html import overlays, page
from pentathlon.report.html.payload import short
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Maker, same


@pytest.fixture(scope="module")
def result():
    systems = {"uml-6.1": same, "uml-7.2": same}
    return Maker(factors=systems, chosen=list(planted.forwarding()), iterations=1).make()


@pytest.fixture(scope="module")
def panels(result):
    (found,) = overlays.payload(evaluate(result), short)
    assert found["c"] == ["none", "cpu.simplex"]
    return {panel["t"]: panel for panel in found["p"]}


def test_panels_stand_in_the_order_of_the_figures(panels):
    titles = list(panels)
    assert [panels[title]["f"][:6] for title in titles[:3]] == ["Fig. 2", "Fig. 2", "Fig. 3"]
    assert titles[-3:] == [
        "Throughput, change by the competitor",
        "Loss, change by the competitor",
        "Round-trip time, change by the competitor",
    ]


def test_every_mean_is_a_point_inside_its_interval(panels, result):
    evaluation = evaluate(result)
    shown = [
        point
        for panel in panels.values()
        if "change" not in panel["t"]
        for _, _, line in panel["l"]
        for point in line
    ]
    assert len(shown) == sum(len(row.summaries) for row in evaluation.rows)
    assert all(low <= mean <= high for _, mean, low, high in shown)


def test_systems_and_competitors_lie_over_each_other(panels):
    first = next(iter(panels.values()))
    assert [(s, c) for s, c, _ in first["l"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert first["o"] == 1


def test_searched_loads_have_panels_of_their_own():
    items = [*planted.forwarding(), *planted.searched_forwarding()]
    made = Maker(factors={"uml-6.1": same}, chosen=items, iterations=1).make()
    (found,) = overlays.payload(evaluate(made), short)
    listed, searched = (
        [panel for panel in found["p"] if panel["x"] == overlays.X_TITLES[factor]]
        for factor in ("offered_kpps", "load_percent")
    )
    assert len(listed) + len(searched) == len(found["p"])
    assert [panel["f"] for panel in searched[:3]] == [panel["f"] for panel in listed[:3]]
    assert "change by the competitor" in searched[-1]["t"]
    for panel in searched:
        assert panel["o"] == 0
        assert {x for _, _, line in panel["l"] for x, *_ in line} <= set(planted.FORWARD_SHARES)


def test_the_page_says_what_the_competitor_changes(result):
    text = re.sub(r"<[^>]+>", " ", page.render(evaluate(result), result))
    assert "keeps" in text and "of its speed" in text
    assert "Figures 5 and 6" in text
