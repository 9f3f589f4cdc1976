"""The search finds the capacity of simulated devices, and says where it cannot."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.target.forwarding.search import CannotOffer, Trial, highest_rate


def device(capacity: float) -> Trial:
    """Forwards up to its capacity and drops the rest."""
    return lambda rate: max(0.0, 1 - capacity / rate)


@given(st.floats(1e3, 4e5), st.floats(0.002, 0.1))
def test_the_capacity_lies_between_what_passes_and_what_fails(
    capacity: float, resolution: float
) -> None:
    found = highest_rate(device(capacity), 4e5, 4e5 * resolution)
    if found.failed is None:
        assert capacity >= found.passed == 4e5
    else:
        assert found.passed <= capacity < found.failed
        assert found.failed - found.passed <= 4e5 * resolution


@given(st.floats(2e4, 3e5))
def test_the_partial_rate_is_higher_by_what_may_be_lost(capacity: float) -> None:
    found = highest_rate(device(capacity), 4e5, 400, allowed=0.05)
    assert found.passed <= capacity / 0.95 * (1 + 1e-9)
    assert found.failed is not None
    assert found.failed >= capacity / 0.95 * (1 - 1e-9)


def test_a_packet_lost_now_and_then_to_something_else_does_not_decide() -> None:
    chance = random.Random(5)

    def trial(rate: float) -> float:
        loss = device(1e5)(rate)
        return loss or (1e-6 if chance.random() < 0.2 else 0.0)

    singles = [highest_rate(trial, 4e5, 4e3, trials=1).passed for _ in range(40)]
    repeated = [highest_rate(trial, 4e5, 4e3, trials=5).passed for _ in range(40)]
    near = [rate > 9.5e4 for rate in repeated]
    assert sum(near) > sum(rate > 9.5e4 for rate in singles)
    assert sum(near) >= 30


def test_the_generators_limit_is_not_taken_for_the_devices() -> None:
    def trial(rate: float) -> float:
        if rate > 5e4:
            raise CannotOffer("too fast")
        return device(1e5)(rate)

    found = highest_rate(trial, 4e5, 1e3)
    assert found.failed is None
    assert found.reason == "too fast"
    assert 4.9e4 <= found.passed <= 5e4


def test_a_device_below_the_generators_limit_is_found_all_the_same() -> None:
    def trial(rate: float) -> float:
        if rate > 1.5e5:
            raise CannotOffer("too fast")
        return device(1e5)(rate)

    found = highest_rate(trial, 4e5, 1e3)
    assert found.reason is None
    assert found.failed is not None
    assert found.passed <= 1e5 < found.failed


def test_trials_are_not_made_twice() -> None:
    asked: list[float] = []

    def trial(rate: float) -> float:
        asked.append(rate)
        return device(1e5)(rate)

    tried: dict[float, list[float]] = {}
    highest_rate(trial, 4e5, 1e4, tried=tried)
    first = len(asked)
    highest_rate(trial, 4e5, 1e4, tried=tried)
    assert len(asked) == first


def test_a_rate_that_never_passes() -> None:
    found = highest_rate(lambda rate: 1.0, 4e5, 1e4)
    assert found.passed == 0
    assert found.failed is not None
    assert found.failed <= 1e4


def test_arguments_that_make_no_search() -> None:
    for highest, resolution in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="above 0"):
            highest_rate(device(1), highest, resolution)
