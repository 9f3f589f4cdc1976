"""Protocols beside UDP and TCP, groups, the kernel's times, and what the CPUs have left."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.testbed.endpoint import Endpoint
from tests.experiments.traffic.conftest import Pair, task
from tests.fakes.messages import documents

ATTEMPTS = 10


def ran(pair: Pair, **parameters: Any) -> list[dict[str, Any]]:
    for _ in range(ATTEMPTS):
        events = documents(run_traffic(task(**parameters), *pair))
        errors = [event for event in events if event["event"] == "error"]
        # On a busy machine a short flow may be over before its generator gets a CPU.
        if not any("the generator sent no packet" in event["reason"] for event in errors):
            break
    if errors and errors[0]["kind"] == "unsupported":
        pytest.skip(errors[0]["reason"])
    assert [event["reason"] for event in errors] == []
    return events


def values(events: list[dict[str, Any]]) -> dict[tuple[str | None, str], float]:
    return {
        (event["case"].get("flow"), event["metric"]): event["value"]
        for event in events
        if event["event"] == "sample"
    }


def table(events: list[dict[str, Any]]) -> pl.DataFrame:
    kept = next(event for event in events if event["event"] == "packets")
    return pl.read_parquet(io.BytesIO(kept["table"]))


@pytest.mark.parametrize("version", [6, 4])
def test_the_first_packet_of_a_new_link_arrives(joined: Pair, version: int) -> None:
    """IPv6 comes first: neighbours are not known yet, and no packet may pay for it."""
    measured = values(ran(joined, ip_versions=[version], packet_rate="constant 500"))
    assert measured[None, "lost"] == 0


@pytest.mark.parametrize(("version", "length"), [(4, 200), (6, 200), (4, 18)])
def test_echo_requests_are_heard_and_answered(joined: Pair, version: int, length: int) -> None:
    events = ran(
        joined, protocols=["icmp"], ip_versions=[version], size_bytes=[length],
        packet_rate="constant 500",
    )  # fmt: skip
    reported, packets = values(events), table(events)
    assert (reported[None, "lost"], reported[None, "duplicated"]) == (0, 0)
    assert reported[None, "round_trip"] > 0
    assert len(packets) > 10
    assert (packets["length"] == length).all()
    assert packets["echo_ns"].is_not_null().all()
    assert (packets["echo_ns"] >= packets["sent_ns"]).all()


@pytest.mark.parametrize("protocol", ["sctp", "dccp"])
def test_a_protocol_is_there_or_unsupported_by_its_name(joined: Pair, protocol: str) -> None:
    work = task(protocols=[protocol], duration_s=0.1)
    events = documents(run_traffic(work, *joined))
    errors = [event for event in events if event["event"] == "error"]
    if errors:
        assert [error["kind"] for error in errors] == ["unsupported"]
        assert f"the kernel has no {protocol.upper()}: " in errors[0]["reason"]
    else:
        assert values(events)[None, "delivered"] > 0


@pytest.mark.parametrize("version", [4, 6])
def test_every_receiver_of_a_group_hears_every_packet(joined: Pair, version: int) -> None:
    events = ran(joined, multicast=3, flows=2, ip_versions=[version], packet_rate="constant 500")
    parts = values(events)
    names = ["1", "2", "1 receiver 2", "2 receiver 2", "1 receiver 3", "2 receiver 3"]
    assert [parts[name, "lost"] for name in names] == [0] * 6
    assert all(parts[name, "delay"] != 0 for name in names)
    packets = table(events)
    sent = [packets.filter(pl.col("flow") == flow)["sent_ns"].to_list() for flow in range(6)]
    assert sent[0] == sent[2] == sent[4]
    assert sent[1] == sent[3] == sent[5]
    assert sent[0] != sent[1]
    assert (None, "round_trip") not in parts


def test_a_group_takes_datagrams_only(joined: Pair) -> None:
    [error] = [
        event
        for _, event in run_traffic(task(protocols=["tcp"], multicast=2), *joined)
        if event["event"] == "error"
    ]
    assert error["kind"] == "request"
    assert "UDP only" in error["reason"]


def test_many_flows_in_both_directions(joined: Pair) -> None:
    measured = values(
        ran(joined, flows=4, both_ways=True, packet_rate="constant 100", duration_s=1.0)
    )
    names = {flow for flow, _ in measured if flow is not None}
    assert names == {f"{n}{back}" for n in range(1, 5) for back in ("", " back")}
    assert all(measured[name, "lost"] == 0 for name in names)


def test_the_kernels_times_lie_between_those_of_the_programs(joined: Pair) -> None:
    packets = table(ran(joined, kernel_times=True, echo=False))
    assert packets["left_ns"].null_count() + packets["heard_ns"].null_count() < len(packets) / 10
    whole = packets.drop_nulls(["left_ns", "heard_ns"])
    # A stamp is placed on the timer by two clocks that are read one after the other.
    grain = 100_000
    assert ((whole["left_ns"] - whole["sent_ns"]) > -grain).all()
    assert ((whole["arrival_ns"] - whole["heard_ns"]) > -grain).mean() > 0.9


def test_only_tcp_has_the_figures_of_rfc_6349(joined: Pair) -> None:
    figures = {"tcp_efficiency", "buffer_delay"}
    events = ran(joined, protocols=["udp", "tcp"])
    found = {
        protocol: figures & {e.get("metric") for e in events if case_of(e) == protocol}
        for protocol in ("udp", "tcp")
    }
    assert found == {"udp": set(), "tcp": figures}


def case_of(event: dict[str, Any]) -> str | None:
    """The protocol of a sample."""
    return event["case"]["protocol"] if event["event"] == "sample" else None


def test_a_cpu_hog_tells_what_is_left(joined: Pair) -> None:
    measured = values(ran(joined, cpu_hog="other"))
    assert measured[None, "cpu_available_sender"] > 0
    assert measured[None, "cpu_available_receiver"] > 0
    assert (None, "packet_cpu_sender") not in measured
    assert (None, "cpu_softirq_sender") in measured


def test_packets_of_one_piece_have_no_jitter(joined: Pair) -> None:
    measured = values(ran(joined, transmit_backend=["gso"], receiver="xdp", echo=False))
    assert (None, "jitter") not in measured
    assert (None, "ditg_jitter") not in measured
    assert measured[None, "delivered"] > 0


def test_the_age_of_shared_times_is_in_the_bound(
    joined: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a receiver states of its looks at the clock (docs/network.md), planted."""
    finish = Endpoint.finish

    def older(self: Endpoint, *requested: Any) -> dict[str, Any]:
        answer = finish(self, *requested)
        answer["flows"][0] |= {"age_ns": 4321, "stale": 3}
        return answer

    for planted in (False, True):
        if planted:
            monkeypatch.setattr(Endpoint, "finish", older)
        events = ran(joined, echo=False)
        flow = next(event for event in events if event["event"] == "packets")["flows"][0]
        assert (flow["age_ns"], flow["stale"]) == ((4321, 3) if planted else (0, 0))
        bound_ns = values(events)[None, "delay_bound"] * 1e6
        assert bound_ns == pytest.approx(flow["clocks"]["bound_ns"] + flow["age_ns"])


