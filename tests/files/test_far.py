"""File tasks whose ends are machines reached by ssh(1)."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from pentathlon import agent
from pentathlon.study.model import Peer, System
from pentathlon.study.reach import Ssh
from pentathlon.target import TargetUnavailable, make_target
from pentathlon.target.files import trial
from pentathlon.target.files.asked import Setup
from pentathlon.target.files.far import FarPlace
from pentathlon.target.files.ground import Ground, grounds
from pentathlon.target.files.programs import SYSTEM_PYTHON
from pentathlon.target.link import use
from pentathlon.target.link.calibrate import Calibration
from pentathlon.target.pair.target import PairTarget
from pentathlon.target.qemu import kernels as qemu_kernels
from pentathlon.target.ssh.end import FarEnd, _look
from pentathlon.target.uml import kernels as uml_kernels
from pentathlon.target.undo import restore_leftovers
from tests.files.conftest import (
    WAN,
    Bench,
    Grounds,
    after,
    crossed_by_traffic,
    cut_in_mid_task,
    every_task_runs,
    failure,
    goes_on_after,
    http_3_runs,
    lacking,
    no_namespaces,
    samples,
    wrong_password,
)
from tests.files.machines import Machine

HAS_AIOQUIC = "import importlib.util; print(importlib.util.find_spec('aioquic') is not None)"

PROTOCOLS = ["smb", "http1.1", "sftp", "nfs"]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    if reason := no_namespaces():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("machines")
    made: list[Machine] = []
    try:
        made += [Machine.start(place, number) for number in range(4)]
        yield made
    finally:
        for one in made:
            one.stop()


def ground(place: Path, system: System, link: str | None = None) -> Ground:
    """The ground of a system, over a link of 10 Mbit/s and 50 ms that nobody measures."""
    profile = place / "test.toml"
    profile.write_text(WAN)
    target = make_target(system, agent.locate(), place)
    assert isinstance(target, PairTarget)
    target.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
        return grounds(target.ends)(link or str(profile), 60.0, place)


@pytest.fixture(scope="module")
def far_client(
    machines: list[Machine], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    place, one = tmp_path_factory.mktemp("client"), machines[0]
    made = ground(place, far_system(str(one.ssh.config), one.own, one.theirs))
    yield Bench(Grounds(made), place)
    made.stop()
    assert one.quiet() == []


@pytest.fixture(scope="module")
def far_server(
    machines: list[Machine], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    place, one = tmp_path_factory.mktemp("server"), machines[1]
    peer = Peer(target="ssh", ssh=one.ssh, interfaces=(one.own,), joined_to=(one.theirs,))
    made = ground(place, System(name="far", target="netns", peer=peer))
    yield Bench(Grounds(made), place)
    made.stop()
    assert one.quiet() == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_another_machine_copies_from_a_namespace(far_client: Bench, protocol: str) -> None:
    found = samples(far_client.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000 and found["link_round_trip"] >= 50


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_namespace_copies_from_another_machine(far_server: Bench, protocol: str) -> None:
    found = samples(far_server.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000 and found["link_round_trip"] >= 50


def test_what_breaks_a_task_with_another_machine_costs_one_sentence(
    far_server: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda ground, held: 8.0)
    with after(far_server, 200_000, lambda: far_server.ground.server.finish_job("smbd")):
        said = failure(far_server.run("files.copy", document_bytes=[2_000_000]))
    assert said.startswith("the server smbd ended in mid-task; ")
    wrong_password(monkeypatch)
    said = failure(far_server.run("files.copy"))
    assert said.startswith("the server refused the user's name or password (NT_STATUS_")
    assert said.endswith("; 0 of 100,000 bytes had come")


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "sftp", "nfs"])
def test_another_machine_whose_disk_is_full_costs_one_sentence(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    made, remove = FarPlace.__init__, FarPlace.remove

    def small(self: FarPlace, host: FarEnd, *rest: Any) -> None:
        made(self, host, *rest)
        host.shell('mount -t tmpfs -o size=64k tmpfs "$1"', str(self.into))

    def unmount(self: FarPlace) -> None:
        far_client.ground.client.perform(["umount", str(self.into)], 10.0)
        remove(self)

    monkeypatch.setattr(FarPlace, "__init__", small)
    monkeypatch.setattr(FarPlace, "remove", unmount)
    said = failure(far_client.run("files.copy", protocols=[protocol]))
    assert said.startswith("the client's disk is full")
    monkeypatch.undo()
    assert samples(far_client.run("files.copy", protocols=[protocol]))["task_time"] > 0


@pytest.mark.parametrize("far_is_client", [True, False])
def test_after_the_connection_to_another_machine_broke_the_next_case_has_a_new_one(
    machines: list[Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far_is_client: bool
) -> None:
    one = machines[2]
    system = far_system(str(one.ssh.config), one.own, one.theirs)
    if not far_is_client:
        peer = Peer(target="ssh", ssh=one.ssh, interfaces=(one.own,), joined_to=(one.theirs,))
        system = System(name="far", target="netns", peer=peer)
    target = make_target(system, agent.locate(), tmp_path)
    target.prepare()
    said = goes_on_after(target, tmp_path, monkeypatch, lambda _: one.hang_up())
    side = "client" if far_is_client else "server"
    lost = f'the {side} was lost in mid-task (system "far": the connection to bench broke before'
    assert said.startswith(lost), said
    assert one.quiet() == []


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_an_open_that_breaks_tells_how_much_has_come_over_there(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda ground, held: 8.0)
    job = {"smb": "smbd", "nfs": "nfs-ganesha"}[protocol]
    with after(far_client, 500_000, lambda: far_client.ground.server.finish_job(job)):
        events = far_client.run("files.open", protocols=[protocol], document_bytes=[2_000_000])
    said = failure(events)
    came = re.fullmatch(f"the server {job} ended in mid-task; ([0-9,]+) of 2,000,000 .*", said)
    assert came and 4096 <= int(came[1].replace(",", "")) < 2_000_000, said


def test_other_bytes_over_there_are_no_copy(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = trial._check

    def spoilt(done: Any, setup: Setup, *rest: Any) -> None:
        file = str(setup.into / setup.held.names[0])
        setup.client.host.perform(["sh", "-c", 'printf x | dd of="$0" conv=notrunc', file], 10.0)
        check(done, setup, *rest)

    monkeypatch.setattr(trial, "_check", spoilt)
    said = failure(far_client.run("files.copy", protocols=["http1.1"]))
    assert said.startswith("the client got other files than the server holds")


def test_a_profile_and_a_portal_come_to_another_machine(far_client: Bench) -> None:
    tree = far_client.run("files.roaming", protocols=["sftp"], document_bytes=[20_000], files=5)
    assert samples(tree)["wire_bytes"] > 20_000
    found = samples(far_client.run("files.portal", protocols=["http1.1"], states=["warm"]))
    assert found["exchanges"] == 3


def test_every_task_comes_from_a_namespace_to_another_machine(far_client: Bench) -> None:
    every_task_runs(far_client)


def test_every_task_comes_from_another_machine_to_a_namespace(far_server: Bench) -> None:
    every_task_runs(far_server)


@pytest.mark.parametrize("workload", ["files.copy", "files.portal"])
@pytest.mark.parametrize("far", ["client", "server"])
def test_http_3_goes_to_and_from_another_machine(
    request: pytest.FixtureRequest, machines: list[Machine], far: str, workload: str
) -> None:
    bench: Bench = request.getfixturevalue(f"far_{far}")
    one = machines[("client", "server").index(far)]
    if reason := lacking(workload, ["http3"]):
        pytest.skip(reason)
    with one.having("aioquic"):
        http_3_runs(bench, workload)


def test_an_interpreter_over_there_that_lacks_aioquic_is_unsupported(
    far_client: Bench, machines: list[Machine]
) -> None:
    if machines[0].run(SYSTEM_PYTHON, "-I", "-c", HAS_AIOQUIC).strip() == "True":
        pytest.skip("the system's interpreter has aioquic")
    (error,) = (
        event
        for event in far_client.run("files.copy", protocols=["http3"])
        if event["event"] == "error"
    )
    assert error["kind"] == "unsupported"
    assert error["reason"].startswith("the Python module aioquic is not installed on bench")


def test_traffic_crosses_a_link_from_another_machine(far_client: Bench) -> None:
    crossed_by_traffic(far_client.ground)


GUESTS: dict[str, tuple[ModuleType, str]] = {
    "uml": (uml_kernels, "6.1"), "qemu": (qemu_kernels, "6.1-cloud"),
}  # fmt: skip


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("far_is_client", [True, False])
def test_every_task_runs_between_a_guest_and_another_machine(
    machines: list[Machine], tmp_path: Path, guest: Literal["uml", "qemu"], far_is_client: bool
) -> None:
    kernels, kernel = GUESTS[guest]
    try:
        kernels.resolve(kernel)
    except TargetUnavailable as error:
        pytest.skip(str(error))
    one = machines[2]
    own, theirs = (one.own,), (one.theirs,)
    if far_is_client:
        peer = Peer(target=guest, kernel=kernel, interfaces=own, joined_to=theirs)
        system = System(name="mixed", target="ssh", ssh=one.ssh, peer=peer)
    else:
        peer = Peer(target="ssh", ssh=one.ssh, interfaces=own, joined_to=theirs)
        system = System(name="mixed", target=guest, kernel=kernel, peer=peer)
    made = ground(tmp_path, system)
    try:
        every_task_runs(bench := Bench(Grounds(made), tmp_path), fewest=guest == "qemu")
        # A virtual machine takes half a minute to start its programs.
        if guest == "uml" and lacking("files.portal", ["http3"]) is None:
            with one.having("aioquic"):
                http_3_runs(bench)
    finally:
        made.stop()
    assert one.quiet() == []


def test_settings_of_another_machine_are_put_back(machines: list[Machine], tmp_path: Path) -> None:
    """Both ends are other machines; what their kernels had is there again."""
    names = [f"/proc/sys/net/ipv4/{name}" for name in ("tcp_rmem", "tcp_timestamps")]
    spare = machines[2:]
    for one in spare:
        one.run("sh", "-c", 'echo "4096 111111 333333" >"$0"', names[0])
    before = [one.run("cat", *names) for one in spare]
    first, second = spare
    peer = Peer(
        target="ssh", ssh=second.ssh, behaves="server-2003",
        interfaces=(first.own, second.own), joined_to=(first.theirs, second.theirs),
    )  # fmt: skip
    system = System(name="far", target="ssh", ssh=first.ssh, behaves="xp", peer=peer)
    made = ground(tmp_path, system)
    try:
        bench = Bench(Grounds(made), tmp_path)
        found = samples(bench.run("files.copy", ("xp", "server-2003"), protocols=["http1.1"]))
        assert found["window"] < 20_000 and found["link_round_trip"] >= 50
        every_task_runs(bench)
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
from pentathlon.study.model import Peer, System
from tests.files.test_far import far_system, ground
made = ground(Path(sys.argv[1]), far_system(*sys.argv[2:]))
made.behave("client", {"net/ipv4/tcp_timestamps": "0"})
print("ready", flush=True)
sys.stdin.read()
"""


