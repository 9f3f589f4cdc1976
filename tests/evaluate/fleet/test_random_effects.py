"""The effect over machines: against a published meta-analysis, and where it must and must not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pentathlon.evaluate.fleet.fleet import MachineRow, judge_rows
from pentathlon.evaluate.fleet.random_effects import disagreeing, fleet_estimate, heterogeneity
from pentathlon.evaluate.rule import Rule

LEVEL = 0.05

BCG_EFFECTS = np.array(
    [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713,
     -0.3394, 0.4459, -0.0173]
)  # fmt: skip
BCG_VARIANCES = np.array(
    [0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124,
     0.5325, 0.0714]
)  # fmt: skip
"""Log risk ratios of the trials of the BCG vaccine (Colditz et al. 1994), as the manual of metafor
(Viechtbauer 2010, doi:10.18637/jss.v036.i03) prints them."""


def test_known_variances_give_the_published_tau_and_its_q_profile() -> None:
    known = np.full(13, 1e12)
    found = heterogeneity(BCG_EFFECTS, BCG_VARIANCES, known, LEVEL)
    assert found.tau**2 == pytest.approx(0.3181, abs=0.001), "Paule and Mandel"
    assert found.low**2 == pytest.approx(0.1197, abs=0.001)
    assert found.high**2 == pytest.approx(1.1115, abs=0.003)
    assert found.p_alike < 1e-4


def test_variances_from_few_blocks_say_less() -> None:
    sure = heterogeneity(BCG_EFFECTS, BCG_VARIANCES, np.full(13, 1e12), LEVEL)
    few = heterogeneity(BCG_EFFECTS, BCG_VARIANCES, np.full(13, 2.0), LEVEL)
    assert few.p_alike > sure.p_alike
    assert few.low <= sure.low


def test_the_interval_is_that_of_machines_and_not_of_their_boots() -> None:
    generator = np.random.default_rng(1)
    effects = [0.0, 0.05, -0.04]
    few = [one + generator.normal(0, 0.001, 5) for one in effects]
    many = [one + generator.normal(0, 0.001, 500) for one in effects]
    widths = []
    for blocks in (few, many):
        low, high = fleet_estimate(np.array([one.mean() for one in blocks])).interval(LEVEL)
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0], rel=0.05), "more boots are no more machines"
    assert widths[1] > 0.1


def test_machines_that_are_alike_have_no_tau() -> None:
    means = np.array([0.01, 0.0101, 0.0099, 0.01])
    found = heterogeneity(means, np.full(4, 1e-5), np.full(4, 9.0), LEVEL)
    assert found.tau == found.low == 0.0
    assert found.p_alike > 0.9
    assert disagreeing(means, np.full(4, 1e-5), np.full(4, 9.0), LEVEL) == []


def test_values_without_any_spread_give_numbers() -> None:
    found = heterogeneity(np.zeros(3), np.zeros(3), np.full(3, 4.0), LEVEL)
    assert found.tau == 0.0 and math.isfinite(found.share) and found.prediction_low == 0.0
    apart = heterogeneity(np.array([0.0, 0.1, 0.2]), np.zeros(3), np.full(3, 4.0), LEVEL)
    assert apart.tau > 0.05 and apart.p_alike < 1e-6


@pytest.mark.parametrize("count", [3, 5, 40])
def test_the_odd_machine_is_named_and_no_other(count: int) -> None:
    means = np.random.default_rng(3).normal(0, 0.0002, count)
    means[2] += 0.1
    found = disagreeing(means, np.full(count, 1e-6), np.full(count, 9.0), LEVEL)
    assert [machine for machine, _ in found] == [2]


def test_of_two_that_differ_both_are_named() -> None:
    found = disagreeing(np.array([0.0, 0.1]), np.full(2, 1e-6), np.full(2, 9.0), LEVEL)
    assert {machine for machine, _ in found} == {0, 1}


def test_a_campaign_of_one_system_under_two_names_claims_within_the_rate() -> None:
    """Machines differ by ten times what their boots do: to count boots would alarm in most rows."""
    generator = np.random.default_rng(7)
    rule = Rule(1.0, 0.95)
    alarms = naive = 0
    for _ in range(200):
        rows = []
        for number in range(5):
            blocks = [
                effect + generator.normal(0, 0.002, 6) for effect in generator.normal(0, 0.02, 5)
            ]
            rows.append(MachineRow.simulated(f"w{number}", f"w{number}", blocks))
            low, high = fleet_estimate(np.concatenate(blocks)).interval(LEVEL)
            naive += not low <= 0 <= high
        judged = judge_rows(rows, rule)
        alarms += any(one.claims is not None and one.claims.different for one in judged)
    assert alarms <= 20, "5 % of 200 are 10; more than 20 has a chance below 0.2 %"
    assert naive > 400, "of 1000 rows; the simulation would see pseudoreplication"
