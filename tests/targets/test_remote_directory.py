"""The disk workloads in a directory that is mounted from elsewhere, against a local one: over
SSH (sshfs, FUSE), and through the host of a user-mode Linux guest (hostfs)."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol.requests.session import Request
from pentathlon.targets.contract import Session
from pentathlon.targets.uml import kernels
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, connections_ended, descendants, entry, request
from tests.targets.sshd import Sshd

SFTP = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
)
MOUNT_S = 10.0

FILES: dict[str, Any] = {
    "file_bytes": 1 << 18,
    "chunk_bytes": [4096, 1 << 16],
    "limit_s": 0.05,
    "interface": ["descriptor", "stdio"],
}


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A mount point, and the directory over there that is seen in it."""
    server = next((path for path in SFTP if Path(path).is_file()), None)
    if server is None or shutil.which("sshfs") is None or shutil.which("fusermount3") is None:
        pytest.skip("sshfs is not installed")
    sshd = Sshd(tmp_path / "sshd")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    before = descendants()
    sshd.start()
    # In the foreground, so that it is a child to wait for; unmounted also if it is killed.
    options = f"sftp_server={server},auto_unmount"
    command = ["sshfs", "-f", "-F", str(sshd.config), "-o", options, f"bench:{there}", str(here)]
    mount = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + MOUNT_S
        while not os.path.ismount(here):
            if mount.poll() is not None or time.monotonic() > deadline:
                pytest.skip("this system lets sshfs mount nothing")
            time.sleep(0.02)
        yield here, there
    finally:
        subprocess.run(["fusermount3", "-u", "-z", str(here)], check=False, capture_output=True)
        mount.terminate()
        mount.wait()
        assert mount.stderr is not None
        mount.stderr.close()
        sshd.stop()
        connections_ended(before)
    assert not os.path.ismount(here)


def request_for(directory: str, workload: str = "disk.access", **parameters: Any) -> Request:
    held = {"directory": directory} | parameters
    return request("", workloads=[entry(workload, parameters=held, iterations=1)])


def run(session: Session, made: Request) -> list[dict[str, Any]]:
    events = documents(session.run(made, 60, 120))
    assert [e for e in events if e["event"] == "error"] == []
    return events


def cases(events: list[dict[str, Any]]) -> dict[str, str]:
    """The checksum of each metric in each case."""
    samples = [e for e in events if e["event"] == "sample"]
    assert all(e["value"] > 0 for e in samples)
    return {f"{e['metric']} {e['case']}": e["checksum"] for e in samples}


def place(events: list[dict[str, Any]]) -> str:
    """The file system that the agent found under its files."""
    counters = (e for e in events if e["event"] == "counter" and e["name"] == "disk.place")
    return str(next(counters)["value"]["file_system"])


def served(events: list[dict[str, Any]]) -> str:
    """All that is stated of which source answered."""
    return str([e for e in events if e["event"] == "counter" and "disk.served" in e["name"]])


def test_a_directory_of_another_machine_is_measured_beside_a_local_one(
    mounted: tuple[Path, Path], tmp_path: Path, real_agent: Path, state: Path
) -> None:
    here, there = mounted
    local = tmp_path / "local"
    local.mkdir()
    found = []
    for directory in (local, here):
        with make_target(FakeSystem(), real_agent, state).boot(30) as session:
            found.append(run(session, request_for(str(directory), **FILES)))
            assert list(directory.iterdir()) == list(there.iterdir()) == []
    assert cases(found[0]) == cases(found[1])
    assert len(cases(found[1])) == 3 * 2 * 2
    assert "fuse" in place(found[1])
    assert "fuse" not in place(found[0])
    # No block device of this system answers for another machine.
    assert served(found[1])
    assert "'device'" not in served(found[1])


def test_all_metadata_calls_work_on_a_directory_of_another_machine(
    mounted: tuple[Path, Path], real_agent: Path, state: Path
) -> None:
    here, there = mounted
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        few = request_for(str(here), "disk.metadata", files=10, directories=2)
        assert len(cases(run(session, few))) == 5
    assert list(there.iterdir()) == []


def test_a_guest_measures_its_hosts_directory_beside_its_own_memory(
    real_agent: Path, state: Path
) -> None:
    if not (available := kernels.available()):
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    system = FakeSystem(target="uml", kernel=str(available[-1].path))
    made = make_target(system, real_agent, state)
    try:
        made.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    found = []
    for directory in ("/tmp", "/mnt"):
        with made.boot(60) as session:
            found.append(run(session, request_for(directory, **FILES)))
    assert cases(found[0]) == cases(found[1])
    assert [place(events) for events in found] == ["tmpfs", "hostfs"]
    assert "'below'" in served(found[1])
