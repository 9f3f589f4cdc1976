"""Several earlier results as a baseline: run effects are no surprise, planted slowdowns are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pentathlon.evaluate.results.across import Side
from pentathlon.evaluate.results.gate import Outcome, gate
from pentathlon.evaluate.results.pooled import Run, compare_pooled
from pentathlon.evaluate.titles import Titles
from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import facts, series

ROWS = [f"w{k}.time" for k in range(10)]
SLOWER = (Verdict.SLOWER, Verdict.SLOWER_BY_DELTA)


def run(seed: int, shift: float = 0.0, *, between: float = 0.01, boots: int = 5) -> Run:
    """A result whose boots share an effect of their run, row by row."""
    generator = np.random.default_rng(seed)
    rows = {}
    for key in ROWS:
        logs = generator.normal(0.0, between) + generator.normal(0.0, 0.002, boots) + shift
        rows[key] = series("a", key, key.partition(".")[0], 100.0 * np.exp(logs))
    return Run(f"r{seed}", facts("a"), {}, rows)


def side(one: Run) -> Side:
    return Side(one.facts, dict(one.rows), one.parameters, "p", "a", Titles(None))


def judged(runs: list[Run], own: Run) -> list[Verdict]:
    found = compare_pooled(runs, side(own), 1.0, 0.95)
    return [one.verdict for one in found.entries]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 5, 10])
def test_results_that_differ_by_their_runs_alone_seldom_alarm(count: int) -> None:
    studies = 300
    alarms = sum(
        any(one is not Verdict.INCONCLUSIVE and one is not Verdict.EQUIVALENT
            and one is not Verdict.NEGLIGIBLE for one in
            judged([run(seed * 100 + k) for k in range(count)], run(seed * 100 + 99)))
        for seed in range(studies)
    )  # fmt: skip
    # 5 % stated; of 300 studies more than 28 come in fewer than 1 of 1000 cases.
    assert alarms <= 28


def test_a_slowdown_beyond_what_runs_differ_by_is_found() -> None:
    runs = [run(k) for k in range(5)]
    own = run(50, shift=0.3)
    assert set(judged(runs, own)) == {Verdict.SLOWER_BY_DELTA}
    found = gate(compare_pooled(runs, side(own), 1.0, 0.95).entries, "b", delta_percent=1.0,
                 confidence=0.95)  # fmt: skip
    assert found.outcome is Outcome.REGRESSION
    for row in found.rows:
        assert row.percent == pytest.approx(100.0 * (np.exp(-0.3) - 1.0), abs=3.0)
    # The same shift within what the runs differ by is none.
    wide = [run(k, between=0.3) for k in range(5)]
    assert not set(judged(wide, run(50, shift=0.3, between=0.3))) & set(SLOWER)


def test_few_results_and_other_machines_are_no_baseline() -> None:
    runs, own = [run(k) for k in range(4)], run(9)
    other = [replace(one, facts=one.facts.model_copy(update={"cpu": "else"})) for one in runs[:2]]
    found = compare_pooled([*other, *runs[2:]], side(own), 1.0, 0.95)
    assert [label for label, _ in found.left_out] == ["r0", "r1"]
    assert found.used == ("r2", "r3")
    assert {one.verdict for one in found.entries} == {Verdict.INCONCLUSIVE}
    assert "2 earlier results have this row; 3 are needed" in found.entries[0].words
    less = replace(own, rows={key: own.rows[key] for key in ROWS[1:]})
    [lost] = [one for one in compare_pooled(runs, side(less), 1.0, 0.95).entries
              if one.verdict is Verdict.NOT_MEASURED]  # fmt: skip
    assert lost.key == ROWS[0]
