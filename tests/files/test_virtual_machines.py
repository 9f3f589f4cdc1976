"""File tasks, and other traffic over links, whose ends are virtual machines of QEMU."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon import agent
from pentathlon.filecapture import pcapng
from pentathlon.filecapture.summary import summarise
from pentathlon.study.model import Peer, System
from pentathlon.target import TargetUnavailable, make_target
from pentathlon.target.files import trial
from pentathlon.target.files.ground import CABLE, Ground
from pentathlon.target.link import use
from pentathlon.target.link.calibrate import Calibration
from pentathlon.target.pair.traffic import run_traffic
from pentathlon.target.qemu import kernels, shares
from pentathlon.target.qemu import target as qemu
from pentathlon.target.uml import kernels as uml_kernels
from tests.files.conftest import (
    WAN,
    Bench,
    Grounds,
    after,
    capture,
    crossed_by_traffic,
    cut_in_mid_task,
    every_task_runs,
    failure,
    goes_on_after,
    ground_of,
    http_3_runs,
    no_namespaces,
    samples,
    small_disk,
    wrong_password,
)
from tests.traffic.conftest import task

KERNEL = "6.1-cloud"
"""Of Debian's kernels the one whose boots never failed with QEMU 7.2 (docs/targets.md)."""

BOOT_S = 240.0


def no_machines() -> str | None:
    """Why no virtual machine can be an end of a link here."""
    if reason := no_namespaces():
        return reason
    if qemu.version() is None:
        return "QEMU is not installed"
    try:
        shares.check()
        kernel = kernels.resolve(KERNEL)
    except TargetUnavailable as error:
        return str(error)
    return "the kernel lacks modules" if kernels.lacks(kernel, kernels.PARTS) else None


def joined(place: Path, system: System, link: str | None = None) -> Ground:
    """Both ends, with an emulated link where no other is named."""
    if reason := no_machines():
        pytest.skip(reason)
    profile = place / "test.toml"
    profile.write_text(WAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
        return ground_of(place, link or str(profile), system, BOOT_S)


@pytest.fixture(scope="module")
def as_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The client is a virtual machine, the server a namespace."""
    place = tmp_path_factory.mktemp("client")
    system = System(name="client", target="qemu", kernel=KERNEL, peer=Peer(target="netns"))
    ground = joined(place, system)
    yield Bench(Grounds(ground), place)
    ground.stop()


@pytest.fixture(scope="module")
def as_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The server is a virtual machine, the client a namespace."""
    place = tmp_path_factory.mktemp("server")
    system = System(name="server", target="netns", peer=Peer(target="qemu", kernel=KERNEL))
    ground = joined(place, system)
    yield Bench(Grounds(ground), place)
    ground.stop()


def test_it_has_its_kernel_and_may_write_where_its_task_is_alone(as_client: Bench) -> None:
    machine, ours = as_client.ground.client, as_client.scratch
    release = machine.perform(["uname", "-r"], 60.0)["output"].strip()
    assert release == kernels.resolve(KERNEL).release
    assert machine.perform(["touch", str(ours / "by-the-guest")], 60.0)["status"] == 0
    assert (ours / "by-the-guest").exists()
    refused = machine.perform(["touch", "/usr/by-a-guest"], 60.0)
    assert refused["status"] != 0 and "Read-only" in refused["error"]
    # Nor when its root user mounts what it sees anew: the server of the files is what refuses.
    again = "mount -o remount,rw / && touch /usr/by-a-guest"
    assert machine.perform(["/bin/sh", "-c", again], 60.0)["status"] != 0
    assert not Path("/usr/by-a-guest").exists()


def test_it_sees_at_once_what_this_machine_changes(as_client: Bench) -> None:
    machine, file = as_client.ground.client, as_client.scratch / "changing"
    for text in ("first", "second, which is longer", "3"):
        file.write_text(text)
        assert machine.perform(["cat", str(file)], 60.0)["output"] == text
        file.unlink()
        assert machine.perform(["test", "-e", str(file)], 60.0)["status"] == 1


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "sftp", "nfs"])
def test_a_copy_to_a_virtual_machine_has_its_bytes(as_client: Bench, protocol: str) -> None:
    copied(as_client, protocol)


@pytest.mark.parametrize(
    ("asked", "protocol"),
    [
        ("files.open", "smb"), ("files.roaming", "nfs"),
        ("files.portal", "http2"), ("files.portal", "http3"),
    ],
)  # fmt: skip
def test_every_task_comes_to_a_virtual_machine(as_client: Bench, asked: str, protocol: str) -> None:
    small = {"document_bytes": [20_000], "files": 3}
    found = samples(as_client.run(asked, protocols=[protocol], **small))
    assert found["wire_bytes"] > 20_000 and found["task_time"] >= 0.1


def test_traffic_crosses_a_link_from_a_virtual_machine(as_client: Bench) -> None:
    crossed_by_traffic(as_client.ground)


