"""Real packets through a real forwarder in a namespace; needs root."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.forwarding import background_load, loads, testbed
from pentathlon.experiments.forwarding.flow import Flow, run_flow
from pentathlon.experiments.forwarding.ndr import run_ndr
from pentathlon.experiments.forwarding.sweep import run_sweep
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.targets.netns.target import probe
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial, Task
from tests.fakes.catalogs import metrics
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem

SWEEP = {
    "offered_kpps": [1], "frame_bytes": [64], "duration_s": 0.5, "lead_s": 0.5, "cpu_hog": "idle",
    "competitor": ["none"], "copies": [1], "nice": [0], "scheduler": ["other"],
    "ip_versions": [4], "steering": ["own"], "routes": [0], "firewall_rules": [0], "budgets": [0],
    "transmit_backend": "send", "loads": "listed", "highest_kpps": 4.0, "ramp_s": 0.0,
    "lateness_limit_ms": 1000.0,
}  # fmt: skip


def task(workload: str, **parameters: Any) -> Task:
    description = WorkloadRequest(id=workload, parameters=parameters, warmup=0, iterations=1)
    return Task(0, 1, "12ab", 1, description, metrics(workload))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[testbed.Testbed]:
    if os.geteuid() != 0:
        pytest.skip("making the bed's links needs root")
    try:
        probe()
        program = agent.locate()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    target = make_target(FakeSystem(target="netns"), program, tmp_path_factory.mktemp("state"))
    found = testbed.netns_testbed(target, None)(20)  # type: ignore[arg-type]
    yield found
    hosts.stop([found.forwarder, found.generator])


def flow_of(host: testbed.Testbed, packet_rate: float, frame_bytes: int) -> Flow:
    """A flow that kept its schedule: on a machine that does other work too, not the first one."""
    work = task("forwarding.sweep", **SWEEP)
    for _ in range(8):
        try:
            return run_flow(host, work, packet_rate=packet_rate, frame_bytes=frame_bytes)
        except InvalidTrial:
            continue
    pytest.skip("the machine is too busy for a generator of 1000 packets/s")


def forwarded(host: testbed.Testbed) -> int:
    """IPv4 packets that the forwarder has forwarded (RFC 4293, ipForwDatagrams)."""
    text = Path(f"/proc/{host.forwarder.session.pid}/net/snmp").read_text()
    names, numbers = [line.split() for line in text.splitlines() if line.startswith("Ip:")]
    return int(numbers[names.index("ForwDatagrams")])


def test_every_packet_goes_through_the_forwarder(made: testbed.Testbed) -> None:
    began = time.monotonic()
    before = forwarded(made)
    flow = flow_of(made, 1000, 64)
    assert flow.sent >= 0.99 * 500 - 1
    assert forwarded(made) - before >= flow.forwarded > 0
    assert flow.times[1] - flow.times[0] == pytest.approx(SWEEP["duration_s"])
    assert began < flow.times[0] < flow.times[1] < time.monotonic()
    assert flow.trips is not None
    assert flow.trips.minimum > 0


def test_a_sweep_yields_every_metric_that_a_veth_can_have(made: testbed.Testbed) -> None:
    work = task("forwarding.sweep", **SWEEP | {"competitor": ["none", "cpu.simplex"]})
    for _ in range(8):
        events = documents(run_sweep(work, made))
        if all("schedule" not in event.get("reason", "") for event in events):
            break
    else:
        pytest.skip("the machine is too busy for a generator of 1000 packets/s")
    found = {
        (event["case"]["competitor"], event["metric"]): event["value"]
        for event in events
        if event["event"] == "sample"
    }
    reasons = [event["reason"] for event in events if event["event"] == "error"]
    if any("the CPU hog got no time" in reason for reason in reasons):
        pytest.skip("the machine is too busy: nothing is left of the forwarder's CPU")
    assert reasons == []
    if not background_load.calibrate(made, "idle"):
        pytest.skip("the machine is too busy: nothing is left of the forwarder's CPU")
    for name in (
        "throughput", "lost", "round_trip", "cpu_available", "cpu_idle", "softirq_rate",
        "ping_round_trip", "offered_load", "lateness_p99", "receiver_lost", "round_trip_p90",
    ):  # fmt: skip
        assert ("none", name) in found
    assert found["none", "softirq_rate"] > 0
    assert found["none", "intended_load"] == 1000
    assert ("none", "competitor_speed") not in found


def tune(made: testbed.Testbed, **values: int) -> None:
    made.tune(testbed.Tuning(**values))


@pytest.mark.parametrize(("version", "table"), [(4, "route"), (6, "ipv6_route")])
def test_routes_come_and_go(made: testbed.Testbed, version: int, table: str) -> None:
    if version in made.refused:
        pytest.skip(made.refused[version])

    def count() -> int:
        text = Path(f"/proc/{made.forwarder.session.pid}/net/{table}").read_text()
        return len(text.splitlines())

    before = count()
    for routes in (500, 20, 0):
        tune(made, routes=routes, ip_version=version)
        assert count() == before + routes


def test_rules_are_in_force_and_then_gone(made: testbed.Testbed) -> None:
    if shutil.which("nft") is None:
        pytest.skip("no nft: apt install nftables")

    def rules() -> int:
        enter = ["nsenter", "--target", str(made.forwarder.session.pid), "--net", "nft"]
        done = subprocess.run([*enter, "list", "ruleset"], capture_output=True, check=True)
        return done.stdout.count(b"saddr")

    for count in (40, 3, 0):
        tune(made, firewall_rules=count)
        assert rules() == count
        assert flow_of(made, 500, 64).forwarded > 0


def test_what_a_namespace_cannot_have_is_unsupported_with_its_reason(made: testbed.Testbed) -> None:
    with pytest.raises(testbed.Unsupported, match="whole kernel"):
        tune(made, budget=64)
    tune(made)
    assert made.tuned == testbed.Tuning()
    assert flow_of(made, 500, 64).forwarded > 0


def test_version_6_is_forwarded_too(made: testbed.Testbed) -> None:
    if 6 in made.refused:
        pytest.skip(made.refused[6])
    work = task(
        "forwarding.sweep",
        **SWEEP | {"ip_versions": [4, 6], "frame_bytes": [64, 84], "cpu_hog": "none"},
    )
    events = documents(run_sweep(work, made))
    reasons = {
        (e["case"]["frame_bytes"], e["case"]["ip_version"]): e["reason"]
        for e in events
        if e["event"] == "error" and e["kind"] == "unsupported"
    }
    assert list(reasons) == [(64, 6)] and "the least is 84 B" in reasons[64, 6]
    if any("schedule" in e.get("reason", "") for e in events):
        pytest.skip("the machine is too busy for a generator of 1000 packets/s")
    found = {
        (e["case"]["ip_version"], e["metric"]): e["value"] for e in events if e["event"] == "sample"
    }
    assert found[6, "throughput"] > 0


def test_frames_made_in_the_kernel_go_through_the_forwarder(made: testbed.Testbed) -> None:
    made.steer("own", live=True)
    try:
        for _ in range(8):
            try:
                work = task("forwarding.sweep", **SWEEP | {"transmit_backend": "live"})
                flow = run_flow(made, work, packet_rate=2000, frame_bytes=64)
                break
            except InvalidTrial:
                continue
            except CommandError as error:
                assert error.kind == "unsupported"
                pytest.skip(str(error))
        else:
            pytest.skip("the machine is too busy for a generator of 2000 packets/s")
    finally:
        made.steer("own")
    assert flow.sent >= 990
    assert flow.forwarded > 0 and flow.trips is not None and flow.trips.minimum > 0


def test_steering_is_what_the_kernel_says(made: testbed.Testbed) -> None:
    for how in ("threaded", "inline", "own"):
        try:
            made.steer(how)
        except testbed.Unsupported as error:
            pytest.skip(str(error))
        if how == "threaded":
            assert made.threads
            for thread in made.threads:
                assert os.sched_getaffinity(thread) == set(made.forwarder_cpus or ())
        flow = flow_of(made, 500, 128)
        assert flow.forwarded > 0


def test_the_competitor_and_the_cpu_hog_are_gone_afterwards(made: testbed.Testbed) -> None:
    competitor = background_load.Competitor("cpu.simplex", copies=2, nice=5, scheduler="batch")
    assert competitor.label == "cpu.simplex x2 nice 5 batch"
    with background_load.competing(made, competitor, 0.5) as competition:
        assert background_load.calibrate(made, "idle") >= 0
    assert competition.samples
    assert {one["copy"] for one in competition.samples} == {0, 1}
    children = []
    for path in Path(f"/proc/{made.forwarder.session.pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # The thread has ended.
            children += path.read_text().split()
    assert children == []


def test_automatic_loads_are_shares_of_what_the_search_found(made: testbed.Testbed) -> None:
    work = task(
        "forwarding.sweep",
        **SWEEP | {"loads": "automatic", "cpu_hog": "none", "duration_s": 0.2, "lead_s": 0.1},
    )
    events = documents(run_sweep(work, made))
    errors = [e for e in events if e["event"] == "error"]
    if any("no load to begin with" in e["reason"] for e in errors):
        pytest.skip("the machine is too busy for any load of the search")
    samples = [e for e in events if e["event"] == "sample"]
    (knee,) = [e for e in samples if e["metric"] == "knee"]
    assert 0 < knee["value"] <= 1e3 * SWEEP["highest_kpps"]  # type: ignore[operator]
    assert knee["case"] == {"frame_bytes": 64, "competitor": "none"}
    (sentences,) = [e for e in events if e["event"] == "log" and "100 % are" in e["message"]]
    assert f"{knee['value']:.6g} packets/s" in sentences["message"]
    intended = {
        e["case"]["load_percent"]: e["value"] for e in samples if e["metric"] == "intended_load"
    }
    # A load that the machine was too busy for, or beyond the generator, is reported.
    assert intended.keys() | {e["case"]["load_percent"] for e in errors} == set(loads.SHARES)
    for share, rate in intended.items():
        assert rate == pytest.approx(knee["value"] * share / 100)


def test_a_search_ends_with_an_interval_or_says_why_not(made: testbed.Testbed) -> None:
    work = task(
        "forwarding.ndr",
        **SWEEP | {
            "highest_kpps": 2.0, "resolution_percent": 50.0, "partial_percent": 0.5, "trials": 1,
            "duration_s": 0.2,
        },
    )  # fmt: skip
    events = documents(run_ndr(work, made))
    rates = {e["metric"] for e in events if e["event"] == "sample"}
    reasons = [e["reason"] for e in events if e["event"] == "error"]
    assert "rate" in rates or any("limit is above" in r or "did not pass" in r for r in reasons), (
        reasons
    )
