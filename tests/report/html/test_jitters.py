"""The pictures of jitter over time: cases apart, systems together, no more than can be seen."""

from __future__ import annotations

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.protocol.events import read
from pentathlon.report.html import jitters, page
from pentathlon.report.html.payload import short
from tests.fakes.synthetic import Item, Maker, same

SYSTEMS = ("uml-6.1", "uml-7.2")
NAMES = ("throughput", "lost", "delay", "ipdv", "jitter", "round_trip")


@pytest.fixture(scope="module")
def result():
    items = [
        Item("network.traffic", name, {"protocol": "udp"}, "ms", "lower", 1.0) for name in NAMES
    ]
    return Maker(factors=dict.fromkeys(SYSTEMS, same), chosen=items).make()


def event(size: int, points, phase: str = "measure", flows: int = 1):
    flow = {"name": "first", "jitter": points}
    more = [{"name": f"flow {n}", "jitter": points} for n in range(1, flows)]
    document = {
        "event": "packets", "index": 0, "workload": "network.traffic", "iteration": 0, "t_ns": 1,
        "case": {"size_bytes": size}, "phase": phase, "flows": [flow, *more], "hosts": [{}, {}],
    }  # fmt: skip
    return read(document).event


def panels(result, trials):
    result.trials = lambda: trials
    try:
        return jitters.payload(evaluate(result), result, short)
    finally:
        del result.trials


def test_systems_lie_over_each_other_in_ms(result):
    points = [[0.0, 1e-6, 2e-6], [0.5, 3e-6, 4e-6]]
    found = panels(
        result, [(name, block, event(64, points)) for name in SYSTEMS for block in (0, 1)]
    )
    (panel,) = found["p"]
    assert [(system, block) for system, block, _ in panel["l"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert panel["l"][0][2] == [[0, 0.001], [0.5, 0.003]]


def test_only_what_was_measured_and_is_known_is_drawn(result):
    points = [[0.0, 1e-6, 2e-6]]
    assert panels(result, [(SYSTEMS[0], 0, event(64, points, "warmup"))]) == {}
    assert panels(result, [(SYSTEMS[0], 0, event(64, None)), ("gone", 0, event(64, points))]) == {}


def test_no_more_than_can_be_seen_is_drawn(result):
    points = [[0.0, 1e-6, 2e-6]]
    many = [(SYSTEMS[0], block, event(size, points)) for size in range(50) for block in range(9)]
    found = panels(result, many)
    assert found["n"] == 50
    assert len(found["p"]) == jitters.PANELS == len({panel["t"] for panel in found["p"]})
    assert {len(panel["l"]) for panel in found["p"]} == {jitters.LINES}


def test_flows_of_one_trial_have_panels_of_their_own(result):
    found = panels(result, [(SYSTEMS[0], 0, event(64, [[0.0, 1e-6, 2e-6]], flows=2))])
    assert len(found["p"]) == 2


def test_the_page_has_a_place_for_them(result):
    assert 'data-kind="jitter"' in page.render(evaluate(result), result)
