"""Weighted means, dominance and sensitivity: known answers and planted truths."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import polars as pl
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.aggregate.aggregate import weighted_geometric_mean
from pentathlon.evaluate.aggregate.weights import Place, row_weights
from pentathlon.study.model import Study
from tests.fakes.synthetic import Item, Maker, same

CALL = Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.004)
FORK = Item("process.fork_wait", "time", {}, "ns", "lower", 6e4, 0.004)
READ = [
    Item("memory.read", "bandwidth", {"block_bytes": size}, "MB/s", "higher", 5e4, 0.004)
    for size in (1024, 4096, 16384)
]
ITEMS = [CALL, FORK, *READ]


def two(factor=1.0, **settings):
    """Two systems of one layer; the second is `factor` times as fast."""
    return Maker(factors={"a": same, "b": lambda _: factor}, **settings).make()


def weighed(result, **weights):
    study: Study = result.plan.study.model_copy(update={"weights": weights})
    return dataclasses.replace(result, plan=result.plan.model_copy(update={"study": study}))


def trade(item: Item) -> float:
    """Calls 20 % faster, memory 10 % slower."""
    return 1.20 if item.workload.startswith("process.") else 0.90


def traded(blocks=10, **weights):
    made = Maker(factors={"a": same, "b": trade}, chosen=ITEMS, blocks=blocks, noise=0.5).make()
    return evaluate(weighed(made, **weights))


def test_formula_2_of_the_paper():
    assert weighted_geometric_mean([10.0, 40.0], [1, 1]) == pytest.approx(20.0)
    assert weighted_geometric_mean([10.0, 40.0], [3, 1]) == pytest.approx(10 * 4**0.25)
    # The ratio of two means is the mean of the ratios.
    first, second, weights = [3.0, 5.0, 8.0], [4.0, 4.0, 9.0], [1, 2, 5]
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    assert weighted_geometric_mean(first, weights) / weighted_geometric_mean(
        second, weights
    ) == pytest.approx(weighted_geometric_mean(ratios, weights))


def test_weights_go_from_areas_to_cases():
    places = [
        Place("m1", "memory", "memory.read", "bandwidth"),
        Place("m2", "memory", "memory.read", "bandwidth"),
        Place("l", "memory", "memory.latency", "time"),
        Place("p", "process", "process.getpid", "time"),
    ]
    assert row_weights(places, {}) == pytest.approx(
        {"m1": 1 / 8, "m2": 1 / 8, "l": 1 / 4, "p": 0.5}
    )
    stated = {"process": 3.0, "memory.latency": 3.0}
    found = row_weights(places, stated)
    assert found == pytest.approx({"m1": 1 / 32, "m2": 1 / 32, "l": 3 / 16, "p": 0.75})
    assert row_weights(places, {"memory": 0.0})["p"] == 1.0
    assert row_weights(places, {"memory.read": 0.0, "memory.latency": 0.0})["p"] == 1.0
    assert sum(row_weights(places, {"memory": 0.0, "process": 0.0}).values()) == 0.0


def test_the_mean_and_its_interval_are_those_of_the_blocks():
    evaluation = traded()
    everything = evaluation.aggregates[0].everything
    assert everything is not None
    logs = []
    for block in range(10):
        rows = {row.key: row.comparisons[0].effect.log_ratios[block] for row in evaluation.rows}
        process = np.mean([rows[item.key] for item in (CALL, FORK)])
        memory = np.mean([rows[item.key] for item in READ])
        logs.append((process + memory) / 2)
    assert everything.mean == pytest.approx(np.mean(logs))
    # Student's t with 9 degrees of freedom at 5 % / (1 + 3/10): ten blocks.
    half = 2.4223591 * np.std(logs, ddof=1) / math.sqrt(10)
    assert everything.low_percent == pytest.approx(math.expm1(np.mean(logs) - half) * 100)
    assert everything.high_percent == pytest.approx(math.expm1(np.mean(logs) + half) * 100)
    assert everything.weight == pytest.approx(1.0)
    assert [member.name for member in everything.members] == ["process", "memory"]


@pytest.mark.parametrize(("weights", "sign"), [({"process": 5.0}, 1), ({"memory": 5.0}, -1)])
def test_weights_decide_a_trade_off(weights, sign):
    whole = traded(**weights).aggregates[0]
    everything = whole.everything
    assert math.copysign(1, everything.low_percent) == sign
    assert math.copysign(1, everything.high_percent) == sign
    truth = {"process": math.log(1.2), "memory": math.log(0.9)}
    found = whole.sensitivity
    # Both are equal where w·ln 1.2 + (1 − w)·ln 0.9 = 0.
    turn = -truth["memory"] / (truth["process"] - truth["memory"])
    for one in found.turns:
        assert one.at == pytest.approx(turn if one.name == "process" else 1 - turn, abs=0.03)
    assert found.share_faster == pytest.approx(1 - turn, abs=0.03)
    assert found.share_shown_faster < found.share_faster
    assert found.share_shown_slower < 1 - found.share_faster
    now = 5 / 6
    assert found.smallest_change == pytest.approx(now - (turn if sign > 0 else 1 - turn), abs=0.03)
    assert found.moved_to == ("memory" if sign > 0 else "process")
    assert {one.name: one.changes for one in whole.without if one.kind == "area"} == {
        "process": sign > 0, "memory": sign < 0,
    }  # fmt: skip


def test_a_row_that_is_not_compared_is_named_with_its_weight():
    made = two(1.05, chosen=ITEMS)
    gone = made.samples().filter(~((pl.col("system") == "b") & (pl.col("key") == FORK.key)))
    whole = evaluate(dataclasses.replace(made, tables={**made.tables, "samples": gone})).aggregates[
        0
    ]
    assert [(one.key, one.weight) for one in whole.left_out] == [(FORK.key, 0.25)]
    assert "no counted sample" in whole.left_out[0].reason
    assert whole.everything.weight == pytest.approx(0.75)


def test_a_row_that_lacks_a_block_does_not_cost_the_others_theirs():
    made = two(1.05, chosen=ITEMS)
    gone = made.samples().filter(
        ~((pl.col("block") == 2) & (pl.col("system") == "b") & (pl.col("key") == FORK.key))
    )
    whole = evaluate(dataclasses.replace(made, tables={**made.tables, "samples": gone})).aggregates[
        0
    ]
    assert whole.everything.blocks == 4 or FORK.key in {one.key for one in whole.left_out}
    assert whole.everything.rows * whole.everything.blocks >= 4 * 5


def test_dominance_needs_every_row():
    better = Maker(
        factors={"a": same, "b": lambda item: 1.1 if item is CALL else 1.0},
        chosen=ITEMS, blocks=10, noise=0.3,
    ).make()  # fmt: skip
    found = evaluate(better).aggregates[0].dominance
    assert found.dominates
    assert not found.dominated
    assert traded().aggregates[0].dominance.dominates is False
    assert traded().aggregates[0].dominance.in_the_way is not None
    worse = two(0.9, chosen=ITEMS, blocks=10, noise=0.3)
    assert evaluate(worse).aggregates[0].dominance.dominated
    equal = two(1.0, chosen=ITEMS, blocks=10, noise=0.1)
    assert not evaluate(equal).aggregates[0].dominance.dominates, "nothing is shown to be faster"


def test_several_systems_share_the_weights():
    made = Maker(factors={"a": same, "b": trade, "c": lambda _: 0.5}, chosen=ITEMS).make()
    shares = {one.system: one.share for one in evaluate(made).shares}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["c"] == 0.0
    assert shares["b"] == pytest.approx(0.63, abs=0.05)


def test_one_block_has_a_mean_without_an_interval():
    whole = evaluate(two(1.05, chosen=ITEMS, blocks=1)).aggregates[0]
    assert whole.everything.low_percent is None
    assert whole.dominance.dominates is False
    assert whole.sensitivity.share_shown_faster == 0.0


def test_nothing_measured_gives_no_mean():
    made = two(chosen=ITEMS)
    made.tables["samples"] = made.samples().clear()
    whole = evaluate(made).aggregates[0]
    assert whole.everything is None
    assert whole.means == ()


@pytest.mark.slow
def test_false_alarms_of_the_whole_are_as_stated():
    """One system under two names: the interval of the whole mean excludes equality in 5 %."""
    found = 0
    for seed in range(40):
        made = two(1.0, chosen=[CALL, READ[0]], iterations=1, seed=seed)
        everything = evaluate(made).aggregates[0].everything
        found += everything.low_percent > 0 or everything.high_percent < 0
    # A level of 5 % gives more than 7 of 40 with a probability of 0.07 %.
    assert found <= 7
