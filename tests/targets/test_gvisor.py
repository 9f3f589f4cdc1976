"""gVisor with the real agent; skipped where runsc is missing or does not work."""

import os
import signal
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.session import ProcessSession
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, descendants, large, spin


@pytest.fixture(scope="module")
def program() -> runsc.Runsc:
    try:
        found = runsc.find()
        runsc.trial(found)
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    return found


def test_the_agent_serves_a_request(program: runsc.Runsc, real_agent: Path, state: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    target = make_target(FakeSystem(target="gvisor", cpus=(cpu,)), real_agent, state)
    target.prepare()
    assert program.version in target.describe()["kernel"]
    with target.boot(30) as session:
        events = documents(session.run(spin().model_copy(update={"inventory": True}), 60, 120))
    assert events[-1]["errors"] == 0
    assert "4.4.0" in str(next(e for e in events if e["event"] == "inventory"))
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        host = documents(session.run(spin(), 60, 120))
    sums = [{e["checksum"] for e in some if e["event"] == "sample"} for some in (events, host)]
    assert sums[0] == sums[1]
    assert len(sums[0]) == 1


@pytest.mark.usefixtures("program")
def test_a_large_request_reaches_the_sandbox(real_agent: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="gvisor"), real_agent, state)
    with target.boot(30) as session:
        events = documents(session.run(large(20), 60, 120))
    assert events[-1]["errors"] == 20


@pytest.mark.usefixtures("program")
def test_a_sandbox_that_hangs_is_ended(real_agent: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="gvisor"), real_agent, state)
    with target.boot(30) as session, pytest.raises(TargetError, match="no event came for 2 s"):
        documents(session.run(spin(sample_ms=60_000.0, warmup=0), 2.0, 120))
    assert not descendants()


@pytest.mark.usefixtures("program")
def test_a_sandbox_that_is_killed_says_so(real_agent: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="gvisor"), real_agent, state)
    with target.boot(30) as session:
        assert isinstance(session, ProcessSession)
        with pytest.raises(TargetError, match="ended by signal 9"):
            for _, event in session.run(spin(sample_ms=60_000.0), 60, 120):
                if event["event"] == "progress":
                    processes.kill(session.pid, signal.SIGKILL)
    assert not descendants()


def test_a_missing_program_names_the_command(
    tmp_path: Path, state: Path, real_agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(runsc, "on_path", lambda program: None)
    target = make_target(FakeSystem(target="gvisor"), real_agent, state)
    assert target.describe()["kernel"] == "gVisor (not on this machine)"
    with pytest.raises(TargetUnavailable) as caught:
        target.prepare()
    assert caught.value.remedy == "pentathlon doctor --install"


def test_options_of_other_targets_are_refused(tmp_path: Path, state: Path) -> None:
    with pytest.raises(TargetError, match='has the option "kernel"'):
        make_target(FakeSystem(target="gvisor", kernel="6.1"), tmp_path, state)
    with pytest.raises(TargetError, match='names the target "vax", which does not exist'):
        make_target(FakeSystem(target="vax"), tmp_path, state)
