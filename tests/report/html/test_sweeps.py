"""Pictures over chunks, pieces and code: panels, marks where the derived figures lie."""

from __future__ import annotations

import base64
import json
import re
import zlib

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.html import page as html
from pentathlon.report.html import sweeps, view
from pentathlon.report.html.payload import short
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import KIB, Maker, same

SYSTEMS = {"uml-6.1": same, "uml-7.2": same}


@pytest.fixture(scope="module")
def result():
    chosen = [
        *planted.sub_looping(), *planted.order(), *planted.regions(), *planted.access(),
        *planted.code_size(sizes=planted.CODE_SIZES[:24]),
    ]  # fmt: skip
    return Maker(factors=SYSTEMS, chosen=chosen, iterations=1).make()


@pytest.fixture(scope="module")
def panels(result):
    found = sweeps.payload(evaluate(result), short)
    return {one["w"]: {panel["t"]: panel for panel in one["p"]} for one in found}


def test_every_mean_is_a_point(panels, result):
    evaluation = evaluate(result)
    points = sum(
        len(line) for one in panels.values() for panel in one.values() for line in panel["l"]
    )
    ratios = sum(len(one.points) for one in evaluation.derived.read_ahead)
    assert points == sum(len(row.summaries) for row in evaluation.rows) + ratios


def test_the_best_piece_is_marked_on_its_panel(panels):
    assert list(panels["memory.sub_looping"]) == ["8 MiB total", "32 MiB total"]
    for panel in panels["memory.sub_looping"].values():
        assert [mark[3] for mark in panel["m"]] == [planted.BEST_PIECE] * 2


def test_boundaries_are_on_the_read_curve_only(panels):
    marked = {title: len(panel["m"]) for title, panel in panels["memory.regions"].items()}
    assert sorted(marked.values()) == [0, 4]


def test_knees_stand_beside_the_claimed_caches(panels):
    panel = panels["memory.code_size"]["optimisation level 3"]
    assert [32 * KIB, "L1i 32 KiB"] in panel["r"]
    assert all(low <= 32 * KIB <= high for _, low, high, _ in panel["m"])


def test_the_read_ahead_is_on_the_ratio(panels):
    panel = panels["disk.order"]["sequential / random_aligned"]
    assert panel["r"] == [[64 * KIB, "read_ahead 64 KiB"]]
    assert all(low <= 64 * KIB <= high for _, low, high, _ in panel["m"])


def test_panels_of_an_interface_stand_together(panels):
    interfaces = [title.partition(",")[0] for title in panels["disk.access"]]
    assert interfaces == sorted(interfaces, key=interfaces.index)
    assert len(set(interfaces)) == 6


def test_the_page_says_what_the_curves_show(result):
    page = html.render(evaluate(result), result)
    text = re.sub(r"<[^>]+>", " ", page)
    assert "64 KiB is shown to be better than every other piece" in text
    assert "which agrees" in text
    assert "cache–RAM latency" in text
    stream = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
    assert len(json.loads(zlib.decompress(base64.b64decode(stream)))["sweeps"]) == 5


def test_the_same_result_gives_the_same_page(result):
    assert html.render(evaluate(result), result) == html.render(evaluate(result), result)


def test_undivided_totals_are_named(result):
    (area,) = [one for one in view.areas(evaluate(result)) if one.name == "memory"]
    (part,) = [one for one in area.parts if "sub_looping" in one.anchor]
    assert {curve for _, curve, _ in part.levels} == {"8 MiB total", "32 MiB total"}
