"""Least squares and the scaling of repetitions."""

from __future__ import annotations

import numpy as np
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.levels.scaling import least_squares
from tests.fakes.synthetic import Item, Maker, same


def test_an_exact_line():
    line = least_squares(np.array([1.0, 2.0, 5.0]), np.array([5.0, 7.0, 13.0]))
    assert (line.slope, line.intercept, line.r_squared) == pytest.approx((2.0, 3.0, 1.0))
    assert line.worst_percent == pytest.approx(0.0, abs=1e-9)


def test_agrees_with_numpy():
    generator = np.random.default_rng(3)
    x = np.arange(1.0, 20.0)
    y = 4.0 + 0.5 * x + generator.normal(0, 0.3, len(x))
    slope, intercept = np.polyfit(x, y, 1)
    line = least_squares(x, y)
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept))
    assert line.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def call_styles(cost):
    return [
        Item(
            "process.call_styles", "time", {"style": "f", "repetitions": n}, "ns", "lower", cost(n)
        )
        for n in (1, 4, 16, 64, 256)
    ]


def test_slopes_of_a_result():
    chosen = call_styles(lambda n: 30.0 + 400.0 * n)
    result = Maker(factors={"a": same, "b": lambda _: 1.25}, chosen=chosen, noise=0.3).make()
    found = {one.system: one for one in evaluate(result).scalings}
    assert found["a"].slope == pytest.approx(400.0, rel=0.02)
    assert found["b"].slope == pytest.approx(320.0, rel=0.02)
    assert found["a"].slope_low < 400.0 * 1.01
    assert found["a"].slope_low < found["a"].slope < found["a"].slope_high
    assert found["a"].r_squared > 0.999


def test_work_that_does_not_scale_linearly_shows_in_r_squared():
    chosen = call_styles(lambda n: 400.0 * n**2)
    found = evaluate(Maker(factors={"a": same}, chosen=chosen, noise=0.1).make()).scalings
    assert found[0].r_squared < 0.98
    assert found[0].worst_percent > 50
