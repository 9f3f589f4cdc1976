"""What a competitor changes in forwarding: planted changes come back inside their intervals."""

from __future__ import annotations

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.derived.model import Mean
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, same

pytestmark = pytest.mark.slow


def hurt(item: Item) -> float:
    """A system whose forwarding the competitor harms more, by a tenth."""
    return 0.9 if item.case["competitor"] != "none" and item.metric != "lost" else 1.0


def found(items, **settings):
    maker = Maker(factors={"uml-6.1": same, "uml-7.2": hurt}, chosen=list(items), **settings)
    return evaluate(maker.make()).derived.competitions


def holds(mean: Mean | None, truth: float) -> bool:
    assert mean is not None and mean.low is not None and mean.high is not None
    return mean.low <= truth <= mean.high


def test_planted_changes_are_inside_their_intervals():
    first, second = found(planted.forwarding())
    assert (first.system, second.system) == ("uml-6.1", "uml-7.2")
    assert first.loads == (10, 20, 40)
    alone, beside = planted.FORWARD_CAPACITY
    assert holds(first.capacity, beside / alone)
    assert holds(second.capacity, 0.9 * beside / alone)
    assert holds(first.delay, planted.FORWARD_DELAY)
    assert holds(second.delay, planted.FORWARD_DELAY / 0.9)
    # Only the highest of the three loads is beyond the capacity: 25 % lost without, 40 % with.
    assert holds(first.lost, 15 / 3)
    assert first.speed is not None and first.slowest is not None
    assert first.speed.value == pytest.approx(100 - 70 / 3, rel=0.02)
    assert first.slowest.value == pytest.approx(60, rel=0.02)


def test_systems_are_compared_by_what_the_competitor_changes():
    first, second = found(planted.forwarding())
    assert first.against is None and second.against is not None
    assert holds(second.against.capacity, 0.9)
    assert holds(second.against.delay, 1 / 0.9)
    assert second.against.lost is not None


def test_the_change_at_each_load_is_told():
    first, _ = found(planted.forwarding())
    each = {one.load_kpps: one for one in first.each}
    assert holds(each[40].throughput, 24 / 30)
    assert holds(each[10].throughput, 1.0)
    assert each[40].lost is not None and each[40].lost.value == pytest.approx(15, abs=1)


def test_intervals_hold_the_truth_in_19_of_20_results():
    hits = 0
    for seed in range(20):
        first, _ = found(planted.forwarding(0.02), seed=seed)
        hits += holds(first.delay, planted.FORWARD_DELAY)
    assert hits >= 17


def test_loads_measured_one_way_only_do_not_count():
    items = [
        one
        for one in planted.forwarding()
        if not (one.case["competitor"] == "none" and one.case["offered_kpps"] == 40)
    ]
    first, _ = found(items)
    assert first.loads == (10, 20)
    assert holds(first.capacity, 1.0)


def test_searched_loads_are_judged_by_their_shares_and_the_limit():
    first, second = found(planted.searched_forwarding())
    assert (first.factor, first.loads) == ("load_percent", planted.FORWARD_SHARES)
    alone, beside = planted.FORWARD_CAPACITY
    assert first.knee is not None and first.knee.value == pytest.approx(1e3 * alone, rel=0.03)
    assert holds(first.capacity, beside / alone)
    assert holds(second.capacity, 0.9 * beside / alone)
    assert second.against is not None and holds(second.against.capacity, 0.9)
    assert holds(first.delay, planted.FORWARD_DELAY)
    each = {one.load_percent: one for one in first.each}
    assert holds(each[100].throughput, beside / alone)
    assert holds(each[50].throughput, 1.0)
    assert each[100].load_kpps is None
    assert any("100 % are" in text for text in first.words)


def test_listed_and_searched_loads_are_not_joined():
    both = found([*planted.forwarding(), *planted.searched_forwarding()])
    assert [(one.system, one.factor) for one in both] == [
        (system, factor)
        for factor in ("offered_kpps", "load_percent")
        for system in ("uml-6.1", "uml-7.2")
    ]
    assert [one.loads for one in both[::2]] == [planted.FORWARD_LOADS, planted.FORWARD_SHARES]
    assert both[0].knee is None


def test_without_a_competitor_there_is_nothing_to_tell():
    assert found(one for one in planted.forwarding() if one.case["competitor"] == "none") == ()


def test_one_boot_has_no_interval():
    first, _ = found(planted.forwarding(), blocks=1)
    assert first.capacity is not None and first.capacity.low is None
    assert "one boot, so no interval" in first.words
