"""The distance from a model is small for its own values and large for those of another."""

import numpy as np
import pytest
from scipy import stats

from pentathlon.packets import fit
from pentathlon.study import distributions

RANDOM = np.random.default_rng(5)
COUNT = 20_000

OWN = {
    "uniform 1 3": RANDOM.uniform(1, 3, COUNT),
    "exponential 2": RANDOM.exponential(2, COUNT),
    "pareto 2 1": 1 + RANDOM.pareto(2, COUNT),
    "cauchy 5 1": 5 + RANDOM.standard_cauchy(COUNT),
    "normal 10 2": RANDOM.normal(10, 2, COUNT),
    "poisson 4": RANDOM.poisson(4, COUNT).astype(float),
    "gamma 2 1.5": RANDOM.gamma(2, 1.5, COUNT),
    "weibull 1.5 2": 2 * RANDOM.weibull(1.5, COUNT),
    "imix": RANDOM.choice([32.0, 548.0, 1472.0], COUNT, p=[7 / 12, 4 / 12, 1 / 12]),
    "trace 1 2 6": np.tile([1.0, 2.0, 6.0], COUNT // 3),
    "constant 7": np.full(COUNT, 7.0),
}


@pytest.mark.parametrize("text", OWN)
def test_own_values_are_near_and_scaled_ones_far(text: str) -> None:
    model = distributions.parse(text)
    near = fit.distance(OWN[text], model)
    far = fit.distance(OWN[text] * 2 + 1, model)
    assert near is not None and near < 0.01
    assert far is not None and far > 0.15


def test_the_distance_without_tolerance_is_that_of_kolmogorov(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fit, "SHARE", 0.0)
    values = RANDOM.gamma(2, 1, 500)
    found = fit.distance(values, distributions.parse("exponential 2"))
    assert found == pytest.approx(stats.kstest(values, stats.expon(scale=2).cdf).statistic)


def test_gaps_of_a_rate_are_its_inverse() -> None:
    rates = RANDOM.uniform(1000, 3000, COUNT)
    sent = np.cumsum(1e9 / rates).astype(np.int64)
    gap = {"of": distributions.parse("uniform 1000 3000"), "rate": True}
    near = fit.gap_distance(gap, sent, sent)
    assert near is not None and near < 0.02
    # Bursts: every second packet waits for the next one.
    bunched = sent.copy()
    bunched[::2] = sent[1::2][: len(bunched[::2])]
    far = fit.gap_distance(gap, np.sort(bunched), sent)
    assert far is not None and far > 0.4


def test_negative_gaps_count_as_none() -> None:
    gaps = np.maximum(RANDOM.normal(0.001, 0.002, COUNT), 0)
    sent = np.cumsum(gaps * 1e9).astype(np.int64)
    found = fit.gap_distance(
        {"of": distributions.parse("normal 0.001 0.002"), "rate": False}, sent, sent
    )
    assert found is not None and found < 0.02


def test_with_pauses_the_intended_gaps_are_the_model() -> None:
    times = np.concatenate([np.arange(100) * 10_000 + start for start in (0, 5_000_000)])
    gap = {"of": distributions.parse("constant 0.00001"), "rate": False, "on": {}, "off": {}}
    gap |= {
        "on": distributions.parse("constant 0.001"),
        "off": distributions.parse("constant 0.004"),
    }
    assert fit.gap_distance(gap, times, times) == 0
    stretched = fit.gap_distance(gap, times * 3, times)
    assert stretched is not None and stretched > 0.9


def test_nothing_is_fitted_where_nothing_is_asked() -> None:
    gap = {"of": distributions.parse("constant 0"), "rate": True}
    assert fit.gap_distance(gap, np.arange(5), np.arange(5)) is None
