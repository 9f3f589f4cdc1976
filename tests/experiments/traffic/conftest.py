"""Two endpoints on the loopback device, with the agent of this checkout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.commands import Listen
from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.netns.target import probe
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.replies.trials import Ready
from pentathlon.testbed.trial import Task
from tests.experiments.traffic.relay import Relay
from tests.fakes.catalogs import metrics


@dataclass(frozen=True)
class Settings:
    def changed(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class System:
    """A system as the study's model has it."""

    name: str = "pair"
    target: str = "local"
    kernel: str | None = None
    memory: str | None = None
    cpus: tuple[int, ...] | None = None
    scratch: str | None = None
    settings: Settings = Settings()
    uml_args: tuple[str, ...] = ()
    ssh: Any = None
    accelerator: str | None = None


Pair = tuple[Endpoint, Endpoint]

PARAMETERS: dict[str, Any] = {
    "protocols": ["udp"],
    "ip_versions": [4],
    "size_bytes": [64],
    "size": "",
    "packet_rate": "constant 2000",
    "rate_interval_ms": 0,
    "gap": "",
    "bit_rate": 0.0,
    "on": "",
    "off": "",
    "profiles": [],
    "script": [],
    "flows": 1,
    "both_ways": False,
    "echo": True,
    "transmit_backend": ["send"],
    "receiver": "blocking",
    "duration_s": 0.3,
    "lateness_limit_ms": 60000.0,
    "least_sent_percent": 0.0,
    "fit_limit": 1.0,
    "keep": "small",
    "multicast": 0,
    "kernel_times": False,
    "cpu_hog": "none",
}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    try:
        path = agent.locate()
    except agent.AgentError as error:
        pytest.skip(str(error))
    target = make_target(System(), path, tmp_path / "state")
    assert isinstance(target, LocalTarget)
    both = hosts.local_hosts(target, (None, None))(30.0)
    try:
        yield both
    finally:
        hosts.stop(both)


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two namespaces, joined anew by a veth pair: nothing has been sent between them yet."""
    try:
        probe()
        path = agent.locate()
        launch.need("nsenter", "util-linux")
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    target = make_target(System(target="netns"), path, tmp_path_factory.mktemp("state"))
    assert isinstance(target, LocalTarget)
    made = hosts.netns_hosts(target, (None, None))(30.0)
    yield made
    hosts.stop(made)


def task(**parameters: Any) -> Task:
    """A task of `network.traffic` with these parameters."""
    described = WorkloadRequest(
        id="network.traffic", parameters=PARAMETERS | parameters, warmup=0, iterations=1
    )
    return Task(0, 1, "0123456789abcdef", 7, described, metrics("network.traffic"))


@dataclass
class Behind(Endpoint):
    """An endpoint whose data ports are reached through what `between` makes of them."""

    between: Callable[[int], int] = field(default=lambda port: port)

    def listen(self, command: Listen) -> Ready:
        ready = super().listen(command)
        for flow in ready["flows"]:
            flow["port"] = self.between(flow["port"])
        return ready


def behind(endpoint: Endpoint, between: Callable[[int], int]) -> Behind:
    """The endpoint, reached through something."""
    values = {one.name: getattr(endpoint, one.name) for one in fields(Endpoint)}
    return Behind(**values, between=between)


__all__ = ["PARAMETERS", "Behind", "Pair", "Relay", "behind", "task"]
