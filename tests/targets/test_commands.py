"""Commands of the user's own on real systems: what they find, and every way to fail."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol.requests.own_command import OwnCase, OwnCommand
from pentathlon.protocol.requests.session import Request
from pentathlon.study.reach import Ssh
from pentathlon.targets.contract import Target
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.supplies import collect
from pentathlon.targets.uml import kernels
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, connections_ended, descendants, entry, request
from tests.targets.sshd import Sshd

BOOT_S = 60.0
SIZE = 64 << 20


def command_request(
    *words: str, iterations: int = 1, limit_s: float = 60.0, **fields: Any
) -> Request:
    """A request for one command."""
    around = {key: fields.pop(key) for key in ("prepare", "cleanup") if key in fields}
    case = OwnCase(command=list(words), **around)
    own = OwnCommand(cases=[case], **{"timeout_s": 20.0, "largest_file_bytes": SIZE} | fields)
    entry_of_it = entry("my.x", iterations=iterations, timeout_s=limit_s, command=own)
    return request("", inventory=False, workloads=[entry_of_it])


def served(target: Target, made: Request) -> list[dict[str, Any]]:
    with target.boot(BOOT_S) as session:
        return documents(session.run(made, 120, 240))


def each_served(target: Target, *made: Request) -> list[list[dict[str, Any]]]:
    """The events of each of several commands in one boot."""
    whole = made[0].model_copy(update={"workloads": [one.workloads[0] for one in made]})
    events = served(target, whole)
    return [[one for one in events if one.get("index") == place] for place in range(len(made))]


def executions(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    errors = [event["reason"] for event in events if event["event"] == "error"]
    assert errors == []
    return [event for event in events if event["event"] == "execution"]


def failure(events: list[dict[str, Any]]) -> tuple[str, str]:
    """The one error of a request: its kind and its sentence."""
    [error] = [event for event in events if event["event"] == "error"]
    assert [event for event in events if event["event"] == "execution"] == []
    return error["kind"], error["reason"]


@pytest.fixture
def here(real_agent: Path, state: Path) -> Target:
    return make_target(FakeSystem(), real_agent, state)


@pytest.fixture
def shell(here: Target) -> Callable[..., list[dict[str, Any]]]:
    """Runs a script of the shell on this machine."""

    def run(script: str, **fields: Any) -> list[dict[str, Any]]:
        return served(here, command_request("sh", "-c", script, **fields))

    return run


Shell = Callable[..., list[dict[str, Any]]]


def test_a_run_is_reported_as_it_was(shell: Shell) -> None:
    [one] = executions(shell("echo out; echo err >&2; cat; pwd | wc -l; test $# = 0"))
    assert (one["output"], one["error"], one["status"]) == ("out\n1\n", "err\n", 0)
    assert (one["output_bytes"], one["error_bytes"]) == (6, 4)
    assert one["wall_ns"] > 0 and one["peak_memory_bytes"] > 0
    assert one["counters"]["minor_faults"] > 0 and one["counters"]["cpu_user_ns"] is not None
    assert one["counters"]["instructions"] is None


def test_the_environment_is_the_same_few_variables(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    [one] = executions(shell("env | cut -d= -f1 | sort | tr '\\n' ' '; test $HOME = $TMPDIR"))
    names = {name for name in one["output"].split() if not name.startswith("PENTATHLON_")}
    # The shell adds those of its own.
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"HOME", "LC_ALL", "PATH", "TMPDIR"}


def test_every_run_has_a_fresh_directory_with_the_files(here: Target, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\ncat data/in; ls | tr '\\n' ' '; echo x >new\n")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in").write_text("42\n")
    here.supply((collect("my.x", ["tool", "data/"], tmp_path),))
    runs = executions(served(here, command_request("./tool", files="my.x", iterations=3)))
    assert [one["output"] for one in runs] == ["42\ndata tool "] * 3


def test_a_file_that_changes_while_the_study_runs_is_refused(here: Target, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("1")
    here.supply((collect("my.x", ["tool"], tmp_path),))
    tool.write_text("22")
    with pytest.raises(TargetError, match="was changed while the study runs"):
        here.boot(BOOT_S)


def test_what_surrounds_a_run_happens_around_it(shell: Shell) -> None:
    events = shell(
        "cat made && echo $(cat base)", iterations=2, setup=["sh", "-c", "echo base >base"],
        prepare=["sh", "-c", "echo made >made"], cleanup=["sh", "-c", "test -f made"],
    )  # fmt: skip
    assert [one["output"] for one in executions(events)] == ["made\nbase\n"] * 2


def test_what_a_setup_starts_stays_until_the_last_run(shell: Shell) -> None:
    mark = "77.125"
    setup = ["sh", "-c", f"setsid sleep {mark} & echo $! >server"]
    runs = executions(shell("kill -0 $(cat server) && echo up", setup=setup, iterations=2))
    assert [one["output"] for one in runs] == ["up\n"] * 2
    assert not running(f"sleep\0{mark}")


def running(command: str) -> list[int]:
    found = []
    for member in processes.everyone():
        try:
            line = Path(f"/proc/{member.pid}/cmdline").read_bytes()
        except OSError:
            continue
        if line.rstrip(b"\0") == command.encode():
            found.append(member.pid)
    return found


@pytest.mark.parametrize(
    ("script", "kind", "sentence"),
    [
        ("echo no >&2; exit 3", "failed", "ended with the exit status 3; its last lines: no"),
        ("exit 3", "failed", "it wrote nothing"),
        ("kill -SEGV $$", "failed", "was ended by signal 11 (SIGSEGV)"),
        ("yes", "failed", "wrote more than 16 MiB to its output and was ended"),
        ("yes >&2", "failed", "wrote more than 16 MiB"),
        ("head -c 100M /dev/zero >big", "failed", "exit status|a file of more than 64 MiB"),
        ("exec head -c 100M /dev/zero >big", "failed", "wrote a file of more than 64 MiB"),
        ("setsid sleep 77.25 & exit 0", "failed", "left a process running (sleep)"),
        ("(setsid sleep 77.25 &) >/dev/null 2>&1", "failed", "it has to wait for what it starts"),
        ("nosuchprogram", "failed", "exit status 127; its last lines: sh: 1: nosuchprogram"),
    ],
)
def test_a_command_that_fails_is_one_failure_and_nothing_is_left(
    shell: Shell, script: str, kind: str, sentence: str
) -> None:
    found, reason = failure(shell(script))
    assert found == kind
    assert any(part in reason for part in sentence.split("|")), reason
    assert not running("sleep\x0077.25")


def test_a_command_that_fills_the_disk_is_ended(
    real_agent: Path, state: Path, tmp_path: Path
) -> None:
    """With many files, each of them small, on a disk of its own."""
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32M", "tmpfs", str(small)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        target = make_target(FakeSystem(scratch=str(small)), real_agent, state)
        # Slowly, and never up to the end: what has to end it is the look at the disk.
        script = (
            "for i in 1 2 3 4 5 6 7; do head -c 4200K /dev/zero >f$i; sleep 0.1; done; sleep 77.5"
        )
        kind, reason = failure(served(target, command_request("sh", "-c", script)))
        assert kind == "failed" and "had almost filled the disk of its directory" in reason, reason
        assert not running("sleep\x0077.5")
        assert not list(small.glob("**/f1"))
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize(
    "script", ["sleep 77.5", "setsid sleep 77.5 & sleep 77.5", "exec sleep 77.5"]
)
def test_a_command_that_never_ends_is_ended(shell: Shell, script: str) -> None:
    kind, reason = failure(shell(script, timeout_s=0.3))
    assert kind == "timeout" and "took longer than its 0.3 s and was ended" in reason
    assert not running("sleep\x0077.5")


def test_a_command_that_asks_reads_nothing(shell: Shell) -> None:
    assert "exit status 1" in failure(shell("read answer"))[1]


def test_what_a_command_writes_is_shown_and_not_obeyed(shell: Shell) -> None:
    _, reason = failure(shell(r"printf '\033[31m<b>=1+1\a\n'; exit 1"))
    assert reason.endswith(r"its last lines: \u{1b}[31m<b>=1+1\u{7}")


def test_another_exit_status_may_be_a_value(shell: Shell) -> None:
    [one] = executions(shell("exit 3", any_status=True))
    assert one["status"] == 3


def test_a_failed_preparation_is_named(shell: Shell) -> None:
    for what in ("setup", "prepare", "cleanup"):
        kind, reason = failure_of_any(shell("true", **{what: ["sh", "-c", "exit 9"]}))
        assert kind == "failed" and what in reason and "exit status 9" in reason


def failure_of_any(events: list[dict[str, Any]]) -> tuple[str, str]:
    [error] = [event for event in events if event["event"] == "error"]
    return error["kind"], error["reason"]


FOREIGN = (
    bytes.fromhex("7f454c4602010100") + bytes(8) + bytes.fromhex("0200b70001000000") + bytes(40)
)
"""The header of an ELF program for aarch64 (elf(5))."""


@pytest.mark.parametrize(
    ("content", "mode", "sentence"),
    [
        (None, 0, 'the program "./tool" is missing'),
        (b"#!/bin/sh\n", 0o644, "it is not executable"),
        (FOREIGN, 0o755, "it is a program for aarch64, and this system runs on x86_64"),
        (b"MZ\0\0", 0o755, "it is a program for Windows"),
        (b"\1\2\3\4", 0o755, "it is no program of this system"),
        (b"#!/nowhere/python9\n", 0o755, "what it starts with, /nowhere/python9, is missing"),
        (
            b"#!/bin/sh\necho './tool: error while loading shared libraries: libfoo.so.1: cannot"
            b" open shared object file' >&2\nexit 127\n",
            0o755,
            "the library libfoo.so.1 is missing",
        ),
        (
            b"#!/bin/sh\necho 'postgres is missing on this system' >&2\nexit 127\n",
            0o755,
            'the program "postgres" is missing on this system',
        ),
    ],
)
def test_what_a_system_cannot_run_is_unsupported_with_the_reason(
    here: Target, tmp_path: Path, content: bytes | None, mode: int, sentence: str
) -> None:
    names = []
    if content is not None:
        (tmp_path / "tool").write_bytes(content)
        (tmp_path / "tool").chmod(mode)
        names = ["tool"]
    here.supply((collect("my.x", names, tmp_path),))
    fields = {"files": "my.x"} if names else {}
    kind, reason = failure(served(here, command_request("./tool", **fields)))
    assert kind == "unsupported" and sentence in reason, reason


def test_the_whole_of_a_workload_that_is_cut_off_is_ended(here: Target) -> None:
    made = command_request("sh", "-c", "setsid sleep 77.75 & sleep 77.75", limit_s=0.5)
    kind, _ = failure(served(here, made))
    assert kind == "timeout"
    assert not running("sleep\x0077.75")


UML = kernels.available()
QEMU = "6.12-cloud"


def guests() -> Iterator[Any]:
    """A system of each kind of guest, without and with the user land of this machine."""
    for kind, kernel in (
        ("uml", str(UML[-1].path) if UML else None),
        ("gvisor", None),
        ("qemu", QEMU),
    ):
        for userland in (None, "host"):
            yield pytest.param(kind, kernel, userland, id=f"{kind}-{userland}")


@pytest.mark.parametrize(("kind", "kernel", "userland"), list(guests()))
def test_a_guest_runs_a_command_with_its_files(  # noqa: PLR0917
    real_agent: Path,
    state: Path,
    tmp_path: Path,
    kind: str,
    kernel: str | None,
    userland: str | None,
) -> None:
    if kind != "gvisor" and kernel is None:
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    if kind == "gvisor":
        try:
            runsc.find()
        except TargetUnavailable as error:
            pytest.skip(error.reason)
    system = FakeSystem(target=kind, kernel=kernel)
    object.__setattr__(system, "userland", userland)
    made = make_target(system, real_agent, state)
    try:
        made.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    # The agent itself is a static program, which needs nothing else.
    (tmp_path / "tool").write_bytes(real_agent.read_bytes())
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "data").write_text("42\n")
    made.supply((collect("my.x", ["tool", "data"], tmp_path),))
    script = "cat data; touch data 2>/dev/null || echo kept; echo x >$TMPDIR/y && cat $TMPDIR/y"
    version, events = each_served(
        made,
        command_request("./tool", "--version", files="my.x"),
        command_request("sh", "-c", f"{script}; touch /usr/x; exit 0", files="my.x"),
    )
    [one] = executions(version)
    assert one["output"].startswith("pentathlon-agent ")
    if userland is None:
        assert failure(events)[0] == "unsupported"
    else:
        [one] = executions(events)
        assert one["output"].startswith("42\n") and one["output"].endswith("x\n")
        assert (tmp_path / "data").read_text() == "42\n"
        assert not Path("/usr/x").exists()


def test_another_machine_gets_the_files_and_keeps_none(
    real_agent: Path, state: Path, tmp_path: Path
) -> None:
    server = Sshd(tmp_path / "sshd")
    before = descendants()
    server.start()
    try:
        system = FakeSystem(target="ssh", ssh=Ssh(host="bench", config=str(server.config)))
        made = make_target(system, real_agent, state)
        made.prepare()
        (tmp_path / "a tool").write_text("#!/bin/sh\ncat sub/data\n")
        (tmp_path / "a tool").chmod(0o755)
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "data").write_text("42\n")
        made.supply((collect("my.x", ["a tool", "sub"], tmp_path),))
        [one] = executions(served(made, command_request("./a tool", files="my.x")))
        assert one["output"] == "42\n"
        deadline = time.monotonic() + 10
        while (
            list(Path("/tmp").glob("pentathlon-there-*/supplied")) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        assert not list(Path("/tmp").glob("pentathlon-there-*/supplied"))
    finally:
        server.stop()
        connections_ended(before)
