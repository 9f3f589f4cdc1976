"""A full disk of this machine costs the case that needs it, and not the study."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.experiments.file_services import disk, service
from pentathlon.experiments.file_services.behaviours import behaviour
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.experiments.file_services.workdir import LocalPlace
from pentathlon.protocol import agent
from pentathlon.study.link_profile import parse_profile
from pentathlon.testbed.link.calibrate import Calibration
from pentathlon.testbed.link.testbed import open_link
from pentathlon.testbed.link.use import LinkInUse
from tests.experiments.file_services.conftest import (
    LAN,
    Bench,
    Testbeds,
    failure,
    no_namespaces,
    samples,
)
from tests.experiments.file_services.test_service import Maker, task
from tests.fakes.messages import documents


@pytest.fixture(scope="module")
def disk_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Two hosts whose files all lie on a disk of 1 MiB with 64 inodes, mounted before they are."""
    if reason := no_namespaces():
        pytest.skip(reason)
    state, place = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=64", "tmpfs", str(place)]
    subprocess.run(mount, check=True)
    try:
        bed = open_link(agent.locate(), parse_profile(LAN, "test"), state_dir=state)
        link = LinkInUse(bed, Calibration("test", "none"), bed.statistics())
        testbed = Testbed(bed.client, bed.server, link)
        try:
            yield Bench(Testbeds(testbed), place)
        finally:
            testbed.stop()
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def small(disk_of_its_own: Bench) -> Iterator[Bench]:
    disk_of_its_own.testbeds.given_up.clear()
    yield disk_of_its_own
    for path in disk_of_its_own.scratch.iterdir():
        path.unlink()


def test_a_document_that_does_not_fit_fails_alone(small: Bench) -> None:
    sent = {"protocols": ["http1.1"], "keep_captures": False}
    events = small.run("files.copy", document_bytes=[2_000_000, 20_000], **sent)
    (error,) = (event for event in events if event["event"] == "error")
    assert error["kind"] == "failed" and error["case"]["document_bytes"] == 2_000_000
    assert error["reason"].startswith("this machine's disk is full (No space left on device): ")
    assert "/shared/document.doc; " in error["reason"]
    assert error["reason"].endswith(f" are free in {small.scratch}")
    assert small.testbeds.given_up == ["test"]
    done = [event["case"] for event in events if event["event"] == "sample"]
    assert done and all(case["document_bytes"] == 20_000 for case in done)
    assert not list(small.scratch.iterdir())


@pytest.mark.parametrize("workload", ["files.copy", "files.open", "files.roaming", "files.portal"])
def test_a_disk_without_room_for_one_more_file_fails_every_task(
    small: Bench, workload: str
) -> None:
    protocol = "http1.1" if workload == "files.portal" else "smb"
    made = 0
    while True:
        try:
            (small.scratch / f"file{made}").touch()
        except OSError as error:
            assert error.errno == errno.ENOSPC
            break
        made += 1
    message = failure(small.run(workload, protocols=[protocol]))
    assert message.startswith("this machine's disk is full (No space left on device): ")
    # As many as a trial's directories have, so the first file of them is the one too many.
    for number in range(5):
        (small.scratch / f"file{number}").unlink()
    message = failure(small.run(workload, protocols=[protocol], document_bytes=[1000]))
    where = "profile" if workload == "files.roaming" else "document.doc"
    assert message.startswith("this machine's disk is full") and f"/shared/{where}" in message
    # With room again the same hosts do the task.
    for path in small.scratch.iterdir():
        path.unlink()
    if protocol == "http1.1":
        found = samples(small.run(workload, protocols=[protocol], document_bytes=[1000]))
        assert found["task_time"] > 0


def test_a_configuration_that_does_not_fit_is_named(small: Bench) -> None:
    place = LocalPlace(small.testbed.server, small.scratch, "server")
    place.own.mkdir()
    with pytest.raises(OSError) as caught:
        place.write("smb.conf", "x" * 2_000_000)
    shutil.rmtree(place.own)
    assert f": {place.own}/smb.conf; " in disk.sentence(caught.value, small.scratch)


def test_no_room_for_the_files_of_a_boot_fails_its_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/pentathlon-0")

    monkeypatch.setattr(service.launch, "scratch_directory", full)
    own = behaviour("own")
    boot = service.FileService(Maker({}), (own, own), tmp_path).boot(1.0)
    (error,) = documents(boot.run(task("a", "b")))
    assert error["event"] == "error" and error["kind"] == "failed"
    assert "(No space left on device): /tmp/pentathlon-0; " in error["reason"]


def test_another_fault_of_this_machine_is_told_by_its_file(tmp_path: Path) -> None:
    wrong = OSError(errno.EIO, "Input/output error", "/x/document.doc")
    output = disk.sentence(wrong, tmp_path)
    assert output == "/x/document.doc on this machine cannot be used: Input/output error"
