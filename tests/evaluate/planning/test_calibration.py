"""The promises of the verdicts, by simulation with fixed seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import Simulation

pytestmark = pytest.mark.slow

STUDIES = 40


@pytest.mark.parametrize("noise", ["normal", "common", "heavy", "lognormal"])
def test_one_system_under_two_names_is_seldom_called_different(noise):
    generator = np.random.default_rng(20030101)
    simulation = Simulation(rows=60, boot_sd=0.01, noise=noise)
    alarms = 0
    for _ in range(STUDIES):
        judgement = simulation.study(generator)
        alarms += judgement.selected > 0
    # A rate of 5 % gives more alarms than this in one of 10,000 runs.
    assert alarms <= stats.binom.ppf(0.9999, STUDIES, 0.05)


def test_a_planted_slowdown_of_five_percent_is_called_slower():
    generator = np.random.default_rng(20030101)
    simulation = Simulation(rows=60, boot_sd=0.005, planted={0: -math.log1p(0.05)})
    words = []
    for _ in range(30):
        words.append(next(iter(simulation.study(generator).comparisons.values())).verdict)
    slower = sum(word in {Verdict.SLOWER, Verdict.SLOWER_BY_DELTA} for word in words)
    assert slower >= 28
    assert not any(word.sign > 0 for word in words)


def test_equivalence_is_seldom_claimed_at_the_edge():
    # Every row truly differs by a little more than δ: no "equivalent" is right.
    generator = np.random.default_rng(5)
    planted = dict.fromkeys(range(40), math.log1p(0.0101))
    simulation = Simulation(rows=40, boot_sd=0.002, planted=planted)
    wrong = 0
    for _ in range(50):
        judgement = simulation.study(generator)
        wrong += any(
            one.verdict in {Verdict.EQUIVALENT, Verdict.NEGLIGIBLE}
            for one in judgement.comparisons.values()
        )
    assert wrong <= stats.binom.ppf(0.9999, 50, 0.05)


def test_intervals_cover_the_truth():
    generator = np.random.default_rng(6)
    truth = math.log1p(0.03)
    simulation = Simulation(rows=50, boot_sd=0.01, planted=dict.fromkeys(range(50), truth))
    covered = total = 0
    for _ in range(20):
        for one in simulation.study(generator).comparisons.values():
            total += 1
            covered += one.effect.low_percent <= 3.0 <= one.effect.high_percent
    low, high = stats.binom.ppf([0.0001, 0.9999], total, 0.95)
    assert low <= covered <= high
