"""Numbers at the ends of what a floating-point number can be, and boots that are all alike."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import polars as pl
import pytest

from pentathlon.evaluate import Evaluation, Verdict, evaluate
from pentathlon.evaluate.borrowing import Member, borrow
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.fieller import ratio_of_means
from pentathlon.evaluate.estimators.paired import Paired
from pentathlon.evaluate.estimators.welch import paired, welch
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK
from pentathlon.report.export.comma_separated import to_csv
from tests.fakes.synthetic import Item, Maker, Synthetic, same

TIME = Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004)
RATES = [
    Item("memory.read", "bandwidth", {"block_bytes": size}, "MB/s", "higher", 5e4, 0.004)
    for size in (1024, 2048)
]


def planted(of_a: float, of_b: float, chosen: list[Item] | None = None) -> Synthetic:
    """A result whose values are these, with the noise of the maker's."""
    result = Maker(
        factors={"a": same, "b": same}, chosen=chosen or [TIME, *RATES], iterations=3
    ).make()
    scale = pl.when(pl.col("system") == "a").then(of_a).otherwise(of_b)
    noise = pl.col("value") / pl.col("value").mean().over("key")
    samples = result.samples().with_columns((noise * scale).alias("value"))
    return dataclasses.replace(result, tables={**result.tables, "samples": samples})


def numbers(evaluation: Evaluation) -> None:
    """Every number can be written: JSON has no infinite ones."""
    text = evaluation.model_dump_json()
    json.loads(text, parse_constant=pytest.fail)
    assert to_csv(evaluation)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("of_a", "of_b"),
    [(1e-240, 1.0), (1e240, 1e-240), (1e-300, 1e300), (1.1e308, 1.1e308), (1.1e308, 1.0),
     (5e-320, 5e-320), (5e-320, 1e300)],
)  # fmt: skip
def test_extreme_values_are_judged(of_a, of_b):
    evaluation = evaluate(planted(of_a, of_b))
    numbers(evaluation)
    for row in evaluation.rows:
        found = row.comparison("b")
        assert found.verdict not in (Verdict.INVALID, Verdict.NOT_MEASURED)
        sign = -1 if row.direction == "lower" else 1
        truth = sign * (math.log(of_b) - math.log(of_a))
        assert found.effect.mean == pytest.approx(truth, abs=0.1)


@pytest.mark.filterwarnings("error")
def test_the_smallest_and_the_largest_number():
    result = planted(1.0, 1.0)
    samples = result.samples().with_columns(
        pl.when(pl.col("system") == "a").then(5e-324).otherwise(1.7e308).alias("value")
    )
    numbers(evaluate(dataclasses.replace(result, tables={**result.tables, "samples": samples})))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_sample_that_is_no_finite_number_makes_its_row_invalid(value):
    result = planted(1.0, 1.0)
    one = (pl.col("system") == "b") & (pl.col("block") == 2) & (pl.col("key") == TIME.key)
    samples = result.samples().with_columns(
        pl.when(one).then(value).otherwise(pl.col("value")).alias("value")
    )
    found = evaluate(dataclasses.replace(result, tables={**result.tables, "samples": samples}))
    comparison = found.row(TIME.key).comparison("b")
    assert comparison.verdict is Verdict.INVALID
    assert comparison.reason == "a sample is not a finite number"
    assert found.rows[0].comparison("b").effect is not None
    json.dumps(json.loads(found.model_dump_json()), allow_nan=False)


def test_boots_that_are_all_alike_do_not_make_a_difference_certain():
    same_blocks = np.full(5, 0.02)
    assert ratio.ratio_error(same_blocks) == pytest.approx(0.02 / math.sqrt(30))
    assert 0.001 < paired(same_blocks).p_different() < 0.05
    assert 0.0 < paired(same_blocks).p_beyond(0.01) < 1.0
    assert 0.0 < paired(same_blocks).p_equivalent(0.03) < 1.0
    assert paired(np.full(10, 0.02)).p_different() < paired(same_blocks).p_different()
    # Rounding makes no variance.
    assert paired(same_blocks + np.array([0, 1, 0, 0, 1]) * 1e-17).p_different() > 0.001
    assert paired(same_blocks, ONE_LOOK).p_different() > 0.001
    apart = welch(np.full(5, 1.02), np.full(5, 1.0), "higher")
    assert 0.0 < apart.p_different() < 0.05


def test_fieller_takes_numbers_whose_squares_are_none():
    top, bottom = np.array([1.0, 1.1, 1.05]), np.array([2.0, 2.1, 2.2])
    plain = ratio_of_means(top, bottom, 0.05)
    for up, down in ((1e300, 1e300), (1e-300, 1e-300), (1e200, 1e-50)):
        found = ratio_of_means(top * up, bottom * down, 0.05)
        assert found.ratio == pytest.approx(plain.ratio * (up / down))
        assert found.low == pytest.approx(plain.low * (up / down))
        assert found.high == pytest.approx(plain.high * (up / down))


@pytest.mark.parametrize("score", [True, False])
def test_boots_that_all_read_the_same_are_no_certain_equality_beside_rows_that_vary(score):
    generator = np.random.default_rng(4)
    members = [
        Member(f"row {place}", "memory", "memory.read", _row(values))
        for place, values in enumerate(0.01 * generator.standard_normal((12, 6)))
    ]
    alike = Member("alike", "memory", "memory.read", _row(np.zeros(6)), score)
    assert alike.row.estimate.p_equivalent(0.001) == 0.0
    found = borrow([*members, alike]).estimates
    assert borrow(members).estimates == {key: found[key] for key in found if key != "alike"}
    assert ("alike" in found) == score
    if score:
        assert 0.002 < found["alike"].error < 0.006
        assert found["alike"].p_equivalent(0.001) > 0.5


def _row(ratios: np.ndarray) -> Paired:
    boots = np.exp(ratios)
    blocks = tuple(range(len(ratios)))
    return Paired(blocks, boots, np.ones(len(ratios)), "higher", ratios, ratios, 1)
