"""Settings of a system of two hosts are made on both, read back, and stand in the inventory."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments import registry
from pentathlon.experiments.descriptor import Experiment, Need
from pentathlon.experiments.forwarding.testbed import netns_testbed
from pentathlon.experiments.systems import make_target
from pentathlon.experiments.two_hosts import PairSession, PairTarget
from pentathlon.machine import cgroup, restore
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.settings import (
    TCP_ALLOWED,
    TCP_CONGESTION_CONTROL,
    MachineSettings,
    scheduler_of,
)
from pentathlon.study.reach import Ssh
from pentathlon.study.settings import Settings
from pentathlon.study.system import Peer, System
from pentathlon.targets.netns.target import NetnsTarget, probe
from pentathlon.testbed import hosts, namespaces, placed
from pentathlon.testbed.endpoint import Endpoint
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, entry, needs_root, request


def congestion_of_sockets(host: Endpoint) -> str:
    """That of a new TCP socket in the host's namespace, which a thread of this process enters."""

    def inside() -> bytes:
        libc = ctypes.CDLL(None, use_errno=True)
        with Path(f"/proc/{host.session.pid}/ns/net").open() as namespace:
            assert libc.setns(namespace.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        with socket.socket() as made:
            return made.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)

    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(inside).result().rstrip(b"\0").decode()


@pytest.fixture(autouse=True)
def works() -> None:
    try:
        probe()
    except TargetUnavailable as error:
        pytest.skip(error.reason)


@pytest.fixture
def other() -> str:
    """A congestion control that namespaces may have, and that is not this machine's own."""
    own = TCP_CONGESTION_CONTROL.read_text().strip()
    allowed = [name for name in TCP_ALLOWED.read_text().split() if name != own]
    if not allowed:
        pytest.skip("namespaces may have one congestion control only")
    return allowed[0]


def target_of(agent: Path, state: Path, **settings: Any) -> NetnsTarget:
    system = FakeSystem(target="netns", settings=FakeSettings(settings))
    target = make_target(system, agent, state)
    assert isinstance(target, NetnsTarget)
    return target


def has(host: Endpoint, congestion: str) -> None:
    """The host's threads and sockets have the settings, and what was read of it shows them."""
    pid = host.session.pid
    threads = [int(place.name) for place in Path(f"/proc/{pid}/task").iterdir()]
    assert {scheduler_of(thread) for thread in threads} == {"batch"}
    assert os.getpriority(os.PRIO_PROCESS, pid) == 4
    assert congestion_of_sockets(host) == congestion
    expected = {"scheduler": "batch", "nice": 4, "tcp_congestion_control": congestion}
    assert expected.items() <= host.found.items()


@pytest.fixture
def made() -> Iterator[list[Endpoint]]:
    """Hosts that are stopped after the test."""
    found: list[Endpoint] = []
    yield found
    hosts.stop(found)


@needs_root
def test_hosts_of_every_kind_have_the_settings(
    real_agent: Path, state: Path, made: list[Endpoint], other: str
) -> None:
    before = TCP_CONGESTION_CONTROL.read_text()
    target = target_of(real_agent, state, tcp_congestion_control=other, scheduler="batch", nice=4)
    target.prepare()
    made += hosts.netns_hosts(target, (None, None))(20)
    wanted = [namespaces.Namespace("x", {}, settings_of=one) for one in (target, None)]
    made += namespaces.start(real_agent, wanted, state, 20)
    bed = netns_testbed(target, None)(20)
    made += [bed.forwarder, bed.generator]
    first, second, settled, plain, forwarder, generator = made
    for host in (first, second, settled, forwarder):
        has(host, other)
    # What is no system under test keeps what the machine has.
    assert plain.found == generator.found == {}
    assert congestion_of_sockets(plain) == before.strip()
    assert TCP_CONGESTION_CONTROL.read_text() == before


@needs_root
def test_machine_wide_settings_and_quotas_are_read_back(
    real_agent: Path, state: Path, made: list[Endpoint]
) -> None:
    try:
        cgroup.find()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    own = Path("/proc/sys/kernel/randomize_va_space").read_text().strip()
    target = target_of(real_agent, state, cpu_quota_percent=133.3333, aslr=int(own))
    made += hosts.netns_hosts(target, (None, None))(20)
    for host in made:
        assert host.found["cpu_quota_percent"] == pytest.approx(133.333)
        assert host.found["aslr"] == own
    made[0].group = cgroup.find().parent / "cgroup.procs"
    with pytest.raises(TargetError, match="and one of its hosts has None after it was set"):
        placed.read_back(made[0])


