"""Every protocol between two guests of user-mode Linux: it works, or the kernel states why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.machine.errors import TargetError
from pentathlon.protocol import agent
from pentathlon.targets.uml import kernels
from pentathlon.targets.uml.target import UmlTarget
from pentathlon.testbed import hosts
from tests.experiments.traffic.conftest import Pair, System, task
from tests.fakes.messages import documents

HERE = kernels.available()
KERNELS = {kernel.path.parent.name: kernel for kernel in (*HERE[:1], *HERE[-1:])}
"""The oldest and the newest, which differ most in what they have."""

NEEDS = {"sctp": "sctp.ko", "dccp": "dccp_ipv4.ko"}
"""Protocol -> the module that gives it to Debian's kernels."""


@pytest.fixture(scope="module", params=sorted(KERNELS) or [None])
def guests(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Pair]]:
    if request.param is None:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
    try:
        path = agent.locate()
        system = System(name="guests", target="uml", kernel=str(KERNELS[request.param].path))
        target = make_target(system, path, tmp_path_factory.mktemp("state"))
        assert isinstance(target, UmlTarget)
        made = hosts.guest_hosts((target, target), (target.cpus, target.cpus))(60.0)
    except (agent.AgentError, TargetError) as error:
        pytest.skip(str(error))
    yield request.param, made
    hosts.stop(made)


def ran(pair: Pair, **parameters: Any) -> list[dict[str, Any]]:
    requested = {"packet_rate": "constant 200", "duration_s": 0.4, "lateness_limit_ms": 10_000.0}
    return documents(run_traffic(task(**requested | parameters), *pair))


@pytest.mark.parametrize("version", [4, 6])
def test_each_protocol_works_or_is_unsupported(guests: tuple[str, Pair], version: int) -> None:
    name, pair = guests
    protocols = ["udp", "tcp", "icmp", "sctp", "dccp"]
    events = ran(pair, protocols=protocols, ip_versions=[version])
    refused = {e["case"]["protocol"]: e for e in events if e["event"] == "error"}
    assert [e["reason"] for e in refused.values() if e["kind"] != "unsupported"] == []
    flows = {e["case"]["protocol"]: e["flows"][0] for e in events if e["event"] == "packets"}
    assert set(flows) | set(refused) == set(protocols)
    for protocol, flow in flows.items():
        assert flow["received"] > 0, protocol
        if protocol in ("tcp", "sctp"):
            assert flow["received"] == flow["sent"]
    for error in refused.values():
        assert len(error["reason"]) > 20
    if version == 4 or version not in pair[0].refused:
        assert {"udp", "tcp", "icmp"} <= set(flows)
        modules = KERNELS[name].path.parent / "modules"
        for protocol, module in NEEDS.items():
            if protocol in refused and "198.18.0.0/15" in refused[protocol]["reason"]:
                continue  # SCTP of Linux 5.10 refuses the addresses of benchmarks.
            assert (protocol in flows) == (modules / module).exists(), refused.get(protocol)


def test_guests_count_the_machines_own_counter(guests: tuple[str, Pair]) -> None:
    """So their clocks' difference is known exactly, and every window of the exchange agrees."""
    _, pair = guests
    events = ran(pair, protocols=["udp"])
    (flow,) = [flow for e in events if e["event"] == "packets" for flow in e["flows"]]
    if {host.timer and host.timer.source for host in pair} != {"tsc"}:
        pytest.skip("this machine has no invariant time stamp counter")
    assert flow["clocks"]["by"] == "counter"
    (bound,) = [e["value"] for e in events if e.get("metric") == "delay_bound"]
    assert bound == pytest.approx(1e-4)
    (least,) = [e["value"] for e in events if e.get("metric") == "delay_p50"]
    assert least > 0
