"""File tasks whose ends are guests of user-mode Linux: other kernels, this machine's programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon import agent
from pentathlon.filecapture import pcapng
from pentathlon.filecapture.summary import summarise
from pentathlon.study.model import Peer, System
from pentathlon.target import TargetError, make_target
from pentathlon.target.files.ground import CABLE, Ground, grounds
from pentathlon.target.link import use
from pentathlon.target.link.calibrate import Calibration
from pentathlon.target.pair.target import PairTarget
from pentathlon.target.uml import kernels
from tests.files.conftest import WAN, Bench, Grounds, capture, no_namespaces, samples

HERE = kernels.available()


def guests(place: Path, link: str, system: System) -> Ground:
    target = make_target(system, agent.locate(), place)
    assert isinstance(target, PairTarget)
    return grounds(target.ends)(link, 60.0, place)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The newest kernel is the client, the oldest the server; an emulated link between them."""
    if reason := no_namespaces():
        pytest.skip(reason)
    if not HERE:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
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
            ground = guests(place, str(profile), system)
        except TargetError as error:
            pytest.skip(str(error))
    yield Bench(Grounds(ground), place)
    ground.stop()


def test_each_end_has_its_kernel_and_may_write_where_its_task_is_alone(bench: Bench) -> None:
    for end, kernel in ((bench.ground.client, HERE[-1]), (bench.ground.server, HERE[0])):
        assert end.perform(["uname", "-r"], 10.0)["output"].strip() == kernel.version
        wrote = end.perform(["touch", str(bench.scratch / f"by-{kernel.version}")], 10.0)
        assert wrote["status"] == 0 and (bench.scratch / f"by-{kernel.version}").exists()
        refused = end.perform(["touch", "/usr/by-a-guest"], 10.0)
        assert refused["status"] != 0 and "Read-only" in refused["error"]
        assert not Path("/usr/by-a-guest").exists()


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "sftp", "nfs"])
def test_a_copy_between_two_kernels_has_its_bytes(bench: Bench, protocol: str) -> None:
    found = samples(events := bench.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000
    # Both guests are behind the link: nothing is nearer than its 50 ms.
    assert found["link_round_trip"] >= 50
    assert any(event["event"] == "link" and "link" in event for event in events)
    talks = summarise(pcapng.read(capture(events)), *bench.ground.addresses, "smb").talks
    assert talks and all(talk.segments for talk in talks)


def test_guests_behave_as_they_are_told(bench: Bench) -> None:
    old = samples(bench.run("files.copy", ("xp", "server-2003"), document_bytes=[200_000]))
    new = samples(bench.run("files.copy", ("vista", "server-2008"), document_bytes=[200_000]))
    assert old["window"] < 20_000 < new["window"]
    assert old["round_trips"] > 1.3 * new["round_trips"]


@pytest.mark.parametrize("workload", ["files.open", "files.roaming", "files.portal"])
def test_the_other_tasks_run_between_guests_too(bench: Bench, workload: str) -> None:
    protocol = "http1.1" if workload == "files.portal" else "smb"
    found = samples(bench.run(workload, protocols=[protocol], document_bytes=[20_000], files=3))
    assert found["exchanges"] >= 3


def test_a_guest_and_a_namespace_are_ends_of_one_cable(tmp_path: Path) -> None:
    if reason := no_namespaces():
        pytest.skip(reason)
    if not HERE:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
    system = System(
        name="mixed", target="netns", peer=Peer(target="uml", kernel=str(HERE[-1].path))
    )
    try:
        ground = guests(tmp_path, CABLE, system)
    except TargetError as error:
        pytest.skip(str(error))
    try:
        assert not ground.client.apart and ground.server.apart
        said = ground.server.perform(["uname", "-r"], 10.0)["output"].strip()
        assert said == HERE[-1].version
        found = samples(Bench(Grounds(ground), tmp_path).run("files.copy", protocols=["http1.1"]))
        assert found["link_round_trip"] > 0 and found["wire_bytes"] > 100_000
    finally:
        ground.stop()
