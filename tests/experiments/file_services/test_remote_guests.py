"""File tasks between guests and machines reached by ssh(1), and what the tasks leave on these."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.undo_journal import restore_leftovers
from pentathlon.study.system import Peer, System
from pentathlon.targets.qemu import kernels as qemu_kernels
from pentathlon.targets.uml import kernels as uml_kernels
from tests.experiments.file_services.conftest import (
    Bench,
    Testbeds,
    http_3_runs,
    lacking,
    samples,
    two_tasks_run,
)
from tests.experiments.file_services.machines import Machine
from tests.experiments.file_services.remote import far_system, testbed
from tests.experiments.file_services.virtual_machines import copied

GUESTS: dict[str, tuple[ModuleType, str]] = {
    "uml": (uml_kernels, "6.1"), "qemu": (qemu_kernels, "6.1-cloud"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("guest", "far_is_client"), [("uml", True), ("uml", False), ("qemu", False)]
)
def test_tasks_run_between_a_guest_and_another_machine(
    machines: list[Machine], tmp_path: Path, guest: Literal["uml", "qemu"], far_is_client: bool
) -> None:
    kernels, kernel = GUESTS[guest]
    try:
        kernels.resolve(kernel)
    except TargetUnavailable as error:
        pytest.skip(str(error))
    one = machines[0]
    own, theirs = (one.own,), (one.theirs,)
    if far_is_client:
        peer = Peer(target=guest, kernel=kernel, interfaces=own, joined_to=theirs)
        system = System(name="mixed", target="ssh", ssh=one.ssh, peer=peer)
    else:
        peer = Peer(target="ssh", ssh=one.ssh, interfaces=own, joined_to=theirs)
        system = System(name="mixed", target=guest, kernel=kernel, peer=peer)
    made = testbed(tmp_path, system)
    try:
        bench = Bench(Testbeds(made), tmp_path)
        # A virtual machine takes half a minute to start its programs.
        if guest == "qemu":
            copied(bench, "http1.1")
        else:
            two_tasks_run(bench)
    finally:
        made.stop()
    assert one.quiet() == []


def test_settings_of_another_machine_are_put_back(machines: list[Machine], tmp_path: Path) -> None:
    """Both ends are other machines; what their kernels had is there again."""
    names = [f"/proc/sys/net/ipv4/{name}" for name in ("tcp_rmem", "tcp_timestamps")]
    spare = machines[:2]
    for one in spare:
        one.run("sh", "-c", 'echo "4096 111111 333333" >"$0"', names[0])
    before = [one.run("cat", *names) for one in spare]
    first, second = spare
    peer = Peer(
        target="ssh", ssh=second.ssh, behaves="server-2003",
        interfaces=(first.own, second.own), joined_to=(first.theirs, second.theirs),
    )  # fmt: skip
    system = System(name="far", target="ssh", ssh=first.ssh, behaves="xp", peer=peer)
    made = testbed(tmp_path, system)
    try:
        bench = Bench(Testbeds(made), tmp_path)
        found = samples(bench.run("files.copy", ("xp", "server-2003"), protocols=["http1.1"]))
        assert found["window"] < 20_000 and found["link_round_trip"] >= 50
        two_tasks_run(bench)
        if lacking("files.portal", ["http3"]) is None:
            with first.having("aioquic"), second.having("aioquic"):
                http_3_runs(bench)
        bench.run("files.copy", ("xp", "server-2003"), protocols=["http1.1"])
        assert [one.run("cat", *names) for one in spare] != before
        assert first.own not in names_here()
    finally:
        made.stop()
    assert [one.quiet() for one in spare] == [[], []]
    assert [one.run("cat", *names) for one in spare] == before
    assert {first.own, second.own} <= names_here()


def names_here() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


CRASH = """
import sys
from pathlib import Path
from pentathlon.study.system import Peer, System
from tests.experiments.file_services.remote import far_system, testbed
made = testbed(Path(sys.argv[1]), far_system(*sys.argv[2:]))
made.behave("client", {"net/ipv4/tcp_timestamps": "0"})
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_killed_experimenter_leaves_nothing_over_there(
    machines: list[Machine], tmp_path: Path
) -> None:
    one = machines[0]
    name = "/proc/sys/net/ipv4/tcp_timestamps"
    before = one.run("cat", name)
    words = [str(tmp_path), str(one.ssh.config), one.own, one.theirs]
    with subprocess.Popen(
        [sys.executable, "-c", CRASH, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None and running.stdout.readline() == "ready\n"
        assert one.run("cat", name) == "0\n" != before
        running.kill()
    assert one.quiet() == []
    assert one.run("cat", name) == before
    # A virtual card is gone with its namespace; a real one would have been given back.
    assert any("did not come back" in notes for notes in restore_leftovers(tmp_path))
    if one.own not in names_here():
        one.plug_in()


def test_a_card_that_is_in_use_is_not_lent(machines: list[Machine], tmp_path: Path) -> None:
    one = machines[1]
    subprocess.run(["ip", "addr", "add", "203.0.113.1/24", "dev", one.own], check=True)
    try:
        with pytest.raises(TargetUnavailable, match=r"has the address 203\.0\.113\.1, so it is in"):
            testbed(tmp_path, far_system(str(one.ssh.config), one.own, one.theirs))
    finally:
        subprocess.run(["ip", "addr", "flush", "dev", one.own], check=True)
    with pytest.raises(TargetUnavailable, match="this machine has no interface ptnone"):
        testbed(tmp_path, far_system(str(one.ssh.config), "ptnone", one.theirs))
    with pytest.raises(TargetUnavailable, match=r"ptnone is not usable: bench: .*does not exist"):
        testbed(tmp_path, far_system(str(one.ssh.config), one.own, "ptnone"))
    assert one.quiet() == []
