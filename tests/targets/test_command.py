"""The kind `command` with real programs: env, a shell, chroot, unshare, nsenter, a container."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol.requests.own_command import OwnCase, OwnCommand
from pentathlon.protocol.requests.session import Request
from pentathlon.targets.command.target import CommandTarget, starting
from pentathlon.targets.session import ProcessSession
from pentathlon.targets.supplies import collect
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, descendants, entry, large, needs_root, request, spin


@dataclass(frozen=True)
class Own(FakeSystem):
    """A system of the kind."""

    target: str = "command"
    command: tuple[str, ...] = ("env", "{agent}")
    copy_command: tuple[str, ...] | None = None
    placed: str | None = None
    agent: str | None = None


def run(system: Own, agent: Path, state: Path, made: Request | None = None) -> list[dict[str, Any]]:
    target = make_target(system, agent, state)
    target.prepare()
    with target.boot(30) as session:
        return documents(session.run(made or spin(), 60, 120))


def sums(events: list[dict[str, Any]]) -> set[str]:
    assert events[-1]["event"] == "done" and events[-1]["errors"] == 0, events[-3:]
    return {e["checksum"] for e in events if e["event"] == "sample"}


@pytest.mark.parametrize(
    "command",
    [
        ("env", "{agent}"),
        ("env", "-i", "{agent}"),
        ("/bin/sh", "-c", "cd / && exec {agent}"),
        # The shell stays between this program and the agent.
        ("/bin/sh", "-c", "echo a banner; {agent}; exit 0"),
        ("setsid", "--wait", "{agent}"),
    ],
)
def test_a_program_starts_the_agent(
    command: tuple[str, ...], real_agent: Path, state: Path
) -> None:
    found = sums(run(Own(command=command), real_agent, state))
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        assert found == sums(documents(session.run(spin(), 60, 120)))


@needs_root
@pytest.mark.parametrize("program", ["unshare", "nsenter", "chroot"])
def test_a_program_of_the_system_starts_it_elsewhere(
    program: str, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    (root / "tmp").mkdir(parents=True)
    shutil.copy(real_agent, root / "agent")
    words = {
        "unshare": ("unshare", "--pid", "--fork", "--mount-proc", "{agent}"),
        "nsenter": ("nsenter", "--target", str(os.getpid()), "--mount", "--net", "{agent}"),
        "chroot": ("chroot", str(root), "{agent}"),
    }[program]
    copy: dict[str, Any] = {}
    if program == "chroot":
        copy = {"copy_command": ("cp", "{agent}", f"{root}/{{placed}}"), "placed": "/tmp/agent"}
    assert sums(run(Own(command=words, **copy), real_agent, state))
    assert list((root / "tmp").iterdir()) == []  # The placed agent and its directory are gone.


@pytest.mark.parametrize("program", ["podman", "docker"])
def test_a_container_that_runs_holds_the_agent(program: str, real_agent: Path, state: Path) -> None:
    """With an image that the user has: none is fetched."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    listed = subprocess.run(
        [program, "images", "--quiet"], capture_output=True, text=True, timeout=60, check=False
    )
    if listed.returncode:
        pytest.skip(f"{program} does not work here: {listed.stderr.strip().splitlines()[-1]}")
    if not listed.stdout.split():
        pytest.skip(f"{program} has no image here")
    image = listed.stdout.split()[0]
    volume = f"{real_agent}:/pentathlon-agent:ro"
    words = (program, "run", "--rm", "-i", "-v", volume, "--entrypoint", "/pentathlon-agent", image)
    # The image's entry point is the agent, whose own words stand behind the image.
    script = f'set -- {{agent}}; shift; exec {" ".join(words)} "$@"'
    assert sums(run(Own(command=("/bin/sh", "-c", script)), real_agent, state))


def test_files_of_a_command_arrive(real_agent: Path, state: Path, tmp_path: Path) -> None:
    program = tmp_path / "work"
    program.write_text("#!/bin/sh\ncat data/text\n")
    program.chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "text").write_text("rate: 42\n")
    target = make_target(Own(command=("env", "-i", "{agent}")), real_agent, state)
    target.supply((collect("my.work", ["work", "data/"], tmp_path),))
    own = OwnCommand(
        files="my.work",
        cases=[OwnCase(command=["./work"])],
        timeout_s=20.0,
        largest_file_bytes=1 << 20,
    )
    made = request("", workloads=[entry("my.work", command=own)])
    with target.boot(30) as session:
        events = documents(session.run(made, 60, 120))
    assert [e["reason"] for e in events if e["event"] == "error"] == []
    executions = [e for e in events if e["event"] == "execution"]
    assert executions and all(e["output"] == "rate: 42\n" for e in executions)


