"""The formulas of the ratio against other implementations and their own definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.welch import paired

SAMPLE = np.array([0.031, 0.028, 0.035, 0.030, 0.027])
samples = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=12).map(np.array)


def test_interval_and_p_value_are_those_of_the_t_test():
    known = stats.ttest_1samp(SAMPLE, 0.0)
    interval = known.confidence_interval(0.95)
    assert ratio.t_interval(SAMPLE, 0.05) == pytest.approx((interval.low, interval.high))
    assert paired(SAMPLE).p_different() == pytest.approx(known.pvalue)


def test_interval_of_a_worked_example():
    # Student's t with 4 degrees of freedom: 2.776 (any table of the distribution).
    sample = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5) / math.sqrt(5)
    assert ratio.t_interval(sample, 0.05) == pytest.approx((3 - half, 3 + half))


def test_p_equivalent_is_the_level_whose_interval_touches_delta():
    sample = SAMPLE - SAMPLE.mean() + 0.004
    level = paired(sample).p_equivalent(0.01)
    assert 0 < level < 1
    assert ratio.t_interval(sample, level)[1] == pytest.approx(0.01)


def test_p_beyond_is_the_level_whose_interval_touches_delta():
    level = paired(SAMPLE).p_beyond(0.01)
    assert ratio.t_interval(SAMPLE, level)[0] == pytest.approx(0.01)
    assert paired(-SAMPLE).p_beyond(0.01) == pytest.approx(level)


def test_claims_need_the_mean_on_their_side():
    assert paired(SAMPLE).p_equivalent(0.01) == 1.0
    assert paired(SAMPLE).p_beyond(0.1) == 1.0


@given(samples)
def test_beyond_implies_different(sample):
    assert paired(sample).p_beyond(0.01) >= paired(sample).p_different() - 1e-12


@pytest.mark.parametrize(("blocks", "level"), [(3, 0.05), (5, 0.05), (5, 0.001), (30, 0.01)])
def test_the_detectable_effect_is_found_with_power_0_8(blocks, level):
    sample = np.random.default_rng(1).normal(0.0, 0.02, blocks)
    effect = paired(sample).detectable(level)
    critical = stats.t.ppf(1 - level / 2, blocks - 1)
    noncentrality = effect / ratio.standard_error(sample)
    assert 1 - stats.nct.cdf(critical, blocks - 1, noncentrality) == pytest.approx(0.8, abs=1e-6)


def test_identical_blocks_have_no_error():
    same = np.full(5, 0.02)
    assert ratio.t_interval(same, 0.05) == (0.02, 0.02)
    assert 0.001 < paired(same).p_different() < 0.01
    assert paired(np.zeros(5)).p_different() == 1.0
    assert paired(np.zeros(5)).p_equivalent(0.01) == 0.0
    assert ratio.detectable_by(ratio.standard_error(same), 4, 0.05) == 0.0


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
def test_more_is_better_in_both_directions(direction, sign):
    found = ratio.log_ratios(np.array([110.0]), np.array([100.0]), direction)
    assert found == pytest.approx([sign * math.log(1.1)])


def test_percentages_do_not_overflow():
    assert math.isfinite(ratio.percent(5000.0))
    assert ratio.percent(-5000.0) == -100.0
    assert ratio.percent(math.log(1.05)) == pytest.approx(5.0)


@pytest.mark.parametrize(("freedom", "level"), [(1, 1e-10), (2, 1e-14)])
def test_the_detectable_effect_of_a_very_strict_level_is_that_of_its_limit(
    freedom: int, level: float
) -> None:
    """The first look of many: the level is so small that the noncentral t takes for ever."""
    sample = np.arange(float(freedom + 1))
    assert ratio.t_quantile(level, freedom) > ratio.FAR
    assert math.isfinite(paired(sample).detectable(level))
    # Both ways of computing it agree where they meet.
    low, high = 0.0, 1.0
    for _ in range(200):
        level = math.sqrt(low * high) if low else high / 10
        if ratio.t_quantile(level, freedom) > ratio.FAR:
            low = level
        else:
            high = level
    exact, limit = paired(sample).detectable(high), paired(sample).detectable(low * 0.999999)
    assert limit == pytest.approx(exact, rel=1e-4)
