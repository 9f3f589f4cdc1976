"""Rates without loss, with intervals: what was planted comes back inside them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.derived.series import mean_of
from pentathlon.report.html import page
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, same


def slower(item: Item) -> float:
    """Of speed: rates a fifth lower."""
    return 0.8


def result(**settings):
    factors = {"uml-6.1": same, "uml-7.2": slower}
    return Maker(factors=factors, chosen=list(planted.rates()), **settings).make()


@pytest.fixture(scope="module")
def limits():
    return evaluate(result()).derived.limits


def test_planted_rates_are_inside_their_intervals(limits):
    assert {(one.system, one.criterion) for one in limits} == {
        (system, criterion) for criterion in planted.RATES for system in ("uml-6.1", "uml-7.2")
    }
    assert len(limits) == 4
    for one in limits:
        truth = 1e3 * planted.RATES[one.criterion] * (0.8 if one.system == "uml-7.2" else 1)
        assert one.passed.low <= truth <= one.passed.high
        assert one.failed.low <= 1.02 * truth <= one.failed.high
        if one.system == "uml-6.1":
            assert one.against is None
        else:
            assert one.against.low <= 0.8 <= one.against.high
            assert one.against.high < 0.85


def test_no_rate_is_said_to_be_below_zero():
    # Two boots that differ as much as this leave everything open, but not what cannot be.
    wide = evaluate(result(blocks=2, noise=60.0, seed=3)).derived.limits
    assert any(one.passed.low == 0 for one in wide)
    assert all(0 <= one.passed.low < one.passed.value < one.passed.high for one in wide)


def test_an_interval_ends_where_its_values_do_and_is_else_as_it_was():
    boots = np.array([1.0, 9.0])
    free, bound = mean_of(boots, 0.05), mean_of(boots, 0.05, least=0, most=100)
    assert free.low < 0 and bound.low == 0
    assert (bound.value, bound.high) == (free.value, free.high)
    shares = mean_of(np.array([90.0, 99.0]), 0.05, least=0, most=100)
    assert shares.low == mean_of(np.array([90.0, 99.0]), 0.05).low and shares.high == 100


def test_one_boot_has_no_interval():
    first, *_ = evaluate(result(blocks=1)).derived.limits
    assert first.passed.low is None
    assert "no interval" in first.words[0]


def test_the_page_says_them():
    made = result()
    text = re.sub(r"<[^>]+>", " ", page.render(evaluate(made), made))
    assert "What the searches found" in text
    assert re.search(r"no loss: [\d.]+ \([\d.]+ to [\d.]+\) thousand packets/s", text)
    assert "against the reference" in text
