"""Another machine over ssh(1): a real server, the real client, the scripted and the real agent."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.doctor.quiet import disturbances
from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.claims import Busy
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.study.reach import Ssh
from pentathlon.targets.ssh.target import SshTarget
from tests.fakes.messages import documents
from tests.targets.conftest import (
    END_S,
    RUN,
    FakeSettings,
    FakeSystem,
    burst,
    connections_ended,
    descendants,
    needs_root,
    spin,
)
from tests.targets.sshd import Sshd, free_port

BOOT_S = 20.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    made = Sshd(tmp_path / "sshd")
    # Other tests have sessions on this machine too, which would be seen in one directory for all.
    there(made).mkdir()
    made.set_variables(TMPDIR=str(there(made)))
    before = descendants()
    made.start()
    yield made
    deadline = time.monotonic() + 10
    while left_there(made) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left_there(made)
    made.stop()
    connections_ended(before)


def there(server: Sshd) -> Path:
    """The machine "over there" is this one, so what is left there can be seen."""
    return server.directory.parent / "there"


def left_there(server: Sshd) -> set[Path]:
    return set(there(server).glob("pentathlon-there-*"))


def target(server: Sshd, agent: Path, state: Path, **options: Any) -> SshTarget:
    ssh = Ssh(host="bench", config=str(server.config), **options.pop("ssh", {}))
    made = make_target(FakeSystem(target="ssh", ssh=ssh, **options), agent, state)
    assert isinstance(made, SshTarget)
    return made


def test_the_agent_over_there_computes_the_same(
    server: Sshd, real_agent: Path, state: Path
) -> None:
    def serve(made: Any) -> list[dict[str, Any]]:
        with made.boot(BOOT_S) as session:
            return documents(session.run(spin().model_copy(update={"inventory": True}), 60, 120))

    made = target(server, real_agent, state, cpus=(-1,), settings=FakeSettings({"nice": 3}))
    made.prepare()
    assert made.describe()["kernel"] == os.uname().release
    there = serve(made)
    here = serve(make_target(FakeSystem(), real_agent, state))
    sums = [{e["checksum"] for e in events if e["event"] == "sample"} for events in (there, here)]
    assert sums[0] == sums[1] and len(sums[0]) == 1
    placed = next(e for e in there if e["event"] == "inventory")["placement"]
    assert placed["nice"] == 3
    assert placed["cpus"] == [(os.cpu_count() or 1) - 1]


def test_files_go_to_a_private_directory_that_is_removed(
    server: Sshd, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    base = tmp_path / "files of the study"
    base.mkdir()
    made = target(server, real_agent, state, scratch=str(base))
    with made.boot(BOOT_S) as session:
        [scratch] = base.iterdir()
        assert scratch.stat().st_mode & 0o777 == 0o700
        [own] = left_there(server)
        copy = own / "pentathlon-agent"
        assert hashlib.sha256(copy.read_bytes()).digest() == (
            hashlib.sha256(real_agent.read_bytes()).digest()
        )
        assert own.stat().st_mode & 0o777 == 0o700
        session.stop()
        assert not list(base.iterdir())
        assert not left_there(server)


def test_an_agent_that_hangs_over_there_is_ended(
    server: Sshd, real_agent: Path, state: Path
) -> None:
    made = target(server, real_agent, state)
    session = made.boot(BOOT_S)
    mark = f"PENTATHLON_THERE={session._connection.token}".encode()  # type: ignore[attr-defined]
    with pytest.raises(TargetError, match="no event came for 1 s"):
        documents(session.run(spin(sample_ms=60_000.0, warmup=0), 1.0, 120))
    assert not [m for m in processes.everyone() if processes._has(m.pid, mark)]


def test_a_connection_that_breaks_says_so(server: Sshd, real_agent: Path, state: Path) -> None:
    with target(server, real_agent, state).boot(BOOT_S) as session:
        seen = 0
        with pytest.raises(TargetError, match='before "done"'):
            for _, event in session.run(burst(), 60, 120):
                seen += event["event"] == "sample"
                if seen == 5:
                    # The server's process of this connection is the guard's ancestor.
                    for pid in connections(server.pid):
                        processes.kill(pid)


def connections(server: int) -> list[int]:
    found = []
    for member in processes.everyone():
        status = Path(f"/proc/{member.pid}/status")
        try:
            text = status.read_text()
        except OSError:
            continue
        if f"PPid:\t{server}\n" in text:
            found.append(member.pid)
    return found


def test_a_killed_experimenter_leaves_nothing_over_there(
    server: Sshd, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    # Not even a connection that the user's configuration would keep in the background.
    text = server.config.read_text()
    server.config.write_text(f"{text}    ControlMaster auto\n    ControlPersist yes\n")
    code = """
