"""File tasks whose ends are machines reached by ssh(1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.file_services import trial
from pentathlon.experiments.file_services.programs import SYSTEM_PYTHON
from pentathlon.experiments.file_services.remote_workdir import RemotePlace
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.study.system import Peer, System
from pentathlon.testbed.remote_host import RemoteEndpoint, _look
from tests.experiments.file_services.conftest import (
    Bench,
    Testbeds,
    after,
    crossed_by_traffic,
    cut_in_mid_task,
    every_task_runs,
    failure,
    goes_on_after,
    http_3_runs,
    lacking,
    samples,
    wrong_password,
)
from tests.experiments.file_services.machines import Machine
from tests.experiments.file_services.remote import far_system, testbed

HAS_AIOQUIC = "import importlib.util; print(importlib.util.find_spec('aioquic') is not None)"


PROTOCOLS = ["smb", "http1.1", "sftp", "nfs"]


@pytest.fixture(scope="module")
def far_client(
    machines: list[Machine], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    place, one = tmp_path_factory.mktemp("client"), machines[0]
    made = testbed(place, far_system(str(one.ssh.config), one.own, one.theirs))
    yield Bench(Testbeds(made), place)
    made.stop()
    assert one.quiet() == []


@pytest.fixture(scope="module")
def far_server(
    machines: list[Machine], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    place, one = tmp_path_factory.mktemp("server"), machines[1]
    peer = Peer(target="ssh", ssh=one.ssh, interfaces=(one.own,), joined_to=(one.theirs,))
    made = testbed(place, System(name="far", target="netns", peer=peer))
    yield Bench(Testbeds(made), place)
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
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 8.0)
    with after(far_server, 200_000, lambda: far_server.testbed.server.finish_job("smbd")):
        message = failure(far_server.run("files.copy", document_bytes=[2_000_000]))
    assert message.startswith("the server smbd ended in mid-task; ")
    wrong_password(monkeypatch)
    message = failure(far_server.run("files.copy"))
    assert message.startswith("the server refused the user's name or password (NT_STATUS_")
    assert message.endswith("; 0 of 100,000 bytes had come")


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "sftp", "nfs"])
def test_another_machine_whose_disk_is_full_costs_one_sentence(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    made, remove = RemotePlace.__init__, RemotePlace.remove

    def small(self: RemotePlace, host: RemoteEndpoint, *rest: Any) -> None:
        made(self, host, *rest)
        host.shell('mount -t tmpfs -o size=64k tmpfs "$1"', str(self.into))

    def unmount(self: RemotePlace) -> None:
        far_client.testbed.client.perform(["umount", str(self.into)], 10.0)
        remove(self)

    monkeypatch.setattr(RemotePlace, "__init__", small)
    monkeypatch.setattr(RemotePlace, "remove", unmount)
    message = failure(far_client.run("files.copy", protocols=[protocol]))
    assert message.startswith("the client's disk is full")
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
    text = goes_on_after(target, tmp_path, monkeypatch, lambda _: one.hang_up())
    side = "client" if far_is_client else "server"
    lost = f'the {side} was lost in mid-task (system "far": the connection to bench broke before'
    assert text.startswith(lost), text
    assert one.quiet() == []


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_an_open_that_breaks_tells_how_much_has_come_over_there(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 8.0)
    job = {"smb": "smbd", "nfs": "nfs-ganesha"}[protocol]
    with after(far_client, 500_000, lambda: far_client.testbed.server.finish_job(job)):
        events = far_client.run("files.open", protocols=[protocol], document_bytes=[2_000_000])
    message = failure(events)
    came = re.fullmatch(f"the server {job} ended in mid-task; ([0-9,]+) of 2,000,000 .*", message)
    assert came and 4096 <= int(came[1].replace(",", "")) < 2_000_000, message


def test_other_bytes_over_there_are_no_copy(
    far_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = trial._check

    def spoilt(done: Any, setup: Setup, *rest: Any) -> None:
        file = str(setup.into / setup.held.names[0])
        setup.client.host.perform(["sh", "-c", 'printf x | dd of="$0" conv=notrunc', file], 10.0)
        check(done, setup, *rest)

    monkeypatch.setattr(trial, "_check", spoilt)
    message = failure(far_client.run("files.copy", protocols=["http1.1"]))
    assert message.startswith("the client got other files than the server holds")


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
    crossed_by_traffic(far_client.testbed)


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


class Answers(RemoteEndpoint):
    """A machine to which the connection goes over what is to be measured."""

    def shell(self, script: str, *words: str, input: str = "", timeout_s: float = 1.0) -> str:
        if "SSH_CONNECTION" in script:
            return "2: eth0 inet 192.0.2.7/24 scope global eth0\n192.0.2.1 40000 192.0.2.7 22\n"
        return "0" if "id" in script else "/sbin/ip"


def test_a_connection_over_the_measured_cable_is_refused() -> None:
    session: Any = None
    with pytest.raises(TargetUnavailable, match="itself goes over eth0, which is to be measured"):
        _look(Answers(session, {}, device="eth0", name="bench"))