@pytest.mark.parametrize("version", [4, 6])
def test_the_kernels_own_generator_sends_from_a_virtual_machine(
    as_client: Bench, version: int
) -> None:
    """This machine's kernel may have no pktgen; Debian's have it as a module."""
    ground = as_client.ground
    asked = task(
        rung=["pktgen"], packet_rate="constant 200", packet_bytes="constant 200",
        ip_versions=[version], duration_s=1.0, lateness_limit_ms=10_000.0,
    )  # fmt: skip
    events = list(run_traffic(asked, ground.client, ground.server))
    assert [event["reason"] for event in events if event["event"] == "error"] == []
    (flow,) = [flow for e in events if e["event"] == "packets" for flow in e["flows"]]
    assert flow["received"] == flow["sent"] == 200
    assert flow["duplicates"] == flow["foreign"] == 0
    told = {event["indicator"] for event in events if event["event"] == "sample"}
    assert {"throughput", "lost"} <= told and not {"delay_p50", "jitter"} & told


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "sftp", "nfs"])
def test_a_copy_from_a_virtual_machine_has_its_bytes(as_server: Bench, protocol: str) -> None:
    copied(as_server, protocol)


def test_every_task_comes_from_a_virtual_machine(as_server: Bench) -> None:
    every_task_runs(as_server, fewest=True)


def test_a_portal_speaks_http_3_from_a_virtual_machine(as_server: Bench) -> None:
    http_3_runs(as_server)


def copied(bench: Bench, protocol: str) -> None:
    found = samples(events := bench.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000
    # The machine is behind the link: nothing is nearer than its 50 ms.
    assert found["link_round_trip"] >= 50
    talks = summarise(pcapng.read(capture(events)), *bench.ground.addresses, "smb").talks
    assert talks and all(talk.segments for talk in talks)
    # Whole packets crossed the link, none longer than its MTU.
    lengths = [frame.length for frame in pcapng.read(capture(events)).frames]
    assert 1400 < max(lengths) <= 1514


def test_a_virtual_machine_whose_disk_is_full_costs_one_sentence(
    as_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_disk(as_client, monkeypatch)
    said = failure(as_client.run("files.copy", protocols=["http1.1"]))
    assert said.startswith("the client's disk is full")


def test_a_user_who_is_refused_costs_one_sentence(
    as_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_password(monkeypatch)
    said = failure(as_client.run("files.copy"))
    assert said.startswith("the server refused the user's name or password (NT_STATUS_")


def test_a_server_that_is_killed_in_a_virtual_machine_costs_one_sentence(
    as_server: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda ground, held: 8.0)
    with after(as_server, 200_000, lambda: as_server.ground.server.finish_job("nginx")):
        events = as_server.run("files.copy", protocols=["http1.1"], document_bytes=[2_000_000])
    assert failure(events).startswith("the server nginx ended in mid-task; ")


@pytest.mark.parametrize("end", ["client", "server"])
def test_a_link_to_a_virtual_machine_that_is_cut_costs_one_sentence(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    cut_in_mid_task(request.getfixturevalue(f"as_{end}"), monkeypatch, "http1.1")


def test_after_a_virtual_machine_was_killed_the_next_case_has_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := no_machines():
        pytest.skip(reason)
    system = System(name="server", target="netns", peer=Peer(target="qemu", kernel=KERNEL))
    target = make_target(system, agent.locate(), tmp_path)
    said = goes_on_after(
        target, tmp_path, monkeypatch,
        lambda ground: os.kill(ground.server.session.pid, signal.SIGKILL),
    )  # fmt: skip
    lost = r'the server was lost in mid-task \(system "server".*signal 9.*\); [0-9,]+ of 2,000,000 '
    assert re.match(lost, said), said


@pytest.mark.parametrize("guest_is_client", [False, True])
def test_two_kernels_of_two_kinds_are_ends_of_one_link(
    tmp_path: Path, guest_is_client: bool
) -> None:
    here = uml_kernels.available()
    if not here:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
    guest = str(here[-1].path)
    if guest_is_client:
        peer = Peer(target="qemu", kernel=KERNEL)
        system = System(name="two", target="uml", kernel=guest, peer=peer)
    else:
        peer = Peer(target="uml", kernel=guest)
        system = System(name="two", target="qemu", kernel=KERNEL, peer=peer)
    ground = joined(tmp_path, system)
    try:
        said = [
            end.perform(["uname", "-r"], 60.0)["output"].strip()
            for end in (ground.client, ground.server)
        ]
        releases = [kernels.resolve(KERNEL).release, here[-1].version]
        assert said == (releases[::-1] if guest_is_client else releases)
        every_task_runs(Bench(Grounds(ground), tmp_path), fewest=True)
    finally:
        ground.stop()


@pytest.mark.parametrize("link", [CABLE, None])
def test_two_virtual_machines_are_ends_of_a_cable_and_of_a_link(
    tmp_path: Path, link: str | None
) -> None:
    system = System(name="two", target="qemu", kernel=KERNEL, peer=Peer(kernel=KERNEL))
    ground = joined(tmp_path, system, link)
    try:
        assert ground.client.apart and ground.server.apart
        found = samples(Bench(Grounds(ground), tmp_path).run("files.copy", protocols=["http1.1"]))
        assert found["link_round_trip"] > 0 and found["wire_bytes"] > 100_000
        if link is None:
            every_task_runs(Bench(Grounds(ground), tmp_path), fewest=True)
    finally:
        ground.stop()
