"""Further runs: their levels add up, their blocks are enough, and false answers stay rare."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from benches.remeasure_simulation import Machine, false, remeasured
from pentathlon.evaluate.planning.measuring_again import (
    MOST_RUNS,
    Open,
    block_seconds_of,
    blocks_for,
    confidence_of,
)
from pentathlon.evaluate.results.gate import Outcome


def test_the_levels_of_all_runs_add_up_to_that_of_the_gate() -> None:
    levels = [1.0 - confidence_of(0.95, run) for run in range(1, MOST_RUNS + 1)]
    assert 0.04 < sum(levels) < 0.05


def one(mean: float | None, sd: float | None, name: str = "w") -> Open:
    return Open(key=name, workload=name, system="b", mean=mean, sd=sd)


def blocks(*rows: Open, by_delta: bool = False) -> int | None:
    return blocks_for(rows, 0.975, 0.01, only_by_delta=by_delta)


def test_blocks_follow_the_farther_border_and_the_spread() -> None:
    near, far = blocks(one(0.0, 0.02)), blocks(one(0.02, 0.02))
    assert near is not None and far is not None and near > 2 * far
    wide = blocks(one(0.0, 0.04))
    assert wide is not None and 3.5 < wide / near < 4.5
    # Slower by less than delta: shown as slower, or not at all where only delta counts.
    assert blocks(one(-0.01, 0.02)) == near
    assert blocks(one(-0.01, 0.02), by_delta=True) is None
    # More rows, narrower levels; the row that needs most decides.
    assert (blocks(*(one(0.0, 0.02, f"w{k}") for k in range(10))) or 0) > near
    assert blocks(one(None, None)) is None is blocks(one(math.nan, 0.1))
    assert blocks(one(0.0, 0.0)) == 3


@pytest.mark.parametrize(("truth", "wrong"), [(0.0, Outcome.REGRESSION), (-0.00995, Outcome.PASS)])
def test_false_answers_stay_rare(truth: float, wrong: Outcome) -> None:
    generator = np.random.default_rng(5)
    machine = Machine([truth] * 4, 0.02)
    found = [remeasured(machine, generator) for _ in range(150)]
    again = sum(spent > 0 for _, spent in found)
    assert again > 100
    assert sum(false(answer, wrong) for answer, _ in found) <= 15  # 7.5 at the stated rate
    assert sum(answer.outcome is not Outcome.INCONCLUSIVE for answer, _ in found) > 120


def test_the_time_of_a_block_is_that_of_its_workloads() -> None:
    rows = [
        {"boot": str(block), "block": block, "workload": name,
         "utc": f"2026-01-01T00:{block:02d}:{second:02d}+00:00"}
        for block in range(3)
        for name, second in (("a", 0), ("a", 2), ("b", 40), ("b", 50), ("a", 58))
    ]  # fmt: skip
    samples = pl.DataFrame(rows)
    whole, only_b = block_seconds_of(samples, {"a", "b"}), block_seconds_of(samples, {"b"})
    assert whole is not None and only_b is not None
    assert whole - only_b == pytest.approx(10.0)
