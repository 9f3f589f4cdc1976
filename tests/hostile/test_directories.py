"""Directories whose names have bytes that a file may have and little else expects."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from pentathlon.experiments.file_services import samba
from pentathlon.experiments.file_services.behaviours import behaviour
from pentathlon.experiments.file_services.service import FileService
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.targets.uml import kernels
from pentathlon.testbed.trial import Task
from tests.experiments.traffic.conftest import System
from tests.fakes.messages import documents

BLANKS = {b"a b", b"a\nb", b'a"b'}


@pytest.fixture(params=[b"a b", b"a\nb", b"caf\xe9", b"a,b=c:'$d", b'a"b', b"x" * 200])
def temporary(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> bytes:
    """The name of a directory that $TMPDIR names."""
    name: bytes = request.param
    path = tmp_path / os.fsdecode(name)
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return name


def located() -> Path:
    try:
        return agent.locate()
    except agent.AgentError as error:
        pytest.skip(str(error))


def request() -> Request:
    return Request(session="5f0c", seed=1, workloads=[])


def test_the_machine_itself_works_below_any_utf8_directory(
    temporary: bytes, tmp_path: Path
) -> None:
    target = make_target(System(), located(), tmp_path / "state")
    if temporary == b"caf\xe9":
        with pytest.raises(TargetUnavailable, match=r"caf.* is no UTF-8; set TMPDIR to another"):
            target.prepare()
        return
    target.prepare()
    session = target.boot(30.0)
    try:
        events = documents(session.run(request(), 30.0, 30.0))
    finally:
        session.stop()
    assert events[-1]["event"] == "done"
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


def test_user_mode_linux_refuses_blanks_and_takes_the_rest(
    temporary: bytes, tmp_path: Path
) -> None:
    if not kernels.available():
        pytest.skip("no kernel of user-mode Linux")
    target = make_target(System(target="uml", kernel="newest"), located(), tmp_path / "state")
    if temporary in BLANKS:
        with pytest.raises(
            TargetUnavailable, match="has blanks or quotes, which the command line of"
        ):
            target.prepare()
        return
    session = target.boot(60.0)
    try:
        events = documents(session.run(request(), 60.0, 60.0))
    finally:
        session.stop()
    assert events[-1]["event"] == "done"


def test_file_servers_refuse_blanks_and_quotes(temporary: bytes, tmp_path: Path) -> None:
    own = behaviour("own")
    made: list[Path] = []

    def make(link: str, timeout_s: float, scratch: Path) -> Testbed:
        made.append(scratch)
        raise TargetError("no ground is needed here")

    boot = FileService(make, (own, own), tmp_path / "state").boot(1.0)
    entry = WorkloadRequest(id="files.copy", parameters={"links": ["lan"]})
    work = Task(0, 1, "0" * 16, 7, entry)
    if temporary in BLANKS:
        [event] = documents(boot.run(work))
        assert (event["event"], event["kind"]) == ("error", "unsupported")
        assert "has blanks or quotes, which the configurations of file servers" in event["reason"]
        assert made == []
        return
    try:
        boot.testbed("lan")
    except TargetError:
        assert len(made) == 1
    finally:
        boot.stop()


def test_sockets_of_a_samba_server_need_short_paths() -> None:
    samba.check_length(Path("/" + "x" * (106 - len("/lock/msg.sock/4194304"))))
    with pytest.raises(TargetUnavailable, match=r"paths of 108 bytes.*set TMPDIR to a shorter"):
        samba.check_length(Path("/" + "x" * (107 - len("/lock/msg.sock/4194304"))))
