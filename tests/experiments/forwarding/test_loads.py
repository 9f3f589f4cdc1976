"""Automatic loads lie around the capacity of forwarders that are formulas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.experiments.forwarding import loads, sweep
from pentathlon.experiments.forwarding.flow import Flow
from pentathlon.experiments.forwarding.search import CannotOffer
from pentathlon.experiments.forwarding.trials import TRIES
from pentathlon.testbed.trial import InvalidTrial
from tests.experiments.forwarding.test_testbed import SWEEP, task
from tests.fakes.messages import documents

AUTOMATIC = SWEEP | {
    "loads": "automatic", "highest_kpps": 400.0, "cpu_hog": "none",
    "competitor": ["none", "cpu.simplex"],
}  # fmt: skip


def drops_beyond(capacity: float, offers: float = float("inf")) -> Any:
    """A forwarder's losses; the generator offers no more than `offers`."""

    def lost(rate: float) -> float:
        if rate > offers:
            raise CannotOffer("too fast")
        return max(0.0, 1 - capacity / rate)

    return lost


@given(st.floats(1e3, 9e5))
def test_the_knee_is_where_little_is_lost(capacity: float) -> None:
    knee = loads.find(drops_beyond(capacity), 1e6)
    limit = capacity / (1 - loads.ALLOWED)
    assert (1 - loads.CLOSE) * limit <= knee.rate <= limit * (1 + 1e-9)
    assert knee.beyond is None and "more was" in knee.words


@given(st.floats(5e3, 9e5))
def test_the_generators_limit_is_told_as_such(offers: float) -> None:
    knee = loads.find(drops_beyond(2e6, offers), 1e6)
    assert 0.9 * offers <= knee.rate <= offers
    assert knee.beyond == "too fast" and "generator" in knee.words


def test_a_limit_above_where_the_search_began_is_said() -> None:
    knee = loads.find(drops_beyond(2e6), 1e6)
    assert (knee.rate, knee.beyond) == (1e6, None)
    assert "the limit is above" in knee.words


def test_a_forwarder_that_forwards_nothing_has_no_knee() -> None:
    knee = loads.find(lambda _: 1.0, 1e6)
    assert knee.rate == 0
    assert "lost more than 1 %" in knee.words


def swept(
    monkeypatch: pytest.MonkeyPatch, offers: float, stumbles: int = 0
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The events over a forwarder of 100 Kpps, and the loads of the trials.

    Args:
        offers: what the generator can offer at most, packets/s.
        stumbles: invalid trials of each load of the search before one that is valid.
    """
    offered: list[tuple[str, float]] = []
    made: dict[float, int] = {}

    def run_flow(*_: Any, packet_rate: float, **__: Any) -> Flow:
        made[packet_rate] = made.get(packet_rate, 0) + 1
        if packet_rate > offers:
            raise InvalidTrial("too fast")
        if made[packet_rate] <= stumbles:
            raise InvalidTrial("late")
        came = round(1e6 * min(1.0, 1e5 / packet_rate))
        return Flow(10**6, came, packet_rate, packet_rate, packet_rate, None)

    def trial(_: Any, __: Any, rate: float, setting: Any, ___: Any) -> sweep.Yield:
        offered.append((setting.case["competitor"], rate))
        return sweep.Yield({"throughput": rate}, [])

    monkeypatch.setattr(sweep, "run_flow", run_flow)
    monkeypatch.setattr(sweep, "_measured", trial)
    monkeypatch.setattr(sweep, "set_up", lambda *_: None)
    return documents(sweep.run_sweep(task("forwarding.sweep", **AUTOMATIC), None)), offered  # type: ignore[arg-type]


def test_competitors_share_the_loads_of_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    events, offered = swept(monkeypatch, float("inf"))
    samples = [e for e in events if e["event"] == "sample"]
    (knee,) = [e for e in samples if e["metric"] == "knee"]
    assert knee["case"] == {"frame_bytes": 64, "competitor": "none"}
    assert 0.95e5 <= knee["value"] <= 1e5 / (1 - loads.ALLOWED)
    rates = [knee["value"] * share / 100 for share in loads.SHARES]
    for competitor in ("none", "cpu.simplex"):
        assert [rate for name, rate in offered if name == competitor] == pytest.approx(rates)
    cases = [e["case"]["load_percent"] for e in samples if e["metric"] == "throughput"]
    assert cases == [*loads.SHARES, *loads.SHARES]
    (sentences,) = [e["message"] for e in events if e["event"] == "log"]  # No trial was made again.
    assert "100 % are" in sentences


def test_an_invalid_trial_is_not_the_generators_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    events, _ = swept(monkeypatch, float("inf"), stumbles=TRIES - 1)
    (knee,) = [e for e in events if e.get("metric") == "knee"]
    assert 0.95e5 <= knee["value"] <= 1e5 / (1 - loads.ALLOWED)
    assert not [e for e in events if e["event"] == "error"]
    sentences = [e["message"] for e in events if e["event"] == "log"]
    assert "100 % are" in sentences[-1] and len(sentences) > 1
    assert all("2 trials were invalid and made again: late" in text for text in sentences[:-1])
    assert any("at 400000 packets/s" in text for text in sentences)


def test_loads_that_the_generator_cannot_offer_are_told_and_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events, offered = swept(monkeypatch, 5e4)
    assert all(rate <= 5e4 for _, rate in offered)
    sentences = [e["message"] for e in events if e["event"] == "log"][:-1]
    beyond = [text for text in sentences if "none of 3 trials was valid: too fast" in text]
    assert sentences == beyond and any("at 400000 packets/s" in text for text in sentences)
    wrong = [e for e in events if e["event"] == "error"]
    assert {e["case"]["load_percent"] for e in wrong} == {110, 125, 150}
    assert all(e["kind"] == "unsupported" and "too fast" in e["reason"] for e in wrong)


def test_without_any_load_that_passes_every_setting_is_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events, offered = swept(monkeypatch, 0)
    wrong = [e for e in events if e["event"] == "error"]
    assert offered == []
    assert [(e["kind"], e["case"]["competitor"]) for e in wrong] == [
        ("invalid", "none"), ("invalid", "cpu.simplex"),
    ]  # fmt: skip
