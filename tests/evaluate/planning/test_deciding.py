"""What would decide a row: the number of blocks against simulation, and the words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pentathlon.evaluate import Verdict, evaluate
from pentathlon.evaluate.compare import Judge, Pair
from pentathlon.evaluate.planning.deciding import block_seconds, blocks_to_decide, duration
from pentathlon.evaluate.rule import Rule
from tests.evaluate.test_evaluation import two
from tests.fakes.simulate import facts, series

RULE = Rule(5.0, 0.95)


def effect_of(logs: np.ndarray, rule: Rule = RULE):
    key = "w.time"
    sides = [
        series(name, key, "w", 100.0 * np.exp(one))
        for name, one in (("b", -logs), ("a", np.zeros(len(logs))))
    ]
    return Judge(facts("b"), facts("a"), (), rule).judge([Pair(key, "w", *sides)]).comparisons[key]


def scaled(blocks: int, mean: float, sd: float) -> np.ndarray:
    """Blocks with exactly this mean and standard deviation."""
    logs = np.random.default_rng(3).standard_normal(blocks)
    return mean + sd * (logs - logs.mean()) / logs.std(ddof=1)


@pytest.mark.parametrize(("mean", "differs"), [(0.03, True), (0.0, False)])
def test_so_many_blocks_decide_most_studies(mean, differs):
    found = blocks_to_decide(effect_of(scaled(5, mean, 0.06)).effect, RULE)
    assert found is not None
    blocks, as_difference = found
    assert as_difference == differs
    generator = np.random.default_rng(4)
    words = [
        effect_of(generator.normal(mean, 0.06, blocks)).verdict for _ in range(200)
    ]  # fmt: skip
    wanted = {Verdict.FASTER, Verdict.NEGLIGIBLE} if differs else {Verdict.EQUIVALENT}
    assert np.mean([word in wanted for word in words]) == pytest.approx(0.8, abs=0.1)


def test_a_row_between_both_claims_needs_a_wider_delta():
    rule = Rule(0.01, 0.95)
    assert blocks_to_decide(effect_of(scaled(5, 0.0, 0.09), rule).effect, rule) is None


def test_an_undecided_row_states_what_would_decide_it():
    result = two(1.0, noise=3.0)
    rules = result.plan.study.evaluation.model_copy(update={"moderated": True})
    study = result.plan.study.model_copy(update={"evaluation": rules})
    result.plan = result.plan.model_copy(update={"study": study})
    undecided = [
        one
        for row in evaluate(result).rows
        for one in row.comparisons
        if one.verdict is Verdict.INCONCLUSIVE
    ]
    assert undecided
    for one in undecided:
        assert "its blocks vary by" in one.reason
        assert "pentathlon run STUDY --blocks " in one.reason
        assert ", about " in one.reason


def test_the_time_of_a_block_is_that_of_the_samples():
    table = pl.DataFrame(
        {"block": [0, 1, 1], "utc": ["2026-01-05T10:00:00Z", None, "2026-01-05T10:00:50.5Z"]}
    )
    assert block_seconds(table) == pytest.approx(25.25)
    assert block_seconds(table.head(1)) is None
    assert block_seconds(table.with_columns(utc=pl.lit(None, pl.String))) is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(40.2, "about 40 s"), (1500.0, "about 25 min"), (9000.0, "about 2 h")]
)
def test_times_are_rough(seconds, text):
    assert duration(seconds) == text
