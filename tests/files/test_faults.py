"""What breaks a task gives one sentence, and the next task runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pentathlon.target.files import trial
from pentathlon.target.files.asked import Setup
from pentathlon.target.files.content import DOCUMENT
from pentathlon.target.files.protocols.base import Call, Service
from pentathlon.target.files.protocols.sftp import Sftp
from tests.files.conftest import LAN, WAN, Bench, Benches, after, failure, samples, wrong_password


@pytest.fixture
def wan(benches: Benches) -> Bench:
    bench = benches(WAN)
    bench.grounds.given_up.clear()
    return bench


def reason(bench: Bench, protocol: str = "smb", size: int = 2_000_000) -> str:
    """The only error of a copy, and nothing else of it."""
    said = failure(bench.run("files.copy", protocols=[protocol], document_bytes=[size]))
    # What it left on the link is not for the next task.
    assert bench.grounds.given_up == ["test"]
    return said


@pytest.mark.parametrize("protocol", ["smb", "http1.1", "http2", "http3", "sftp", "nfs"])
def test_a_link_that_is_cut_in_mid_copy(
    wan: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda ground, held: 2.0)
    assert wan.ground.link is not None
    bed = wan.ground.link.bed
    try:
        with after(wan, 100_000, bed.cut):
            said = reason(wan, protocol)
    finally:
        bed.mend()
    assert said.startswith("the link was cut in mid-task; ") and "of 2,000,000 bytes" in said


def test_a_server_that_is_killed_in_mid_copy(wan: Bench) -> None:
    with after(wan, 100_000, lambda: wan.ground.server.finish_job("smbd")):
        said = reason(wan)
    assert said.startswith("the server smbd ended in mid-task; ")
    # The same hosts serve the next task.
    assert samples(wan.run("files.copy"))["task_time"] > 0


def test_a_wrong_password(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    lan = benches(LAN)
    lan.grounds.given_up.clear()
    wrong_password(monkeypatch)
    said = reason(lan)
    assert said.startswith("the server refused the user's name or password (NT_STATUS_")
    assert said.endswith("; 0 of 2,000,000 bytes had come")


def test_a_wrong_key(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    lan = benches(LAN)
    lan.grounds.given_up.clear()
    right = Sftp.call

    def wrong(self: Sftp, setup: Setup, service: Service) -> Call:
        setup.server.write("authorized_keys", "")
        return right(self, setup, service)

    monkeypatch.setattr(Sftp, "call", wrong)
    said = reason(lan, "sftp")
    assert said.startswith("the server refused the user's key (Permission denied")
    assert said.endswith("; 0 of 2,000,000 bytes had come")


def test_a_full_disk_of_the_client(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    lan = benches(LAN)
    lan.grounds.given_up.clear()
    made = trial.directories

    @contextmanager
    def full(parent: Path) -> Iterator[Path]:
        with made(parent) as place:
            # Writing to it fails as on a full disk (full(4)).
            (place / "into" / DOCUMENT).symlink_to("/dev/full")
            yield place

    monkeypatch.setattr(trial, "directories", full)
    assert reason(lan).startswith("the client's disk is full (")
