"""A run across midnight and one across a step of the clock, in guests whose clocks may be set."""

from __future__ import annotations

import calendar
from collections.abc import Iterator

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.machine.errors import TargetError
from pentathlon.protocol import agent
from pentathlon.protocol.requests.commands import Clock
from pentathlon.targets.uml import kernels
from pentathlon.targets.uml.target import UmlTarget
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import CommandError
from tests.experiments.traffic.conftest import Pair, System, task
from tests.fakes.messages import documents

MIDNIGHT_NS = calendar.timegm((2026, 3, 1, 0, 0, 0)) * 1_000_000_000
DAY_NS = 86_400_000_000_000


@pytest.fixture(scope="module")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    here = kernels.available()
    if not here:
        pytest.skip("no kernel of user-mode Linux is here")
    try:
        path = agent.locate()
        system = System(name="guests", target="uml", kernel=str(here[-1].path))
        target = make_target(system, path, tmp_path_factory.mktemp("state"))
        assert isinstance(target, UmlTarget)
        made = hosts.guest_hosts((target, target), (target.cpus, target.cpus))(60.0)
    except (agent.AgentError, TargetError) as error:
        pytest.skip(str(error))
    yield made
    hosts.stop(made)


def flow(pair: Pair) -> dict[str, float]:
    work = task(packet_rate="constant 200", duration_s=2.0, kernel_times=True)
    events = documents(run_traffic(work, *pair))
    assert [event for event in events if event["event"] == "error"] == []
    return {event["metric"]: event["value"] for event in events if event["event"] == "sample"}


def right(found: dict[str, float]) -> None:
    """No delay is beyond what a flow of two seconds can have, and no more is lost than guests lose
    that share a CPU with everything else."""
    assert found["lost"] < 20
    assert (found["duplicated"], found["reordered"]) == (0, 0)
    assert -found["delay_bound"] <= found["delay"] < 1000
    assert found["delay_bound"] < 100
    assert 0 < found["round_trip"] < 1000


def at(pair: Pair, host: int, after_ms: int, to_ns: int) -> None:
    pair[host].execute(Clock(after_ms=after_ms, to_ns=to_ns))


def test_across_midnight(guests: Pair) -> None:
    for host in (0, 1):
        at(guests, host, 0, MIDNIGHT_NS - 1_000_000_000)
    right(flow(guests))


@pytest.mark.parametrize("step_ns", [3_600_000_000_000, -DAY_NS])
def test_across_a_step_at_one_end(guests: Pair, step_ns: int) -> None:
    for host in (0, 1):
        at(guests, host, 0, MIDNIGHT_NS)
        at(guests, host, 1000, MIDNIGHT_NS + host * step_ns)
    right(flow(guests))


def test_the_clock_of_this_machine_is_never_set(pair: Pair) -> None:
    with pytest.raises(CommandError, match="only the clock of a guest"):
        pair[0].execute(Clock(after_ms=0, to_ns=MIDNIGHT_NS))
