"""Two systems without blocks: Welch's interval over their boots, as SciPy has it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.independent import Independent

A = np.array([10.0, 10.4, 9.9, 10.2, 10.1])
B = np.array([11.0, 11.3, 10.9])


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_interval_and_the_p_value_are_those_of_welch(direction: str) -> None:
    sign = 1.0 if direction == "higher" else -1.0
    row = Independent(A, B, direction)
    expected = stats.ttest_ind(sign * np.log(A), sign * np.log(B), equal_var=False)
    assert row.estimate.p_different() == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert row.estimate.interval(0.05) == pytest.approx((low, high))
    assert row.estimate.mean == pytest.approx(sign * (np.log(A).mean() - np.log(B).mean()))


def test_nothing_is_allowed_for_twice() -> None:
    """Few boots are allowed for by the levels of the judge, not by the row's own p value."""
    few, many = Independent(A[:2], B[:2], "lower"), Independent(np.tile(A, 9), B, "lower")
    assert few.estimate.levels.share == many.estimate.levels.share == 1.0
    assert (few.count, many.count) == (2, 3)


def test_claims_about_delta_agree_with_the_interval() -> None:
    row = Independent(A, B, "higher")
    low, high = row.estimate.interval(0.05)
    assert high < 0, "the boots do not overlap"
    beyond = -high * 0.99
    assert row.estimate.p_beyond(beyond) <= 0.05 < row.estimate.p_beyond(-high * 1.01)
    assert row.estimate.p_equivalent(-low * 1.01) <= 0.05 < row.estimate.p_equivalent(-low * 0.99)


def test_the_detectable_difference_is_the_paired_one_for_the_same_error() -> None:
    row = Independent(A, B, "higher")
    error, freedom = row.estimate.error, row.estimate.freedom
    found = row.estimate.detectable(0.05)
    power = 1 - stats.nct.cdf(stats.t.ppf(0.975, freedom), freedom, found / error)
    assert power == pytest.approx(ratio.POWER, abs=1e-6)


def test_boots_that_do_not_overlap_are_apart() -> None:
    assert Independent(A, B, "higher").apart
    assert not Independent(A, np.array([10.0, 12.0]), "higher").apart


def test_equal_boots_without_spread_do_not_differ() -> None:
    same = Independent(np.array([2.0, 2.0]), np.array([2.0, 2.0]), "lower")
    assert same.estimate.p_different() == 1.0 and math.isfinite(same.estimate.detectable(0.05))