def test_a_refused_sender_leaves_no_records(joined: Pair) -> None:
    """What an endpoint keeps is in its own directory, until it is fetched or refused."""
    work = task(transmit_backend=["packet"], size_bytes=[1600])
    errors = [e for _, e in run_traffic(work, *joined) if e["event"] == "error"]
    assert [error["kind"] for error in errors] == ["unsupported"]
    for endpoint in joined:
        pid = endpoint.session.pid
        own = Path("/tmp").glob(f"pentathlon-{pid}-*")
        left = [file.name for place in own for file in place.iterdir() if file.name != "lock"]
        assert left == []


def test_the_clocks_are_known_better_than_a_round_trip(joined: Pair) -> None:
    """The bound is half the shortest round trip of hundreds of exchanges, and some drift."""
    events = ran(joined, duration_s=0.3)
    kept = next(event for event in events if event["event"] == "packets")
    line = kept["flows"][0]["clocks"]
    assert line["exchanges"] > 10
    trips = table(events)
    shortest = (trips["echo_ns"] - trips["sent_ns"]).min()
    assert isinstance(shortest, int)
    assert 0 < line["bound_ns"] < 10 * shortest
    assert np.isfinite(line["drift"])


def test_the_best_transmit_backend_is_the_first_that_is_not_refused(pair: Pair) -> None:
    """Loopback is no Ethernet device: frames are refused there, calls are not."""
    events = documents(run_traffic(task(transmit_backend=["best"]), *pair))
    refused = [
        (e["case"]["transmit_backend"], e["kind"], bool(e["reason"]))
        for e in events
        if e["event"] == "error"
    ]
    assert refused == [("live", "unsupported", True), ("packet", "unsupported", True)]
    assert {e["case"]["transmit_backend"] for e in events if e["event"] == "sample"} == {"sendmmsg"}