def far_system(config: str, own: str, theirs: str) -> System:
    """Another machine as the client of a namespace."""
    peer = Peer(target="netns", interfaces=(own,), joined_to=(theirs,))
    return System(name="far", target="ssh", ssh=Ssh(host="bench", config=config), peer=peer)


def test_a_killed_experimenter_leaves_nothing_over_there(
    machines: list[Machine], tmp_path: Path
) -> None:
    one = machines[2]
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
    assert any("did not come back" in said for said in restore_leftovers(tmp_path))
    if one.own not in names_here():
        one.plug_in()


def test_a_card_that_is_in_use_is_not_lent(machines: list[Machine], tmp_path: Path) -> None:
    one = machines[3]
    subprocess.run(["ip", "addr", "add", "203.0.113.1/24", "dev", one.own], check=True)
    try:
        with pytest.raises(TargetUnavailable, match=r"has the address 203\.0\.113\.1, so it is in"):
            ground(tmp_path, far_system(str(one.ssh.config), one.own, one.theirs))
    finally:
        subprocess.run(["ip", "addr", "flush", "dev", one.own], check=True)
    with pytest.raises(TargetUnavailable, match="this machine has no interface ptnone"):
        ground(tmp_path, far_system(str(one.ssh.config), "ptnone", one.theirs))
    with pytest.raises(TargetUnavailable, match=r"ptnone is not usable: bench: .*does not exist"):
        ground(tmp_path, far_system(str(one.ssh.config), one.own, "ptnone"))
    assert one.quiet() == []