def test_a_scratch_directory_of_the_study_is_used(
    real_agent: Path, state: Path, tmp_path: Path
) -> None:
    place = tmp_path / "there"
    place.mkdir()
    target = make_target(Own(scratch=str(place)), real_agent, state)
    with target.boot(30) as session:
        assert len(list(place.iterdir())) == 1
        sums(documents(session.run(spin(), 60, 120)))
    assert list(place.iterdir()) == []


def test_a_large_request_arrives(real_agent: Path, state: Path) -> None:
    assert run(Own(), real_agent, state, large(20))[-1]["errors"] == 20


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("false", "{agent}"), "`false '{agent}'` does not start the agent: it ended with exit"),
        (("/bin/sh", "-c", "echo no such box >&2; exit 3 # {agent}"), "status 3.*no such box"),
        (("cat", "{agent}"), "does not start the agent"),
        (("echo", "{agent}"), "does not start the agent: it ended with exit status 0"),
        (("sleep", "60", "#{agent}"), "does not start the agent"),
    ],
)
def test_a_program_that_does_not_start_it_says_so(
    command: tuple[str, ...], words: str, real_agent: Path, state: Path
) -> None:
    with pytest.raises(TargetError, match=words):
        make_target(Own(command=command), real_agent, state).boot(20)
    assert not descendants()


def test_a_program_that_waits_for_ever_is_ended(real_agent: Path, state: Path) -> None:
    target = make_target(Own(command=("/bin/sh", "-c", "cat # {agent}")), real_agent, state)
    with pytest.raises(TargetError, match="does not start the agent: the time limit is over"):
        target.boot(0.5)
    assert not descendants()


def test_a_missing_program_is_unavailable(real_agent: Path, state: Path) -> None:
    target = make_target(Own(command=("no-such-program", "{agent}")), real_agent, state)
    with pytest.raises(TargetUnavailable, match="the program no-such-program, which starts"):
        target.prepare()
    target = make_target(Own(command=("/no/such/program", "{agent}")), real_agent, state)
    with pytest.raises(TargetUnavailable, match="/no/such/program"):
        target.prepare()


def test_a_copy_that_fails_says_so(real_agent: Path, state: Path) -> None:
    copy = ("/bin/sh", "-c", "echo no space there >&2; exit 4 # {agent} {placed}")
    with pytest.raises(TargetError, match="ended with 4: no space there"):
        make_target(Own(copy_command=copy), real_agent, state).boot(20)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"command": ("env",)}, "has a command that does not start the agent"),
        ({"command": ()}, "has a command that does not start the agent"),
        ({"placed": "/tmp/x"}, 'has "placed" without a "copy_command"'),
        ({"copy_command": ("cp", "{agent}")}, "has a copy command that does not copy the agent"),
        ({"kernel": "6.1"}, 'has the option "kernel"'),
    ],
)
def test_a_mistake_is_one_sentence(
    changes: dict[str, Any], words: str, real_agent: Path, state: Path
) -> None:
    with pytest.raises(TargetError, match=words):
        make_target(Own(**changes), real_agent, state)


def test_the_agent_stands_for_words_or_in_a_script() -> None:
    agent = ["/a b/agent", "guard", "run"]
    assert starting(["x", "{agent}", "y"], agent) == ["x", *agent, "y"]
    assert starting(["sh", "-c", "exec {agent}"], agent) == [
        "sh", "-c", "exec '/a b/agent' guard run",
    ]  # fmt: skip


def test_the_end_of_the_input_ends_everything_over_there(
    real_agent: Path, state: Path, tmp_path: Path
) -> None:
    """The process between is killed, and the agent has neither its session nor its token."""
    place = tmp_path / "there"
    place.mkdir()
    # As a container's runtime would: the agent is the child of another program.
    script = "import os,sys; r=os.fork(); os.setsid() if not r else os.wait();"
    script += "os.execvpe(sys.argv[1], sys.argv[1:], {}) if not r else None"
    words = (sys.executable, "-I", "-c", script, "{agent}")
    target = make_target(Own(command=words, scratch=str(place)), real_agent, state)
    with target.boot(30) as session:
        assert isinstance(session, ProcessSession)
        made = spin(sample_ms=60_000.0, warmup=0)
        with pytest.raises(TargetError, match="ended by signal 9"):
            for _, event in session.run(made, 60, 120):
                if event["event"] == "progress":
                    processes.kill(session.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while list(place.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(place.iterdir()) == []
    assert not descendants()


def test_it_takes_an_agent_of_another_build(tmp_path: Path, state: Path, scripted: Path) -> None:
    target = make_target(Own(agent=str(scripted)), tmp_path / "no-agent", state)
    assert isinstance(target, CommandTarget)
    target.prepare()
    assert target.agent_path == scripted
