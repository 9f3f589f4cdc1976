"""What a trial cost its hosts is read over its flows, and over nothing beside them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from pentathlon.experiments.traffic import trials, values
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.testbed import availability
from pentathlon.testbed.endpoint import Endpoint
from tests.experiments.traffic.conftest import Pair, task
from tests.fakes.messages import documents

BESIDE_S = 1.5
"""Work before and after flows of 0.3 s: five times as long as they are."""

HOST: dict[str, Any] = {
    "cpus": {"cpu": [20, 10, 30, 100, 10, 4, 16, 10, 20, 0]},
    "cpu_fields": ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"],
    "tick_ns": 10_000_000,
    "agent_cpu_ns": 3_000_000,
    "interrupts": {"9": [30, 10], "LOC": [200, 60]},
    "softirqs": {"NET_RX": [50, 10], "TIMER": [9, 9]},
    "window": {"from_ns": 7_000_000_000, "to_ns": 7_500_000_000},
}
"""200 ticks, guest time (the ninth) once, in half a second."""


def test_shares_and_rates_have_known_answers() -> None:
    assert values.busy_percent(HOST) == 45
    assert values.share_percent(HOST, "irq") == 2
    assert values.share_percent(HOST, "softirq") == 8
    assert values.share_percent(HOST, "steal") == 5
    assert values.share_percent(HOST, "unknown") is None
    assert values.of_host(HOST, "sender", 1000) == {
        "cpu_sender": 45, "cpu_irq_sender": 2, "cpu_softirq_sender": 8, "cpu_steal_sender": 5,
        "packet_cpu_sender": 3, "packet_busy_sender": 800,
        "interrupts_sender": 600, "softirqs_sender": 120,
    }  # fmt: skip


def test_rates_are_over_the_time_between_the_readings() -> None:
    """The window holds both readings whole, which took 0.2 s of it."""
    slow = HOST | {"window": HOST["window"] | {"unknown_ns": 200_000_000}}
    assert values.window_s(HOST) == 0.5
    assert values.window_s(slow) == pytest.approx(0.4)
    assert values.of_host(slow, "sender", 1)["interrupts_sender"] == pytest.approx(750)


def test_counters_that_nobody_read_are_unknown_and_not_zero() -> None:
    assert values.of_host({}, "sender", 1000) == {}
    no_window = {name: value for name, value in HOST.items() if name != "window"}
    assert "interrupts_sender" not in values.of_host(no_window, "sender", 1000)
    no_ticks = HOST | {"cpus": {"cpu": [0] * 10}}
    assert values.busy_percent(no_ticks) is values.share_percent(no_ticks, "irq") is None


def cpu_hog(*progress: list[list[float]]) -> dict[str, Any]:
    return {"yields": [{"progress": notes} for notes in progress]}


def test_a_cpu_hog_is_cut_to_the_flow() -> None:
    """Free before the flow (1 s to 3 s), a quarter of it during, free after."""
    notes = [[0, 0, 0], [1e9, 1000, 1e9], [3e9, 1500, 1.5e9], [9e9, 7500, 7.5e9]]
    one, two = cpu_hog(notes), cpu_hog(notes, notes)
    assert availability.units_per_second(one, 1e9, 3e9) == 250
    assert availability.units_per_second(two, 1e9, 3e9) == 500
    assert availability.units_per_second(one) == pytest.approx(7500 / 9)
    assert availability.units_per_second(one, 0.5e9, 1e9) == 1000
    # A thread that did nothing more after its last note.
    assert availability.units_per_second(one, 9e9, 10e9) == 0
    window = {"window": {"from_ns": 1e9, "to_ns": 3e9}}
    cpu_hogs = availability.CpuHogs([1000.0, 1000.0], [one, one])
    assert cpu_hogs.percent([window, {}]) == [25, availability.NO_WINDOW]


def spinning(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def hosts_of(pair: Pair, **parameters: Any) -> tuple[list[dict[str, Any]], set[str]]:
    events = documents(run_traffic(task(**parameters), *pair))
    assert [event for event in events if event["event"] == "error"] == []
    found = next(event["hosts"] for event in events if event["event"] == "packets")
    return found, {event["metric"] for event in events if event["event"] == "sample"}


def test_work_before_and_after_the_flows_is_not_theirs(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ticks of all CPUs are the window's, not those of the trial with all that is beside it."""
    send = Endpoint.send

    def between(self: Endpoint, *requested: Any) -> dict[str, Any]:
        spinning(BESIDE_S)
        answer = send(self, *requested)
        spinning(BESIDE_S)
        return answer

    monkeypatch.setattr(Endpoint, "send", between)
    monkeypatch.setattr(trials, "QUIET_MS", int(1e3 * BESIDE_S))
    found, metrics = hosts_of(pair)
    cpus = os.cpu_count() or 1
    for host in found:
        own_s = values.window_s(host)
        assert own_s > 0
        ticks_s = sum(host["cpus"]["cpu"][:8]) * host["tick_ns"] * 1e-9
        # Some ticks of each CPU may be accounted late.
        assert ticks_s <= cpus * (own_s + 0.1)
        assert host["agent_cpu_ns"] * 1e-9 <= cpus * (own_s + 0.1)
    # Two programs of one machine: nobody can say which of them its CPUs were busy for.
    assert "packet_busy_both" in metrics
    assert not metrics & {"packet_busy_sender", "packet_busy_receiver"}


def test_work_beside_the_flows_is_seen(pair: Pair) -> None:
    cpu = min(os.sched_getaffinity(0))
    busy = subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])
    try:
        found, _ = hosts_of(pair, duration_s=1.0)
    finally:
        busy.kill()
        busy.wait()
    for host in found:
        _, _, _, idle, iowait, *_ = ticks = host["cpus"][f"cpu{cpu}"][:8]
        assert idle + iowait < sum(ticks) / 2


def test_a_receiver_that_did_not_hear_of_the_flows_has_no_counters(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Endpoint.send
    monkeypatch.setattr(
        Endpoint, "send", lambda self, *arguments: send(self, *arguments) | {"announced": False}
    )
    found, metrics = hosts_of(pair)
    assert found[0] and not found[1]
    assert "cpu_sender" in metrics
    assert not any(name.endswith("_receiver") for name in metrics)