import sys, os, signal
from pathlib import Path
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.study.system import System
from pentathlon.experiments.systems import make_target
config, agent, state = sys.argv[1:]
system = System(name="a", target="ssh", ssh={"host": "bench", "config": config})
session = make_target(system, Path(agent), Path(state)).boot(20)
spin = WorkloadRequest(id="test.spin", iterations=100000, sample_ms=5.0)
for _, event in session.run(Request(session="x", workloads=[spin]), 60, 120):
    if event["event"] == "progress" and event["state"] == "case":
        os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", code, str(server.config), str(real_agent), str(state)]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    deadline = time.monotonic() + 10
    while (left_there(server) or connections(server.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left_there(server)
    assert not connections(server.pid)
    # The journal on this side holds the rest; the next session puts it back.
    with target(server, real_agent, state).boot(BOOT_S):
        pass


def clients() -> set[int]:
    """The clients ssh(1) that this test has started."""
    found = set()
    for pid in descendants():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").readlink().name == "ssh":
                found.add(pid)
    return found


def clients_ended() -> bool:
    """Whether they are gone, where they need a moment for it."""
    deadline = time.monotonic() + END_S
    while clients() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not clients()


def test_a_question_dies_with_the_experimenter(server: Sshd, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    code = """
import sys
from pentathlon.targets.ssh.client import Address
Address("bench", config=sys.argv[1]).ask(f"echo $$ >{sys.argv[2]}; exec sleep 600", 600.0)
"""
    command = [sys.executable, "-c", code, str(server.config), str(asked)]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + BOOT_S
        while not (asked.exists() and asked.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert clients()
        process.kill()
    try:
        assert clients_ended()
    finally:
        # What it asked for is nothing that the machine over there would end by itself.
        processes.kill(int(asked.read_text()))


def test_what_a_power_cut_left_is_removed_by_the_next_session(
    server: Sshd, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    old = there(server) / "pentathlon-there-0123456789abcdef"
    files = tmp_path / "pentathlon-old-files"
    old.mkdir()
    files.mkdir()
    (old / "lock").write_text("")
    (old / "guard").write_text("1 00000000-another-boot\n")
    (old / "scratch").write_text(str(files))
    with target(server, real_agent, state).boot(BOOT_S):
        assert not old.exists()
        assert not files.exists()


@needs_root
def test_a_reboot_is_waited_for(server: Sshd, real_agent: Path, state: Path) -> None:
    """The server with its own boot id is stopped and started anew, as a machine would be."""
    server.stop()
    server.start(boot_id="11111111-1111-1111-1111-111111111111")
    ssh = {"reboot": True, "reboot_command": f"touch {server.directory}/restart"}
    made = target(server, real_agent, state, ssh=ssh)
    made.prepare()
    assert any("restart" in need for need in made.privileges())
    stop = threading.Event()

    def machine() -> None:
        while not stop.is_set():
            if (server.directory / "restart").exists():
                (server.directory / "restart").unlink()
                server.stop()
                time.sleep(1.0)
                server.start(boot_id="22222222-2222-2222-2222-222222222222")
                return
            time.sleep(0.02)

    thread = threading.Thread(target=machine)
    thread.start()
    try:
        with made.boot(BOOT_S) as session:
            assert session.boot_seconds > 1.0
            assert documents(session.run(spin(), 60, 120))[-1]["errors"] == 0
    finally:
        stop.set()
        thread.join()


def test_a_machine_that_does_not_come_back_is_said(
    server: Sshd, real_agent: Path, state: Path
) -> None:
    made = target(server, real_agent, state, ssh={"reboot": True, "reboot_command": "true"})
    with pytest.raises(TargetError, match=r"did not come back .* its boot id is still"):
        made.boot(2.0)
    made = target(server, real_agent, state, ssh={"reboot": True, "reboot_command": "exit 7"})
    with pytest.raises(TargetError, match="does not restart"):
        made.boot(2.0)


def test_the_graphics_program_goes_along(
    server: Sshd, real_agent: Path, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PENTATHLON_GRAPHICS", raising=False)
    agent = Path(shutil.copy(real_agent, tmp_path / "pentathlon-agent"))
    with target(server, agent, state).boot(BOOT_S):
        (own,) = left_there(server)
        assert not (own / "pentathlon-graphics").exists()
    program = tmp_path / "pentathlon-graphics"
    program.write_text("#!/bin/sh\n")
    with target(server, agent, state).boot(BOOT_S):
        (own,) = left_there(server)
        copied = own / "pentathlon-graphics"
        assert copied.read_text() == "#!/bin/sh\n" and os.access(copied, os.X_OK)


def test_a_damaged_copy_is_found(
    server: Sshd, real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pentathlon.targets.ssh.connection.sha256", lambda path: "0" * 64)
    with pytest.raises(TargetError, match="did not arrive whole"):
        target(server, real_agent, state).boot(BOOT_S)


def test_a_machine_that_cannot_be_reached(server: Sshd, real_agent: Path, state: Path) -> None:
    made = target(server, real_agent, state, ssh={"port": free_port()})
    with pytest.raises(TargetUnavailable, match=r"with ssh: .*refused") as caught:
        made.prepare()
    assert caught.value.remedy is not None and caught.value.remedy.startswith("ssh -F ")
    assert made.describe()["kernel"] == "(not reached)"


def test_a_login_that_is_refused(server: Sshd, real_agent: Path, state: Path) -> None:
    (server.directory / "authorized_keys").write_text("")
    with pytest.raises(TargetUnavailable, match="Permission denied"):
        target(server, real_agent, state).prepare()


def test_a_changed_host_key_is_refused(server: Sshd, real_agent: Path, state: Path) -> None:
    known = server.directory / "known_hosts"
    known.write_text(known.read_text()[:30] + known.read_text()[30:].replace("A", "B"))
    with pytest.raises(TargetUnavailable, match=r"Host key verification failed|cannot be reached"):
        target(server, real_agent, state).prepare()


def test_a_cpu_that_is_not_there(server: Sshd, real_agent: Path, state: Path) -> None:
    with pytest.raises(TargetUnavailable, match="CPU 4096 is not on bench"):
        target(server, real_agent, state, cpus=(4096,)).prepare()


def test_a_run_of_another_machine_is_not_joined(
    tmp_path: Path, real_agent: Path, state: Path
) -> None:
    server = Sshd(tmp_path / "sshd")
    server.set_variables(TMPDIR=str(tmp_path))
    other = tmp_path / "pentathlon-there-fedcba9876543210"
    other.mkdir()
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text()
    (other / "guard").write_text(f"{os.getpid()} {boot_id}")
    (other / "owner").write_text("another-machine alice on office\n")
    held = (other / "lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)  # As its guard holds it.
    server.start()
    try:
        made = target(server, real_agent, state)
        made.prepare()
        with pytest.raises(Busy, match=r"^bench is taken by a run of alice on office; wait"):
            made.copy_proc(state)
        with pytest.raises(TargetError, match=r"^bench is taken by a run of alice on office"):
            made.boot(BOOT_S)
        # A run of this machine takes its turn by the locks here.
        (other / "owner").write_text(f"{boot_id.strip()} alice on office\n")
        made.boot(BOOT_S).stop()
        # What a guard left that has ended takes nothing.
        (other / "owner").write_text("another-machine alice on office\n")
        (other / "guard").write_text(f"{os.getpid()} another-boot\n")
        held.close()
        made.boot(BOOT_S).stop()
        assert not other.exists()
    finally:
        held.close()
        server.stop()


def test_the_load_of_the_other_machine_is_read_there(
    server: Sshd, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    made = target(server, real_agent, state)
    made.prepare()
    assert made.copy_proc(tmp_path)
    assert (tmp_path / "proc/loadavg").read_text().count(".") == 3
    assert (tmp_path / "proc/stat").read_text().startswith("cpu ")
    comm = Path(f"/proc/{os.getpid()}/comm").read_text()
    assert (tmp_path / f"proc/{os.getpid()}/comm").read_text() == comm
    assert isinstance(disturbances(tmp_path, lambda _: None), list)


def test_wrong_options_are_one_sentence(tmp_path: Path, state: Path) -> None:
    with pytest.raises(TargetError, match="names no machine; add ssh"):
        make_target(FakeSystem(target="ssh"), tmp_path, state)
    ssh = Ssh(host="bench")
    with pytest.raises(TargetError, match='the option "kernel", which the target "ssh" does not'):
        make_target(FakeSystem(target="ssh", ssh=ssh, kernel="6.1"), tmp_path, state)


def test_marks_of_this_test_run_reach_no_further(server: Sshd, real_agent: Path) -> None:
    """The environment of this side stays here: the agent over there has its own."""
    made = target(server, real_agent, Path("/nowhere"))
    assert RUN not in made.address.ask("env")
