"""Cache levels from planted curves: known answers, noise, and curves without a step."""

from __future__ import annotations

import numpy as np
import pytest

from pentathlon.evaluate.levels.caches import find_steps, point_noise
from tests.fakes.synthetic import KIB, MIB, step_curve

SIZES = 2.0 ** np.arange(10, 30)
CAPACITIES = (48 * KIB, 2 * MIB, 24 * MIB)
LEVELS = (1.3, 4.0, 20.0, 90.0)


def holds(step, capacity):
    return step.low <= capacity <= step.high


@pytest.mark.parametrize("shape", [1.0, 1.5, 3.0, 8.0, 100.0])
def test_planted_levels_are_found(shape):
    steps = find_steps(SIZES, step_curve(SIZES, CAPACITIES, LEVELS, shape))
    assert len(steps) == 3
    for step, capacity in zip(steps, CAPACITIES, strict=True):
        assert holds(step, capacity)
        assert step.high / step.low <= 4


def test_cost_on_both_sides_of_a_step():
    steps = find_steps(SIZES, step_curve(SIZES, CAPACITIES, LEVELS, 1.0))
    for step, before, after in zip(steps, LEVELS, LEVELS[1:], strict=False):
        assert step.before == pytest.approx(before, rel=0.1)
        assert step.after == pytest.approx(after, rel=0.2)


@pytest.mark.parametrize("noise", [0.01, 0.03, 0.06])
def test_planted_levels_are_found_in_noise(noise):
    generator = np.random.default_rng(7)
    truth = step_curve(SIZES, CAPACITIES, LEVELS, 2.0)
    found, extra = 0, 0
    for _ in range(60):
        steps = find_steps(SIZES, truth * np.exp(generator.normal(0.0, noise, len(SIZES))), noise)
        found += sum(any(holds(step, capacity) for step in steps) for capacity in CAPACITIES)
        extra += sum(not any(holds(step, one) for one in CAPACITIES) for step in steps)
    assert found / 180 >= 0.97
    assert extra / 60 <= 0.1


def test_noise_alone_has_no_step():
    generator = np.random.default_rng(8)
    flat = [
        find_steps(SIZES, 3.0 * np.exp(generator.normal(0.0, noise, len(SIZES))), noise)
        for noise in (0.01, 0.03, 0.08)
        for _ in range(60)
    ]
    assert sum(bool(steps) for steps in flat) <= 9


def test_slow_drift_is_no_step():
    assert find_steps(SIZES, 3.0 * 1.01 ** np.arange(len(SIZES))) == ()


def test_overhead_of_small_blocks_is_no_step():
    cost = 0.02 + 30.0 / SIZES
    assert find_steps(SIZES, cost, overhead=True) == ()


def test_bandwidth_levels_beside_overhead():
    cost = step_curve(SIZES, CAPACITIES, (0.01, 0.02, 0.04, 0.1), 8.0) + 10.0 / SIZES
    steps = find_steps(SIZES, cost, overhead=True)
    assert [holds(step, one) for step, one in zip(steps, CAPACITIES, strict=True)] == [True] * 3


def test_a_point_that_one_boot_spoilt_hides_no_step():
    sizes = np.arange(1, 41) * 8.0 * KIB
    cost = step_curve(sizes, (60 * KIB,), (1.0, 2.0), 8.0)
    cost[[36, 38]] *= 3.0
    errors = np.full(len(sizes), 0.01)
    errors[[36, 38]] = 0.6
    [step] = find_steps(sizes, cost, point_noise(errors))
    assert (step.low, step.high) == (56 * KIB, 64 * KIB)
    believed = find_steps(sizes, cost, 0.01)
    assert believed[-1].high > 300 * KIB  # With one error for all points, it blurs the step.


def test_the_noise_of_a_point_is_no_less_than_the_median():
    assert point_noise(np.array([0.01, 0.02, 0.3])).tolist() == [0.02, 0.02, 0.3]
    assert point_noise(np.array([])).tolist() == []


def test_the_grid_limits_what_is_known():
    coarse = 4.0 ** np.arange(5, 14)
    steps = find_steps(coarse, step_curve(coarse, (100 * KIB,), (1.0, 9.0), 8.0))
    assert len(steps) == 1
    assert (steps[0].low, steps[0].high) == (64 * KIB, 256 * KIB)


def test_too_few_points():
    assert find_steps(SIZES[:5], np.array([1.0, 1.0, 9.0, 9.0, 9.0])) == ()


def test_the_unit_does_not_matter():
    cost = step_curve(SIZES, CAPACITIES, LEVELS, 1.0)
    one, other = find_steps(SIZES, cost), find_steps(SIZES, cost * 1000.0)
    assert [(step.low, step.high) for step in one] == [(step.low, step.high) for step in other]
