"""A forwarder that is reached by ssh(1): a real server in a namespace of its own stands for it."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.experiments.forwarding import testbed
from pentathlon.experiments.forwarding.guest_testbed import machine_testbed
from pentathlon.experiments.forwarding.sweep import run_sweep
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.study.reach import Ssh
from pentathlon.targets.netns.target import probe
from pentathlon.targets.ssh.target import SshTarget
from pentathlon.testbed import hosts
from tests.experiments.forwarding.test_testbed import SWEEP, flow_of, task
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem
from tests.targets.sshd import Sshd

OWN, THEIRS = ("ptown0", "ptown1"), ("ptfwd0", "ptfwd1")
"""Both ends of two links; the first ones are this machine's."""


@pytest.fixture(scope="module")
def machine() -> Iterator[int]:
    """A process in a network namespace that is joined to this one by two links."""
    if os.geteuid() != 0:
        pytest.skip("making the links needs root")
    try:
        probe()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    with subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) as holder:
        try:
            own = Path("/proc/self/ns/net").readlink()
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == own:
                assert holder.poll() is None
            for here, there in zip(OWN, THEIRS, strict=True):
                link = ["ip", "link", "add", here, "type", "veth"]
                peer = ["peer", "name", there, "netns", str(holder.pid)]
                subprocess.run([*link, *peer], check=True)
            yield holder.pid
        finally:
            holder.kill()


@pytest.fixture(scope="module")
def target(machine: int, tmp_path_factory: pytest.TempPathFactory) -> SshTarget:
    server = Sshd(tmp_path_factory.mktemp("server") / "sshd")
    # The server speaks by its standard input and output, so that no path to it is needed.
    enter = f"nsenter --target {machine} --net -- {server.program}"
    with server.config.open("a") as file:
        file.write(f"    ProxyCommand {enter} -i -f {server.directory}/sshd.conf\n")
    ssh = Ssh(host="bench", config=str(server.config))
    try:
        program = agent.locate()
    except agent.AgentError as error:
        pytest.skip(str(error))
    made = make_target(FakeSystem(target="ssh", ssh=ssh), program, tmp_path_factory.mktemp("state"))
    assert isinstance(made, SshTarget)
    made.prepare()
    return made


@pytest.fixture(scope="module")
def made(target: SshTarget) -> Iterator[testbed.Testbed]:
    found = machine_testbed(target, None, OWN, THEIRS)(20)
    yield found
    hosts.stop([found.forwarder, found.generator])


def test_packets_go_through_the_other_machine(made: testbed.Testbed, machine: int) -> None:
    def count() -> int:
        text = Path(f"/proc/{machine}/net/snmp").read_text()
        names, numbers = (line.split() for line in text.splitlines() if line.startswith("Ip:"))
        return int(numbers[names.index("ForwDatagrams")])

    before = count()
    flow = flow_of(made, 1000, 78)
    assert flow.sent >= 495
    assert count() - before >= flow.forwarded > 0
    assert not {name for _, name in socket.if_nameindex()} & set(OWN)


def test_a_sweep_yields_what_the_other_machine_tells(made: testbed.Testbed) -> None:
    events = documents(run_sweep(task("forwarding.sweep", **SWEEP), made))
    errors = [event["reason"] for event in events if event["event"] == "error"]
    if errors and all("missed its schedule" in reason for reason in errors):
        pytest.skip("the machine is too busy for a generator of 1000 packets/s")
    assert not errors
    values = {e["metric"]: e["value"] for e in events if e["event"] == "sample"}
    assert {"throughput", "lost", "round_trip", "cpu_available", "cpu_idle"} <= values.keys()
    assert values["round_trip"] > 0


def test_a_cable_that_is_not_there_is_named(target: SshTarget) -> None:
    with pytest.raises(TargetError, match="ptnone"):
        machine_testbed(target, None, ("ptnone", OWN[1]), THEIRS)(20)
