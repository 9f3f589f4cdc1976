"""A flow that sent nothing, or far less than was due, is no measurement of what was requested."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.experiments.traffic.driver import run_traffic, short_of_load
from pentathlon.testbed.endpoint import Endpoint
from tests.experiments.traffic.conftest import Pair, task
from tests.fakes.messages import documents


def words(sent: int, due: int | None, least: float = 50.0, refused: int = 0) -> str | None:
    result: Any = SimpleNamespace(found=SimpleNamespace(sent=sent), due=due, refused=refused)
    return short_of_load(result, least)


def test_the_share_of_the_packets_that_were_due_decides() -> None:
    assert words(35_000, 35_000) is None
    assert words(17_500, 35_000) is None
    assert words(17_499, 35_000) is not None
    assert words(19, 35_000, least=0.01) is None
    assert words(19, 35_000, least=0) is None
    assert words(1, None) is None, "as fast as possible: nothing was due"
    assert words(19, 35_000) == (
        "the generator sent 19 packets of 35,000 that were due (0.054 %), and at least 50 % are "
        "requested"
    )


@pytest.mark.parametrize("due", [None, 0, 35_000])
@pytest.mark.parametrize("least", [0.0, 50.0])
def test_nothing_is_never_a_measurement(due: int | None, least: float) -> None:
    found = words(0, due, least, refused=7)
    assert found is not None
    assert found.startswith("the generator sent no packet")
    assert found.endswith("its system refused 7")


def ran(pair: Pair, **parameters: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Errors, and the flow of each trial."""
    events = documents(run_traffic(task(**parameters), *pair))
    samples = [event for event in events if event["event"] == "sample"]
    errors = [event for event in events if event["event"] == "error"]
    assert bool(samples) != bool(errors)
    return errors, [event["flows"][0] for event in events if event["event"] == "packets"]


@pytest.mark.parametrize(("protocol", "rate"), [("udp", 1000), ("tcp", 1000)])
def test_the_packets_that_were_due_are_counted(pair: Pair, protocol: str, rate: int) -> None:
    errors, [flow] = ran(pair, protocols=[protocol], packet_rate=f"constant {rate}")
    assert [event["reason"] for event in errors] == []
    assert flow["due"] == 300
    assert 0 < flow["sent"] + flow["refused"] <= 300


def test_a_flow_as_fast_as_possible_has_no_packets_that_are_due(pair: Pair) -> None:
    """On a busy machine so short a flow may be over before its sender runs."""
    errors, [flow] = ran(
        pair, packet_rate="constant 0", duration_s=0.05, least_sent_percent=100.0
    )  # fmt: skip
    assert flow["due"] is None
    nothing = ["the generator sent no packet"]
    assert [error["reason"] for error in errors] == ([] if flow["sent"] else nothing)


@pytest.mark.parametrize(("protocol", "valid"), [("udp", False), ("tcp", True)])
def test_far_less_than_was_due_is_invalid_however_wide_the_limits_are(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, protocol: str, valid: bool
) -> None:
    """What a receiver holds up a stream by is measured, not refused."""
    send = Endpoint.send

    def slow(self: Endpoint, *requested: Any) -> dict[str, Any]:
        answer = send(self, *requested)
        answer["flows"][0]["planned"] = 35_000
        return answer

    monkeypatch.setattr(Endpoint, "send", slow)
    errors, _ = ran(pair, protocols=[protocol], least_sent_percent=10.0)
    assert [error["kind"] for error in errors] == ([] if valid else ["invalid"])
    if errors:
        assert "packets of 35,000 that were due" in errors[0]["reason"]


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_a_flow_that_sent_nothing_is_invalid(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """As a host does whose sender gets no CPU before the flow is over: its records are empty."""
    fetch = Endpoint.fetch

    def empty(self: Endpoint, trial: str) -> list[Any]:
        kept = fetch(self, trial)
        return [
            one if one.kind == "exchange" else one.__class__(**vars(one) | {"data": b""})
            for one in kept
        ]

    monkeypatch.setattr(Endpoint, "fetch", empty)
    errors, [flow] = ran(pair, protocols=[protocol])
    assert [error["kind"] for error in errors] == ["invalid"]
    assert "the generator sent no packet of 600 that were due" in errors[0]["reason"]
    assert flow["sent"] == 0