@pytest.mark.parametrize("name", ["nice", "scheduler", "tcp_congestion_control"])
def test_a_host_without_a_setting_is_refused(
    real_agent: Path, state: Path, made: list[Endpoint], other: str, name: str
) -> None:
    values = {"nice": 4, "scheduler": "batch", "tcp_congestion_control": other}
    requested = target_of(real_agent, state, **{name: values[name]})
    made.append(placed.start(target_of(real_agent, state), [str(real_agent), "endpoint"], {}, None))
    made[0].open(20)
    made[0].settings_of = requested
    with pytest.raises(TargetError, match=f"has the setting {name} = {values[name]}, and one of"):
        placed.read_back(made[0])


def test_the_inventory_of_a_boot_has_both_hosts_once(
    real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = Experiment("silent", Need[object]("pair"), {"network.traffic": lambda *_: iter(())})
    monkeypatch.setattr(registry, "EXPERIMENTS", (silent,))
    settings = Settings(nice=7)
    system = System(name="two", target="netns", settings=settings, peer=Peer())
    target = make_target(system, real_agent, state)
    wanted = request("", inventory=True, workloads=[entry("network.traffic")] * 2)
    with target.boot(20) as session:
        assert isinstance(session, PairSession)
        events = documents(session.run(wanted, 20, 60))
    found = [event["system"] for event in events if event["event"] == "inventory"]
    assert [list(one) == ["hosts"] for one in found] == [False, True]
    assert {host: values["nice"] for host, values in found[1]["hosts"].items()} == {
        "client": 7, "server": 7,
    }  # fmt: skip


def test_what_a_namespace_may_not_have_is_refused_before_anything_starts(
    real_agent: Path, state: Path
) -> None:
    known = TCP_ALLOWED.with_name("tcp_available_congestion_control").read_text().split()
    target = target_of(real_agent, state, tcp_congestion_control="nothing")
    with pytest.raises(TargetUnavailable, match=f"this kernel has {', '.join(known)}, and no noth"):
        target.prepare()
    restricted = sorted(set(known) - set(TCP_ALLOWED.read_text().split()))
    if not restricted:
        pytest.skip("namespaces may have every congestion control of this kernel")
    target = target_of(real_agent, state, tcp_congestion_control=restricted[0])
    with pytest.raises(TargetUnavailable, match=f", and not {restricted[0]}") as refused:
        target.prepare()
    assert "tcp_allowed_congestion_control" in str(refused.value.remedy)


@pytest.mark.parametrize(
    ("target", "peer"),
    [
        ("netns", Peer(target="uml", kernel="6.1")),
        ("netns", Peer(target="ssh", ssh=Ssh(host="far"), interfaces=("a",), joined_to=("b",))),
        ("ssh", Peer(interfaces=("a", "b"), joined_to=("c", "d"))),
    ],
)
def test_hosts_that_cannot_be_given_settings_are_refused(
    real_agent: Path, state: Path, target: str, peer: Peer
) -> None:
    own = {"ssh": Ssh(host="far")} if target == "ssh" else {}
    plain = System(name="two", target=target, peer=peer, **own)
    assert isinstance(make_target(plain, real_agent, state), PairTarget)
    system = System(name="two", target=target, settings=Settings(nice=5), peer=peer, **own)
    with pytest.raises(TargetError, match='they hold for both hosts, and a host of the target "'):
        make_target(system, real_agent, state)


def test_a_setting_that_reads_otherwise_after_it_was_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "swappiness"
    file.write_text("60")

    class Stubborn:
        token = "x"

        def note(self, entry: Any) -> None:
            monkeypatch.setattr(restore, "current", lambda _: "60")

    settings = MachineSettings(FakeSystem(settings=FakeSettings({"swappiness": 10})))
    monkeypatch.setattr("pentathlon.machine.settings.sysfs.writes", lambda *_: [(file, "10")])
    with pytest.raises(TargetUnavailable, match="reads 60 after 10 was written, so swappiness"):
        settings.apply(Stubborn())  # type: ignore[arg-type]
