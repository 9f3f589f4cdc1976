"""Shares of the simplex: known answers, Monte Carlo beside the formula, the nearest weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import qmc

from pentathlon.evaluate.aggregate import simplex
from pentathlon.evaluate.aggregate.sobol import DIRECTIONS, sobol

scores = st.lists(st.floats(-3, 3, allow_nan=False).map(lambda x: round(x, 3)), min_size=2,
                  max_size=6)  # fmt: skip
size = st.integers(11, 3000)
apart = st.lists((size | size.map(lambda x: -x)).map(lambda x: x / 1000), min_size=2, max_size=6)
"""Scores of which none is next to zero."""


@pytest.mark.parametrize(
    ("given_scores", "share"),
    [
        ([1, 2], 1.0),
        ([-1, -2], 0.0),
        ([1, -1], 0.5),
        ([3, -1], 0.75),
        ([1, -1, -1], 0.25),
        ([1, 1, -1], 0.75),
        ([0, 0], 0.0),
        ([2, -1, -1, -1], (2 / 3) ** 3),
    ],
)
def test_known_shares(given_scores, share):
    assert simplex.share_above(given_scores) == pytest.approx(share)


@given(apart)
@settings(max_examples=40)
def test_the_formula_agrees_with_drawn_weights(given_scores):
    generator = np.random.default_rng(5)
    drawn = generator.dirichlet(np.ones(len(given_scores)), 20_000)
    found = float(np.mean(drawn @ np.array(given_scores) > 0))
    assert simplex.share_above(given_scores) == pytest.approx(found, abs=0.02)
    even = float(np.mean(simplex.points(len(given_scores)) @ np.array(given_scores) > 0))
    # Few even points: a plane through a corner is 0.023 off.
    assert simplex.share_above(given_scores) == pytest.approx(even, abs=0.04)


@pytest.mark.parametrize("dimensions", range(1, len(DIRECTIONS) + 3))
def test_the_sobol_sequence_is_the_one_of_scipy(dimensions):
    expected = qmc.Sobol(dimensions, scramble=False).random(simplex.POINTS)
    assert np.array_equal(sobol(dimensions), expected)


def test_points_are_weights_and_always_the_same():
    for parts in (1, 2, 5):
        found = simplex.points(parts)
        assert np.allclose(found.sum(axis=1), 1.0)
        assert (found >= 0).all()
        assert np.array_equal(found, simplex.points(parts))
        assert found.mean(axis=0) == pytest.approx(np.full(parts, 1 / parts), abs=0.01)


def least(weights, given_scores):
    """The same question as a linear program: min Σ out with w' = w − out + into on the border."""
    count = len(weights)
    sign = 1.0 if np.dot(weights, given_scores) >= 0 else -1.0
    own = sign * np.array(given_scores)
    done = linprog(
        np.concatenate([np.ones(count), np.zeros(count)]),
        A_ub=[np.concatenate([-own, own])],
        b_ub=[-float(np.dot(weights, own))],
        A_eq=[np.concatenate([np.ones(count), -np.ones(count)])],
        b_eq=[0.0],
        bounds=[(0, w) for w in weights] + [(0, 1)] * count,
    )
    return done.fun if done.success else None


@given(apart, st.integers(0, 1000))
@settings(max_examples=40)
def test_the_smallest_change_is_that_of_a_linear_program(given_scores, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(given_scores)))
    assume(abs(float(np.dot(weights, given_scores))) > 1e-3)
    found, by_program = simplex.smallest_change(weights, given_scores), least(weights, given_scores)
    if found is None:
        assert by_program is None
    else:
        assert found[0] == pytest.approx(by_program, abs=1e-6)
        assert given_scores[found[1]] * float(np.dot(weights, given_scores)) < 0


def test_a_winner_everywhere_cannot_be_unseated():
    assert simplex.smallest_change([0.5, 0.5], [1.0, 0.0]) is None
    assert simplex.smallest_change([0.5, 0.5], [-1.0, -2.0]) is None


@given(scores, st.integers(0, 1000))
@settings(max_examples=40)
def test_at_the_turning_share_both_are_equal(given_scores, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(given_scores)))
    assume((weights < 0.999).all())
    for place in range(len(weights)):
        at = simplex.turning_share(weights, given_scores, place)
        if at is None:
            continue
        assert 0 <= at <= 1
        others = np.delete(weights, place) / (1 - weights[place])
        total = at * given_scores[place] + (1 - at) * others @ np.delete(given_scores, place)
        assert total == pytest.approx(0, abs=1e-9)
