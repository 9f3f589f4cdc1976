"""Two systems of Wine that send to each other; skipped without Wine or the Windows build."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.targets.wine.target import WineTarget
from pentathlon.testbed import hosts
from tests.experiments.traffic.conftest import System, task
from tests.fakes.messages import documents


def test_packets_between_two_prefixes_are_counted_by_both_ends(tmp_path: Path) -> None:
    try:
        target = make_target(System(target="wine"), agent.locate(), tmp_path)
        assert isinstance(target, WineTarget)
        target.prepare()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    work = task(
        protocols=["udp", "tcp"], packet_rate="constant 300", duration_s=0.5,
        lateness_limit_ms=20_000.0,
    )  # fmt: skip
    pair = hosts.local_hosts(target, (None, None))(200)
    try:
        events = documents(run_traffic(work, *pair))
    finally:
        hosts.stop(pair)
    assert [event["reason"] for event in events if event["event"] == "error"] == []
    flows = [event["flows"][0] for event in events if event["event"] == "packets"]
    assert [flow["protocol"] for flow in flows] == ["udp", "tcp"]
    for flow in flows:
        assert 100 <= flow["received"] <= flow["sent"] <= 150
    found = {event["metric"] for event in events if event["event"] == "sample"}
    assert {"round_trip", "delay_bound", "cpu_sender", "packet_cpu_receiver"} <= found
    # Wine keeps no times of interrupts, and nobody under Windows knows of stolen time.
    assert not {name for name in found if name.startswith(("cpu_irq", "cpu_softirq", "cpu_steal"))}


def test_what_windows_lacks_is_unsupported(tmp_path: Path) -> None:
    try:
        target = make_target(System(target="wine"), agent.locate(), tmp_path)
        assert isinstance(target, WineTarget)
        target.prepare()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    pair = hosts.local_hosts(target, (None, None))(200)
    try:
        events = documents(run_traffic(task(transmit_backend=["sendmmsg"], duration_s=0.1), *pair))
    finally:
        hosts.stop(pair)
    (error,) = [event for event in events if event["event"] == "error"]
    assert error["kind"] == "unsupported" and "needs Linux" in error["reason"]