def test_what_is_not_installed_over_there_is_unsupported(
    far_server: Bench, machines: list[Machine]
) -> None:
    nginx = machines[1].run("sh", "-c", "PATH=$PATH:/usr/sbin; command -v nginx || :").strip()
    if not nginx:
        pytest.skip("nginx is not installed")
    machines[1].run("mount", "--bind", "/dev/null", nginx)
    try:
        events = far_server.run("files.copy", protocols=["http1.1"])
    finally:
        machines[1].run("umount", nginx)
    (error,) = (event for event in events if event["event"] == "error")
    assert error["kind"] == "unsupported"
    assert error["reason"].startswith("the program nginx is not installed on bench; ")


@pytest.mark.parametrize("far", ["client", "server"])
def test_a_link_to_another_machine_that_is_cut_costs_one_sentence(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, far: str
) -> None:
    # The last of these links: it remembers that it was cut.
    cut_in_mid_task(request.getfixturevalue(f"far_{far}"), monkeypatch, "smb")


class Answers(FarEnd):
    """A machine to which the connection goes over what is to be measured."""

    def shell(self, script: str, *words: str, input: str = "", timeout_s: float = 1.0) -> str:
        if "SSH_CONNECTION" in script:
            return "2: eth0 inet 192.0.2.7/24 scope global eth0\n192.0.2.1 40000 192.0.2.7 22\n"
        return "0" if "id" in script else "/sbin/ip"


def test_a_connection_over_the_measured_cable_is_refused() -> None:
    session: Any = None
    with pytest.raises(TargetUnavailable, match="itself goes over eth0, which is to be measured"):
        _look(Answers(session, {}, device="eth0", name="bench"))
