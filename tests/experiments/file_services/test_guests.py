"""File tasks whose ends are guests of user-mode Linux: other kernels, this machine's programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pentathlon.exchange import pcapng
from pentathlon.experiments.file_services import trial
from pentathlon.experiments.file_services.capture.summary import summarise
from pentathlon.experiments.file_services.testbed import CABLE, Testbed
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError
from pentathlon.protocol import agent
from pentathlon.study.system import Peer, System
from pentathlon.targets.uml import kernels
from pentathlon.testbed.link import use
from pentathlon.testbed.link.calibrate import Calibration
from tests.experiments.file_services.conftest import (
    WAN,
    Bench,
    Testbeds,
    after,
    capture,
    failure,
    goes_on_after,
    lacking,
    no_namespaces,
    samples,
    small_disk,
    testbed_of,
    two_tasks_run,
    wrong_password,
)

HERE = kernels.available()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The newest kernel is the client, the oldest the server; an emulated link between them."""
    if reason := no_guests():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("guests")
    profile = place / "test.toml"
    profile.write_text(WAN)
    system = System(
        name="guests", target="uml", kernel=str(HERE[-1].path),
        peer=Peer(kernel=str(HERE[0].path)),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
        try:
            testbed = testbed_of(place, str(profile), system)
        except TargetError as error:
            pytest.skip(str(error))
    yield Bench(Testbeds(testbed), place)
    testbed.stop()


def test_each_end_has_its_kernel_and_may_write_where_its_task_is_alone(bench: Bench) -> None:
    for end, kernel in ((bench.testbed.client, HERE[-1]), (bench.testbed.server, HERE[0])):
        assert end.perform(["uname", "-r"], 10.0)["output"].strip() == kernel.version
        wrote = end.perform(["touch", str(bench.scratch / f"by-{kernel.version}")], 10.0)
        assert wrote["status"] == 0 and (bench.scratch / f"by-{kernel.version}").exists()
        refused = end.perform(["touch", "/usr/by-a-guest"], 10.0)
        assert refused["status"] != 0 and "Read-only" in refused["error"]
        assert not Path("/usr/by-a-guest").exists()


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "http3", "sftp", "nfs"])
def test_a_copy_between_two_kernels_has_its_bytes(bench: Bench, protocol: str) -> None:
    found = samples(events := bench.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000
    # Both guests are behind the link: nothing is nearer than its 50 ms. QUIC's packets hide their
    # round trips; one is its handshake and one is what was requested.
    if protocol == "http3":
        assert found["task_time"] >= 0.1
    else:
        assert found["link_round_trip"] >= 50
    assert any(event["event"] == "link" and "link" in event for event in events)
    talks = summarise(pcapng.read(capture(events)), *bench.testbed.addresses, "smb").talks
    assert bool(talks) != (protocol == "http3") and all(talk.segments for talk in talks)


def test_guests_behave_as_they_are_told(bench: Bench) -> None:
    old = samples(bench.run("files.copy", ("xp", "server-2003"), document_bytes=[1_000_000]))
    new = samples(bench.run("files.copy", ("vista", "server-2008"), document_bytes=[1_000_000]))
    assert old["window"] < 20_000 < new["window"]
    assert old["round_trips"] > 1.3 * new["round_trips"]


@pytest.mark.parametrize("workload", ["files.open", "files.roaming", "files.portal"])
def test_the_other_tasks_run_between_guests_too(bench: Bench, workload: str) -> None:
    protocol = "http1.1" if workload == "files.portal" else "smb"
    found = samples(bench.run(workload, protocols=[protocol], document_bytes=[20_000], files=3))
    assert found["exchanges"] >= 3


def test_a_portal_speaks_http_3_between_guests_after_a_first_task(bench: Bench) -> None:
    found = samples(bench.run("files.portal", protocols=["http3"], states=["warm"]))
    assert found["task_time"] >= 0.2 and found["wire_bytes"] > 100_000


def test_a_guest_whose_disk_is_full_costs_one_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_disk(bench, monkeypatch)
    for protocol in ("smb", "http1.1"):
        if lacking("files.copy", [protocol]) is None:
            message = failure(bench.run("files.copy", protocols=[protocol]))
            assert message.startswith("the client's disk is full"), protocol


def test_a_guest_whose_user_is_refused_costs_one_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_password(monkeypatch)
    message = failure(bench.run("files.copy"))
    assert message.startswith("the server refused the user's name or password (NT_STATUS_")


def test_a_server_that_is_killed_in_a_guest_costs_one_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 8.0)
    with after(bench, 200_000, lambda: bench.testbed.server.finish_job("smbd")):
        # Large, so that it is in its middle also where this machine is busy.
        message = failure(bench.run("files.copy", document_bytes=[7_000_000]))
    assert message.startswith("the server smbd ended in mid-task; ")
    # The same guests serve the next task.
    assert samples(bench.run("files.copy"))["task_time"] > 0


def test_after_a_link_to_a_guest_was_cut_the_next_case_has_a_new_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := no_guests():
        pytest.skip(reason)
    peer = Peer(target="uml", kernel=str(HERE[-1].path))
    target = make_target(
        System(name="mixed", target="netns", peer=peer), agent.locate(), tmp_path
    )  # fmt: skip
    output = goes_on_after(target, tmp_path, monkeypatch, lambda testbed: cut(testbed)())
    assert output.startswith("the link was cut in mid-task; ")


def cut(testbed: Testbed) -> Callable[[], None]:
    assert testbed.link is not None
    return testbed.link.bed.cut


def no_guests() -> str | None:
    """Why no guest can be an end of a link here."""
    if reason := no_namespaces():
        return reason
    return None if HERE else "no kernel of user-mode Linux is here: pentathlon doctor --install"


@pytest.mark.parametrize("guest_is_client", [True, False])
def test_tasks_run_between_a_guest_and_a_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guest_is_client: bool
) -> None:
    if reason := no_guests():
        pytest.skip(reason)
    profile = tmp_path / "test.toml"
    profile.write_text(WAN)
    kernel = str(HERE[-1].path)
    if guest_is_client:
        system = System(name="mixed", target="uml", kernel=kernel, peer=Peer(target="netns"))
    else:
        system = System(name="mixed", target="netns", peer=Peer(target="uml", kernel=kernel))
    monkeypatch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
    testbed = testbed_of(tmp_path, str(profile), system)
    try:
        assert (testbed.client.apart, testbed.server.apart) == (
            guest_is_client,
            not guest_is_client,
        )
        two_tasks_run(Bench(Testbeds(testbed), tmp_path))
    finally:
        testbed.stop()


def test_a_guest_and_a_namespace_are_ends_of_one_cable(tmp_path: Path) -> None:
    if reason := no_guests():
        pytest.skip(reason)
    system = System(
        name="mixed", target="netns", peer=Peer(target="uml", kernel=str(HERE[-1].path))
    )
    try:
        testbed = testbed_of(tmp_path, CABLE, system)
    except TargetError as error:
        pytest.skip(str(error))
    try:
        assert not testbed.client.apart and testbed.server.apart
        output = testbed.server.perform(["uname", "-r"], 10.0)["output"].strip()
        assert output == HERE[-1].version
        found = samples(Bench(Testbeds(testbed), tmp_path).run("files.copy", protocols=["http1.1"]))
        assert found["link_round_trip"] > 0 and found["wire_bytes"] > 100_000
    finally:
        testbed.stop()
