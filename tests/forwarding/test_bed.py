"""Real packets through a real forwarder in a namespace; needs root."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon import agent
from pentathlon.target import TargetUnavailable, make_target
from pentathlon.target.forwarding import bed, beside
from pentathlon.target.forwarding.flow import Flow, InvalidTrial, run_flow
from pentathlon.target.forwarding.ndr import run_ndr
from pentathlon.target.forwarding.sweep import run_sweep
from pentathlon.target.netns import probe
from pentathlon.target.pair import hosts
from pentathlon.target.pair.trial import Task
from tests.target.conftest import FakeSystem

SWEEP = {
    "offered_kpps": [1], "frame_bytes": [78], "duration_s": 0.5, "lead_s": 0.5, "soaker": "idle",
    "competitor": ["none"], "copies": 1, "nice": 0, "steering": ["own"], "routes": [0],
    "rung": "send", "lateness_limit_ms": 1000.0,
}  # fmt: skip


def task(workload: str, **parameters: Any) -> Task:
    description = {"id": workload, "parameters": parameters, "warmup": 0, "iterations": 1}
    return Task(0, 1, "12ab", 1, description)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bed.Bed]:
    if os.geteuid() != 0:
        pytest.skip("making the bed's links needs root")
    try:
        probe()
        program = agent.locate()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    target = make_target(FakeSystem(target="netns"), program, tmp_path_factory.mktemp("state"))
    found = bed.netns_bed(target, None)(20)  # type: ignore[arg-type]
    yield found
    hosts.stop([found.forwarder, found.generator])


def flow_of(host: bed.Bed, packet_rate: float, frame_bytes: int) -> Flow:
    """A flow that kept its schedule: on a machine that does other work too, not the first one."""
    work = task("forwarding.sweep", **SWEEP)
    for _ in range(8):
        try:
            return run_flow(host, work, packet_rate=packet_rate, frame_bytes=frame_bytes)
        except InvalidTrial:
            continue
    pytest.skip("the machine is too busy for a generator of 1000 packets/s")


def forwarded(host: bed.Bed) -> int:
    """IPv4 packets that the forwarder has forwarded (RFC 4293, ipForwDatagrams)."""
    text = Path(f"/proc/{host.forwarder.session.pid}/net/snmp").read_text()
    names, numbers = [line.split() for line in text.splitlines() if line.startswith("Ip:")]
    return int(numbers[names.index("ForwDatagrams")])


def test_every_packet_goes_through_the_forwarder(made: bed.Bed) -> None:
    before = forwarded(made)
    flow = flow_of(made, 1000, 78)
    assert flow.sent >= 495
    assert forwarded(made) - before >= flow.forwarded > 0
    assert flow.trips is not None
    assert flow.trips.minimum > 0


def test_a_sweep_yields_every_indicator_that_a_veth_can_have(made: bed.Bed) -> None:
    work = task("forwarding.sweep", **SWEEP | {"competitor": ["none", "cpu.simplex"]})
    for _ in range(8):
        events = list(run_sweep(work, made))
        if all("schedule" not in event.get("reason", "") for event in events):
            break
    else:
        pytest.skip("the machine is too busy for a generator of 1000 packets/s")
    found = {
        (event["case"]["competitor"], event["indicator"]): event["value"]
        for event in events
        if event["event"] == "sample"
    }
    assert [event["reason"] for event in events if event["event"] == "error"] == []
    for name in (
        "throughput", "lost", "round_trip", "cpu_available", "cpu_idle", "softirq_rate",
        "ping_round_trip",
    ):  # fmt: skip
        assert ("none", name) in found
    assert found["none", "softirq_rate"] > 0
    assert ("none", "competitor_speed") not in found


def test_routes_come_and_go(made: bed.Bed) -> None:
    def count() -> int:
        text = Path(f"/proc/{made.forwarder.session.pid}/net/route").read_text()
        return len(text.splitlines())

    before = count()
    made.set_routes(500)
    assert count() == before + 500
    made.set_routes(20)
    assert count() == before + 20
    made.set_routes(0)
    assert count() == before


def test_steering_is_what_the_kernel_says(made: bed.Bed) -> None:
    for how in ("threaded", "inline", "own"):
        try:
            made.steer(how)
        except bed.Unsupported as error:
            pytest.skip(str(error))
        if how == "threaded":
            assert made.threads
            for thread in made.threads:
                assert os.sched_getaffinity(thread) == set(made.forwarder_cpus or ())
        flow = flow_of(made, 500, 128)
        assert flow.forwarded > 0


def test_the_competitor_and_the_soaker_are_gone_afterwards(made: bed.Bed) -> None:
    with beside.competing(made, SWEEP | {"copies": 2}, "cpu.simplex") as competition:
        assert beside.calibrate(made, "idle") >= 0
    assert competition.samples
    assert {one["copy"] for one in competition.samples} == {0, 1}
    children = Path(f"/proc/{made.forwarder.session.pid}/task").glob("*/children")
    assert [text for path in children if (text := path.read_text().strip())] == []


def test_a_search_ends_with_an_interval_or_says_why_not(made: bed.Bed) -> None:
    work = task(
        "forwarding.ndr",
        **SWEEP | {
            "highest_kpps": 2.0, "resolution_percent": 50.0, "partial_percent": 0.5, "trials": 1,
            "duration_s": 0.2,
        },
    )  # fmt: skip
    events = list(run_ndr(work, made))
    rates = {e["indicator"] for e in events if e["event"] == "sample"}
    reasons = [e["reason"] for e in events if e["event"] == "error"]
    assert "rate" in rates or any("limit is above" in r or "did not pass" in r for r in reasons)
