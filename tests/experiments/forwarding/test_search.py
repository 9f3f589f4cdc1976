"""The search finds the capacity of simulated devices, and states where it cannot."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.experiments.forwarding.search import CannotOffer, Trial, contradiction, highest_rate


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


def stumbling(capacity: float, times: dict[float, int], loss: float = 1e-6) -> Trial:
    """A device beside which something else loses a packet, or saves one, at the first trials of
    some rates (`times`)."""
    left = dict(times)

    def trial(rate: float) -> float:
        near = next((known for known in left if abs(known - rate) < 1 and left[known]), None)
        if near is None:
            return device(capacity)(rate)
        left[near] -= 1
        return loss

    return trial


@pytest.mark.parametrize("trials", [1, 2])
@pytest.mark.parametrize(
    ("times", "loss", "message"),
    [
        ({1e5: 1}, 1e-6, "took 100000 packets/s for a rate that fails"),
        ({1e5: 1, 5e4: 1}, 1e-6, "took 50000 packets/s for a rate that fails"),
        ({2e5: 1}, 0.0, "took 200000 packets/s for a rate that passes"),
    ],
)
def test_what_one_trial_decided_wrongly_is_found_out(
    trials: int, times: dict[float, int], loss: float, message: str
) -> None:
    trial = stumbling(1.5e5, times, loss)
    found = highest_rate(trial, 4e5, 4e3, trials=trials)
    wrong = contradiction(trial, found)
    if loss == 0 and trials == 2:
        # Both trials of a rate have to pass.
        assert wrong is None and found.passed <= 1.5e5
        return
    assert wrong is not None and message in wrong and "trials = 3" in wrong
    for _ in times:
        found = highest_rate(trial, 4e5, 4e3, trials=trials, tried=found.tried)
        wrong = contradiction(trial, found)
    assert wrong is None and found.failed is not None
    assert found.passed <= 1.5e5 < found.failed


@given(st.floats(5e3, 3.9e5), st.integers(1, 5))
def test_a_search_of_a_quiet_machine_stands(capacity: float, trials: int) -> None:
    found = highest_rate(device(capacity), 4e5, 4e3, trials=trials)
    made = sum(map(len, found.tried.values()))
    assert contradiction(device(capacity), found) is None
    assert sum(map(len, found.tried.values())) - made == {1: 2, 2: 1}.get(trials, 0)


def test_a_rate_that_cannot_be_offered_again_does_not_stand() -> None:
    found = highest_rate(device(1e5), 4e5, 4e3, trials=1)

    def late(rate: float) -> float:
        raise CannotOffer("too fast")

    assert "not again: too fast" in (contradiction(late, found) or "")


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
    requests: list[float] = []

    def trial(rate: float) -> float:
        requests.append(rate)
        return device(1e5)(rate)

    tried: dict[float, list[float]] = {}
    highest_rate(trial, 4e5, 1e4, tried=tried)
    first = len(requests)
    highest_rate(trial, 4e5, 1e4, tried=tried)
    assert len(requests) == first


def test_a_rate_that_never_passes() -> None:
    found = highest_rate(lambda rate: 1.0, 4e5, 1e4)
    assert found.passed == 0
    assert found.failed is not None
    assert found.failed <= 1e4


def test_arguments_that_make_no_search() -> None:
    for highest, resolution in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="above 0"):
            highest_rate(device(1), highest, resolution)
