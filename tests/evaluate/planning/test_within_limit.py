"""Blocks and iterations for a given time."""

from __future__ import annotations

import math
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.estimators.ratio import t_quantile
from pentathlon.evaluate.planning.allocation import Components
from pentathlon.evaluate.planning.within_limit import MOST_ITERATIONS, Spread, choose, spreads
from pentathlon.evaluate.rule import Rule
from pentathlon.store.query import load_result

RULE = Rule(5.0, 0.95)
GOLDEN = Path(__file__).parents[2] / "golden" / "format-1.tar.xz"


def row(between: float, within: float, weight: float = 1.0) -> Spread:
    side = Components(within, None)
    return Spread(weight, between, (side, side), processes=1, freedom=1.0, level=0.05)


def fitting(boot_s: float, iteration_s: float, limit_s: float) -> Callable[[int], int]:
    return lambda count: int(limit_s / (boot_s + count * iteration_s))


@pytest.mark.parametrize(("boot_s", "within"), [(1.0, 1e-4), (16.0, 4e-4), (100.0, 1e-4)])
def test_the_iterations_are_those_of_kalibera_and_jones(boot_s: float, within: float) -> None:
    """r = √(c₀ σ²_within / (c₁ σ²_between)) where so many blocks fit that t is nearly normal."""
    between = 1e-4
    found = choose([row(between, within)], RULE, fitting(boot_s, 1.0, 1e5))
    wanted = math.sqrt(boot_s * 2.0 * within / between)
    assert found is not None and abs(found.iterations - wanted) <= 1.0
    assert found.blocks == int(1e5 / (boot_s + found.iterations))


def test_between_boots_blocks_help_and_within_them_iterations() -> None:
    fit = fitting(5.0, 1.0, 600.0)
    between, within = choose([row(1e-4, 0.0)], RULE, fit), choose([row(0.0, 1e-4)], RULE, fit)
    assert between is not None and between.iterations == 1
    assert within is not None and 10 < within.iterations <= MOST_ITERATIONS


def test_the_difference_is_that_of_a_t_test_with_power_080() -> None:
    found = choose([row(1e-4, 0.0)], RULE, lambda count: 10 if count == 1 else 0)
    assert found is not None and found.blocks == 10
    error = math.sqrt(1e-4 / 10)
    level = RULE.levels(10).nominal(0.05)
    expected = (t_quantile(level, 9) + t_quantile(0.4, 9)) * error
    assert found.decidable.difference_percent == pytest.approx(100 * math.expm1(expected))
    assert found.decidable.equality_percent > found.decidable.difference_percent


def test_the_median_counts_the_rows_that_each_stands_for() -> None:
    quiet, noisy = row(1e-6, 0.0, weight=2.0), row(1e-2, 0.0, weight=7.0)
    one = choose([noisy], RULE, lambda count: 10)
    both = choose([quiet, noisy], RULE, lambda count: 10)
    assert one is not None and both is not None
    assert both.decidable.difference_percent == one.decidable.difference_percent
    assert both.decidable.rows == 9


def test_nothing_is_chosen_where_nothing_fits_or_varies() -> None:
    assert choose([row(1e-4, 0.0)], RULE, lambda count: 2) is None
    assert choose([], RULE, lambda count: 10) is None


def test_the_spread_of_a_result_is_that_of_its_rows(tmp_path: Path) -> None:
    """Without other rows to borrow from, what is taken apart adds up to the row's own variance."""
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(tmp_path, filter="data")
    result = load_result(tmp_path)
    rows = evaluate(result).rows
    alone = {
        (one.key, comparison.system): comparison.effect
        for one in rows
        for comparison in one.comparisons
        if comparison.effect is not None and comparison.effect.sd
    }
    assert alone
    for one in rows[:5]:
        for spread in spreads(result, [one], {}):
            effect = alone[one.key, one.comparisons[0].system]
            assert effect.sd is not None and effect.adjusted_confidence is not None
            iterations = result.study.procedure.iterations
            own = spread.variance(iterations)
            inner = sum(part.lower(iterations, spread.processes) for part in spread.within)
            assert own == pytest.approx(max(effect.sd**2, inner))
            assert spread.level == pytest.approx(1.0 - effect.adjusted_confidence)
