"""Moderated variances against their published case, their definition, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from pentathlon.evaluate.estimators.moderated import moderate, standardised, trigamma_inverse
from pentathlon.evaluate.estimators.resolution import floor


def draw(seed: int, rows: int, blocks: int, freedom: float | None = None) -> np.ndarray:
    """Rows of normal noise whose variances are scaled inverse χ² around 1; all 1 without a d0."""
    generator = np.random.default_rng(seed)
    scale = np.ones((rows, 1))
    if freedom is not None:
        scale = np.sqrt(freedom / generator.chisquare(freedom, (rows, 1)))
    return scale * generator.standard_normal((rows, blocks))


@pytest.mark.parametrize("value", [1e-9, 1e-3, 0.1, 1.0, 1.6449340668482264, 50.0, 1e6, 1e9])
def test_trigamma_is_inverted(value):
    found = trigamma_inverse(np.array(value))
    assert special.polygamma(1, found) == pytest.approx(value, rel=1e-6)


def test_the_prior_of_many_independent_rows_is_found():
    found = moderate(draw(1, 20_000, 5, 8.0))
    assert found.prior_freedom == pytest.approx(8.0, rel=0.15)
    assert found.prior == pytest.approx(1.0, rel=0.05)
    assert found.shared < 0.001
    # Smyth's degrees of freedom, ν + d0, where nothing is shared and the prior is known.
    assert found.freedom == pytest.approx(4.0 + found.prior_freedom, rel=0.02)


def test_rows_of_one_variance_borrow_all_of_it():
    ratios = draw(2, 34, 5)
    found = moderate(ratios)
    own = ratios.var(axis=1, ddof=1)
    assert np.ptp(found.variance) < np.ptp(own) / 3
    assert found.freedom > 10
    assert np.argsort(found.variance).tolist() == np.argsort(own).tolist()


def test_rows_that_are_copies_of_one_lend_nothing():
    one = draw(3, 1, 5)
    scales = np.exp(np.linspace(0.0, 1e-3, 20))[:, None]
    found = moderate(one * scales)
    assert found.shared == pytest.approx((1 + 19 * 0.75) / 20)
    assert found.freedom < 8
    assert moderate(np.repeat(one, 20, axis=0) * scales[:1]).freedom < 8


def test_many_studies_at_once_are_each_what_it_is_alone():
    ratios = np.stack([draw(seed, 12, 6, 5.0) for seed in range(5)])
    floors = np.full((5, 12), 0.3)
    every = moderate(ratios, floors)
    for place, study in enumerate(ratios):
        one = moderate(study, floors[place])
        assert every.variance[place] == pytest.approx(one.variance)
        assert every.freedom[place] == pytest.approx(float(one.freedom))


def test_no_variance_is_below_its_floor():
    ratios = draw(5, 10, 5)
    ratios[3] = 0.25
    found = moderate(ratios, np.full(10, 0.2))
    assert np.all(np.isfinite(found.variance))
    assert found.variance.min() > 0.2


def test_residuals_are_scaled_and_constant_rows_are_nothing():
    scaled = standardised(np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]]))
    assert scaled[0] == pytest.approx(np.array([-1, 0, 1]) / np.sqrt(2))
    assert np.all(scaled[1] == 0.0)


def test_a_clock_that_reads_two_values_shows_its_tick():
    coarse = floor(np.array([50.0, 51, 50, 51, 51]), np.array([50.0, 50, 51, 50, 50]))
    assert coarse == pytest.approx(np.log(51 / 50) ** 2 / 6)
    generator = np.random.default_rng(4)
    fine = floor(*np.exp(generator.normal(0, 0.01, (2, 5))))
    assert fine == 0.0
    assert floor(np.full(5, 7.0), np.full(5, 7.0)) == 0.0
    assert floor(np.full(5, 7.0), np.full(5, 7.0), known=0.06) == pytest.approx(0.06**2 / 6)
