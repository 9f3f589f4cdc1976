"""Alpha spending against published bounds, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, bounds, levels_at, spent

# Two-sided 5 %, equally spaced looks, O'Brien-Fleming-type spending: Reboussin, DeMets, Kim and
# Lan 2000 ("Computations for group sequential boundaries"), as printed by WinLD, ldbounds and
# gsDesign (sfLDOF); the fourth decimal of these programs differs.
PUBLISHED = {
    2: (2.9626, 1.9686),
    3: (3.7103, 2.5114, 1.9930),
    4: (4.3326, 2.9631, 2.3590, 2.0141),
    5: (4.8769, 3.3569, 2.6803, 2.2898, 2.0310),
}


@pytest.mark.parametrize("looks", sorted(PUBLISHED))
def test_bounds_agree_with_the_published_tables(looks):
    found = bounds(0.05, [look / looks for look in range(1, looks + 1)])
    assert found == pytest.approx(PUBLISHED[looks], abs=2e-4)


def test_all_error_is_spent_at_the_end_and_never_more():
    shares = [spent(0.05, fraction) for fraction in (0.1, 0.3, 0.7, 1.0)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.05)


def test_bounds_keep_the_overall_error_by_simulation():
    generator = np.random.default_rng(19830659)
    times = np.array([10, 15, 20, 30])
    edge = bounds(0.05, list(times / 30))
    steps = generator.standard_normal((200_000, 4)) * np.sqrt(np.diff(times, prepend=0))
    z = np.cumsum(steps, axis=1) / np.sqrt(times)
    crossed = int(np.any(np.abs(z) >= edge, axis=1).sum())
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 200_000, 0.05)
    assert low <= crossed <= high


@pytest.mark.parametrize("blocks", [10, 12, 15, 20, 29, 30])
def test_nominal_and_overall_levels_are_inverse(blocks):
    levels = levels_at((10, 15, 20, 30), blocks)
    for level in (1e-9, 1e-5, 2.5e-4, 0.01, 0.05, 0.4):
        nominal = levels.nominal(level)
        assert nominal < level
        assert levels.overall(nominal) == pytest.approx(level, rel=1e-9)


def test_the_table_of_levels_agrees_with_the_integration():
    times = (10, 15, 20, 30)
    for place, blocks in enumerate(times):
        levels = levels_at(times, blocks)
        for level in (1e-6, 0.003, 0.05, 0.2):
            exact = 2 * special.ndtr(-bounds(level, [t / 30 for t in times[: place + 1]])[-1])
            assert levels.nominal(level) == pytest.approx(exact, rel=2e-3)


def test_one_look_costs_nothing():
    assert levels_at((30,), 30) is ONE_LOOK
    assert ONE_LOOK.nominal(0.03) == ONE_LOOK.overall(0.03) == 0.03


def test_looks_that_were_passed_cost_even_between_looks():
    # Cut off at 12 of 30 blocks: 10 was looked at, so 12 is stricter than an only look there.
    looks = (10, 15, 20, 30)
    assert levels_at(looks, 12).nominal(0.05) < levels_at((30,), 30).nominal(0.05)
    only = 2 * special.ndtr(-bounds(0.05, [12 / 30])[-1])
    assert levels_at(looks, 12).nominal(0.05) < only
