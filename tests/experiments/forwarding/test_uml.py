"""A forwarder that is a guest of user-mode Linux: the bed of examples/salah2010.toml."""

import os
from collections.abc import Iterator

import pytest

from pentathlon.experiments.forwarding import testbed
from pentathlon.experiments.forwarding.guest_testbed import guest_testbed
from pentathlon.experiments.forwarding.sweep import run_sweep
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.commands import Forward
from pentathlon.targets.netns.target import probe
from pentathlon.targets.uml import kernels
from pentathlon.targets.uml.target import UmlTarget
from pentathlon.testbed import hosts
from tests.experiments.forwarding.test_testbed import SWEEP, flow_of, task
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem

LOADS = [0.2, 0.5]
"""Offered loads, thousands of packets/s: any machine's guest forwards them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[testbed.Testbed]:
    if os.geteuid() != 0:
        pytest.skip("making the bed's links needs root")
    found = kernels.available()
    if not found:
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    try:
        probe()
        program = agent.locate()
        system = FakeSystem(target="uml", kernel=str(found[-1].path))
        target = make_target(system, program, tmp_path_factory.mktemp("state"))
        assert isinstance(target, UmlTarget)
        target.prepare()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    host = guest_testbed(target, None)(120)
    yield host
    hosts.stop([host.forwarder, host.generator])


def test_packets_come_back_from_the_guest(made: testbed.Testbed) -> None:
    assert (made.incoming, made.outgoing) == ("vec0", "vec1")
    flow = flow_of(made, 500, 128)
    assert flow.sent >= 240
    assert 0 < flow.forwarded <= flow.sent
    assert flow.trips is not None
    assert flow.trips.minimum > 0


def test_the_sweep_of_the_example_yields_its_metrics(made: testbed.Testbed) -> None:
    work = task(
        "forwarding.sweep", **SWEEP | {"offered_kpps": LOADS, "competitor": ["none", "cpu.simplex"]}
    )
    for _ in range(8):
        events = documents(run_sweep(work, made))
        if all("schedule" not in event.get("reason", "") for event in events):
            break
    else:
        pytest.skip("the machine is too busy for a generator of 500 packets/s")
    reasons = {event["reason"] for event in events if event["event"] == "error"}
    # Of a machine that left the guest's CPU hog nothing before the flows.
    assert [reason for reason in reasons if "the CPU hog got no time" not in reason] == []
    found = {
        (event["case"]["competitor"], event["case"]["offered_kpps"], event["metric"]):
        event["value"]
        for event in events
        if event["event"] == "sample"
    }  # fmt: skip
    for competitor in ("none", "cpu.simplex"):
        for load in LOADS:
            assert 0 <= found[competitor, load, "lost"] < 100
            assert found[competitor, load, "throughput"] > 0
            assert found[competitor, load, "round_trip"] > 0


def test_nothing_comes_back_past_the_guest(made: testbed.Testbed) -> None:
    """With forwarding off in the guest every packet is lost: no other way leads back."""
    made.forwarder.execute(Forward(on=False))
    try:
        assert flow_of(made, 500, 128).forwarded == 0
    finally:
        made.forwarder.execute(Forward(on=True))
    assert flow_of(made, 500, 128).forwarded > 0
