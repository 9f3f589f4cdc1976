"""What is not known is called so; numbers of things have the right noun."""

from __future__ import annotations

import math

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.display import interval_text
from pentathlon.evaluate.estimators.ratio import log_of, percent
from pentathlon.report.answer import speed_words
from pentathlon.report.decision import best_words
from pentathlon.study.counting import count_text, mean_of, plural, singular
from tests.fakes.synthetic import Item, Maker, same


@pytest.mark.parametrize("log_ratio", [-30.0, -1.0, 0.0, 0.01, 30.0, 600.0])
def test_log_of_is_the_inverse_of_percent(log_ratio: float) -> None:
    assert log_of(percent(log_ratio)) == pytest.approx(log_ratio, rel=1e-2, abs=1e-12)


def test_ends_that_percentages_cannot_hold() -> None:
    assert percent(-80.0) == -100.0 and log_of(-100.0) == -math.inf
    assert log_of(percent(5000.0)) == math.inf
    assert speed_words(math.inf) == "more than 10,000 times as fast"
    assert speed_words(-math.inf) == "less than 1/10,000 of the speed"


def test_intervals_in_words() -> None:
    assert interval_text(-1.0, 2.0) == "[−1.00, +2.00]"
    assert interval_text(-100.0, 4e17) == "not known"
    assert interval_text(-50.0, 4e17, "{} to {}") == "−50.0 to not known"


def test_numbers_of_things() -> None:
    assert [count_text(n, "boot") for n in (0, 1, 2, 4000)] == [
        "0 boots", "1 boot", "2 boots", "4,000 boots",
    ]  # fmt: skip
    assert mean_of(1) == "1 boot" and mean_of(3) == "mean of 3 boots"
    for one in ("boot", "process", "entry", "day", "switch"):
        assert singular(plural(one)) == one
    assert case_text({"threads": 1}) == "1 thread"
    assert case_text({"processes": 1}) == "1 process"
    assert case_text({"processes": 2}) == "2 processes"


def test_a_text_that_means_nothing_alone_has_its_factor_beside_it() -> None:
    assert case_text({"read_only": "yes"}) == "read only yes"
    assert case_text({"level": "9"}) == "level 9"
    assert case_text({"cipher": "aes-256-gcm"}) == "aes-256-gcm"


def shown(noise: float, faster: float) -> str:
    items = [Item(f"{area}.w", "time", {}, "ns", "lower", 100.0, noise) for area in "pq"]
    factors = {"a": same, "b": lambda _: faster, "c": lambda _: faster * 1.1}
    return best_words(evaluate(Maker(factors=factors, chosen=items, blocks=5).make()))


def test_no_system_is_the_best_of_those_that_cannot_be_told_apart() -> None:
    assert shown(0.5, 1.0) == ""
    assert shown(0.004, 1.3).startswith("Best of all systems")
