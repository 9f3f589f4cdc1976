"""The search over a forwarder that is a formula; its generator fails where it is set to."""

from collections.abc import Callable
from typing import Any

import pytest

from pentathlon.experiments.forwarding import ndr
from pentathlon.experiments.forwarding.flow import Flow
from pentathlon.experiments.forwarding.trials import TRIES
from pentathlon.packets.flow_metrics import Delay
from pentathlon.testbed.trial import InvalidTrial
from tests.experiments.forwarding.test_testbed import SWEEP, task
from tests.fakes.messages import documents

QUANTILES = {"p50": 1e-6, "p90": 2e-6, "p99": 3e-6, "p999": 4e-6, "p9999": 5e-6}
CAPACITY, HIGHEST = 700.0, 1000.0
PARAMETERS = SWEEP | {
    "highest_kpps": HIGHEST / 1e3, "resolution_percent": 1.0, "partial_percent": 0.0, "trials": 1,
}  # fmt: skip


def searched(
    monkeypatch: pytest.MonkeyPatch,
    misses: Callable[[float, int], bool],
    loses: Callable[[float, int], bool] = lambda *_: False,
) -> list[dict[str, Any]]:
    """The events of a search.

    Args:
        misses: whether the n-th flow of a rate misses its schedule.
        loses: whether it loses a packet to something else.
    """
    times: dict[float, int] = {}

    def run_flow(*_: Any, packet_rate: float, **__: Any) -> Flow:
        times[packet_rate] = times.get(packet_rate, 0) + 1
        if misses(packet_rate, times[packet_rate]):
            raise InvalidTrial("late")
        came = 1000 if packet_rate <= CAPACITY else 900
        came -= loses(packet_rate, times[packet_rate])
        trips = Delay(packet_rate * 1e-6, 0.0, 1.0, QUANTILES)
        return Flow(1000, came, packet_rate, packet_rate, packet_rate, trips)

    monkeypatch.setattr(ndr, "run_flow", run_flow)
    monkeypatch.setattr(ndr, "set_up", lambda *_: None)
    return documents(ndr.run_ndr(task("forwarding.ndr", **PARAMETERS), None))  # type: ignore[arg-type]


def of(events: list[dict[str, Any]], metric: str) -> list[float]:
    return [e["value"] for e in events if e.get("metric") == metric]


def test_the_capacity_is_found_and_delays_are_at_its_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = searched(monkeypatch, lambda *_: False)
    rate, _ = of(events, "rate")
    assert CAPACITY - 0.01 * HIGHEST <= rate <= CAPACITY <= of(events, "rate_above")[0]
    shares = [rate * percent / 100 for percent in ndr.LOADS]
    assert of(events, "round_trip") == pytest.approx(shares)
    for place, name in enumerate(("median", "p90", "p99", "p999", "p9999"), start=1):
        assert of(events, f"round_trip_{name}") == pytest.approx([place] * len(ndr.LOADS))


def test_one_lost_packet_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first trial at half the highest rate loses one packet of a thousand to something else."""
    events = searched(monkeypatch, lambda *_: False, lambda rate, n: rate == HIGHEST / 2 and n == 1)
    assert of(events, "rate")[0] <= CAPACITY <= of(events, "rate_above")[0]
    [sentences] = [event["message"] for event in events if event["event"] == "log"]
    assert "took 500 packets/s for a rate that fails, and 2 of 3 trials" in sentences


def test_a_machine_that_decides_every_search_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first trial of every rate loses a packet to something else."""
    events = searched(monkeypatch, lambda *_: False, lambda rate, n: n == 1 and rate > 20)
    assert of(events, "rate") == of(events, "round_trip") == []
    errors = [event for event in events if event["event"] == "error"]
    assert {(error["kind"], error["case"]["criterion"]) for error in errors} == {
        ("invalid", "no loss"), ("invalid", "little"),
    }  # fmt: skip
    assert all("something else on the machine decided" in error["reason"] for error in errors)


def test_an_invalid_trial_of_the_search_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    events = searched(monkeypatch, lambda _, turn: turn < TRIES)
    rate, _ = of(events, "rate")
    assert CAPACITY - 0.01 * HIGHEST <= rate <= CAPACITY <= of(events, "rate_above")[0]
    sentences = [e["message"] for e in events if e["event"] == "log"]
    assert sentences and all(
        "2 trials were invalid and made again: late" in text for text in sentences
    )


def test_a_delay_whose_generator_was_late_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The search does not come down to this rate.
    events = searched(monkeypatch, lambda rate, turn: rate < 0.6 * CAPACITY and turn < TRIES)
    assert len(of(events, "round_trip")) == len(ndr.LOADS)
    assert not [e for e in events if e["event"] == "error"]


def test_a_load_that_is_never_in_time_spoils_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    events = searched(monkeypatch, lambda rate, _: rate < 0.6 * CAPACITY)
    assert len(of(events, "rate")) == 2
    assert len(of(events, "round_trip")) == 2
    wrong = [e for e in events if e["event"] == "error"]
    assert [(e["kind"], e["reason"], e["case"]["load_percent"]) for e in wrong] == [
        ("invalid", "late", 50)
    ]
