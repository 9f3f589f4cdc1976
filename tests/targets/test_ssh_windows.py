"""A Windows machine over ssh(1): the real client and the real agent, sessions of Wine's cmd.exe."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.procedure import identity
from pentathlon.protocol import agent as agents
from pentathlon.protocol.requests.session import Idle, Record, Settle
from pentathlon.study.boot import Boot, Expect
from pentathlon.study.reach import Ssh
from pentathlon.study.system import System
from pentathlon.targets.ssh.target import SshTarget
from pentathlon.targets.ssh.windows.session import WindowsSession
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, burst, needs_root, spin
from tests.targets.sshd import Sshd
from tests.targets.wine_sshd import WineSshd

BOOT_S = 300.0
"""On a busy machine the copies of the agent alone take a minute."""


@pytest.fixture(scope="module")
def pc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WineSshd]:
    try:
        agent = agents.locate()
    except agents.AgentError as error:
        pytest.skip(str(error))
    made = WineSshd(tmp_path_factory.mktemp("pc") / "sshd", agent)
    made.start()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def nothing_left_there(pc: WineSshd) -> Iterator[None]:
    yield
    assert waited(lambda: not pc.there() and not pc.running("pentathlon-agent"))
    pc.commands.clear()


def waited(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def target(pc: WineSshd, agent: Path, state: Path, **options: Any) -> SshTarget:
    ssh = Ssh(host="pc", config=str(pc.config), **options.pop("ssh", {}))
    made = make_target(FakeSystem(target="ssh", ssh=ssh, **options), agent, state)
    assert isinstance(made, SshTarget)
    return made


def windows(made: SshTarget) -> Any:
    made.prepare()
    assert made._windows is not None
    return made._windows


def test_the_agent_over_there_computes_the_same(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    files = pc.drive / "files of the study"
    files.mkdir(exist_ok=True)
    made = target(
        pc, real_agent, state, scratch="C:/files of the study", cpus=(-1,),
        settings=FakeSettings({"nice": 3}),
    )  # fmt: skip
    made.prepare()
    assert str(made.describe()["kernel"]).startswith("Windows ")
    wanted = spin().model_copy(update={"inventory": True})
    with made.boot(BOOT_S) as session:
        assert isinstance(session, WindowsSession)
        [own] = pc.there()
        assert len(list(files.iterdir())) == 1, "a private directory"
        copied = own / "pentathlon-agent.exe"
        assert copied.read_bytes() == pc.agent.read_bytes()
        there = documents(session.run(wanted, 60, 120))
        session.stop()
        assert session.boot_log == [] or not any("left" in line for line in session.boot_log)
        assert not list(files.iterdir()) and not pc.there()
    with make_target(FakeSystem(), real_agent, state).boot(BOOT_S) as session:
        here = documents(session.run(wanted, 60, 120))
    sums = [{e["checksum"] for e in events if e["event"] == "sample"} for events in (there, here)]
    assert sums[0] == sums[1] and len(sums[0]) == 1
    placed = there[0]["placement"]
    assert placed["cpus"] == [(os.cpu_count() or 1) - 1]
    assert placed["priority_class"] == "below_normal"
    found = identity.of_values({f"kernel.{k}": v for k, v in there[0]["system"]["kernel"].items()})
    assert found.boot_id is not None and found.boot_id.endswith("Z")
    files.rmdir()


def test_the_steps_of_the_published_process_say_what_is_lacking(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    settle = Settle(
        after_boot_s=0.0, quiet_s=0.2, limit_s=5.0, cpu_percent=100.0, disk_kb_per_s=1e9,
        network_packets_per_s=1e9, temperature_c=100.0, frequency_percent=100.0, users=9,
    )  # fmt: skip
    steps = [Record(), Idle(tasks=["process_idle_tasks", "fstrim"]), settle]
    with target(pc, real_agent, state).boot(BOOT_S) as session:
        wanted = spin().model_copy(update={"prepare": steps})
        events = documents(session.run(wanted, 60, 120))
    record, idle, settled = (e for e in events if e["event"] == "step" and e["state"] == "end")
    assert record["outcome"] == "done"
    assert set(record["detail"]) == {"updates", "drivers", "software", "learns_from_use"}
    assert "Component Based Servicing" in record["detail"]["updates"]["unsupported"]
    assert record["detail"]["learns_from_use"] == {
        "value": False, "evidence": ["Wine loads nothing in advance"],
    }  # fmt: skip
    assert idle["detail"] == {
        "process_idle_tasks": "done", "fstrim": {"unsupported": "only Linux has this task"},
    }  # fmt: skip
    assert settled["outcome"] == "settled"
    lacking = json.dumps(settled["detail"])
    assert "idle time does not move under Wine" in lacking


def test_settings_that_wine_lacks_are_unavailable_with_the_reason(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    for values, reason in (
        ({"power_plan": "high_performance"}, "power_plan cannot be set: .*powercfg"),
        ({"core_parking": 100}, "core_parking cannot be set: .*powercfg"),
        ({"defender": "off"}, "does not report the state of Defender"),
    ):
        made = target(pc, real_agent, state, settings=FakeSettings(values))
        with pytest.raises(TargetUnavailable, match=reason):
            made.prepare()


def test_what_was_changed_is_put_back_by_the_guard(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    """Also what a guard left that had no time for it, such as in a power cut."""
    old = pc.temp / "pentathlon-there-0123456789abcdef"
    old.mkdir()
    (old / "lock").touch()
    line = ["cmd.exe", "/c", "mkdir", r"C:\back of an old one"]
    (old / "undo").write_text(json.dumps(line) + "\n")
    made = target(pc, real_agent, state)
    with made.boot(BOOT_S) as session:
        assert isinstance(session, WindowsSession)
        assert not old.exists()
        assert (pc.drive / "back of an old one").is_dir()
        undo = rf"{session.place}\undo"
        session._files.append(undo, json.dumps(["cmd.exe", "/c", "mkdir", r"C:\back"]) + "\n")
        assert not (pc.drive / "back").exists()
    assert (pc.drive / "back").is_dir()
    for name in ("back", "back of an old one"):
        (pc.drive / name).rmdir()


def test_an_agent_that_hangs_is_ended_with_its_job(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    session = target(pc, real_agent, state).boot(BOOT_S)
    with pytest.raises(TargetError, match="no event came for 1 s"):
        documents(session.run(spin(sample_ms=60_000.0, warmup=0), 1.0, 120))
    assert not pc.running("pentathlon-agent") and not pc.there()


def test_a_connection_that_is_cut_says_so_and_leaves_nothing(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    with target(pc, real_agent, state).boot(BOOT_S) as session:
        seen = 0
        with pytest.raises(TargetError, match='before "done"'):
            for _, event in session.run(burst(), 60, 120):
                seen += event["event"] == "sample"
                if seen == 5:
                    pc.cut()
    assert waited(lambda: not pc.there() and not pc.running("pentathlon-agent"))


def test_a_killed_experimenter_leaves_nothing_there(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    code = """
import sys, os, signal
from pathlib import Path
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.study.system import System
from pentathlon.experiments.systems import make_target
config, agent, state = sys.argv[1:]
system = System(name="a", target="ssh", ssh={"host": "pc", "config": config})
session = make_target(system, Path(agent), Path(state)).boot(300)
spin = WorkloadRequest(id="test.spin", iterations=100000, sample_ms=5.0)
for _, event in session.run(Request(session="x", workloads=[spin]), 60, 120):
    if event["event"] == "progress" and event["state"] == "case":
        os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", code, str(pc.config), str(real_agent), str(state)]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert waited(lambda: not pc.there() and not pc.running("pentathlon-agent"))
    # The journal on this side holds the rest; what comes next puts it back.
    make_target(FakeSystem(), real_agent, state).boot(BOOT_S).stop()


def test_words_and_exit_statuses_arrive(pc: WineSshd, real_agent: Path, state: Path) -> None:
    machine = windows(target(pc, real_agent, state))
    assert machine.shell.name == "cmd" and machine.shell.cpus == os.cpu_count()
    place = pc.drive / "a directory (with blanks)"
    place.mkdir()
    copied = place / "agent 1.exe"
    copied.write_bytes(pc.agent.read_bytes())
    path = r"C:\a directory (with blanks)\agent 1.exe"
    assert machine.run([path, "--version"]).startswith("pentathlon-agent ")
    with pytest.raises(TargetError, match=r"ended with 2: .*no verb 'two words'"):
        machine.run([path, "two words"])
    with pytest.raises(TargetError, match="pc: a command ended with"):
        machine.run(["no-such-program.exe"])
    line = machine.shell.line_and_remove([path, "no-verb"], r"C:\a directory (with blanks)")
    command = machine.address.alone(line)
    gone = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert gone.returncode == 1
    assert not place.exists()


def test_a_restart_is_verified_by_the_boot(
    pc: WineSshd, real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = target(pc, real_agent, state, ssh={"reboot": True})
    assert any("restart" in need for need in made.privileges())
    machine = windows(made)
    seen = []
    identified = type(machine).boot_id

    def boot_id(self: Any, agent: str) -> str:
        seen.append(identified(self, agent))
        return seen[-1]

    monkeypatch.setattr(type(machine), "boot_id", boot_id)
    with made.boot(BOOT_S) as session:
        assert seen[0] != seen[-1]
        assert any(one.startswith("shutdown.exe /r") for one in pc.commands)
        assert len(pc.there()) == 1, "the directory of the restart is gone"
        assert documents(session.run(spin(), 60, 120))[-1]["errors"] == 0


def test_a_machine_that_does_not_restart_is_reported(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    made = target(pc, real_agent, state, ssh={"reboot": True, "reboot_command": "exit 7"})
    with pytest.raises(TargetError, match="does not restart"):
        made.boot(BOOT_S)
    made = target(pc, real_agent, state, ssh={"reboot": True, "reboot_command": "ver"})
    with pytest.raises(TargetError, match=r"did not come back .* its boot is still that of"):
        made.boot(8.0)
    # What those left there is removed by the next guard.
    target(pc, real_agent, state).boot(BOOT_S).stop()
    assert not pc.there()


def test_a_damaged_copy_is_found(
    pc: WineSshd, real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pentathlon.targets.ssh.windows.session.sha256", lambda path: "0" * 64)
    with pytest.raises(TargetError, match="did not arrive whole"):
        target(pc, real_agent, state).boot(BOOT_S)


def test_a_host_of_several_has_to_be_a_posix_system(
    pc: WineSshd, real_agent: Path, state: Path
) -> None:
    with pytest.raises(TargetUnavailable, match="is Windows, and a host of a test between hosts"):
        target(pc, real_agent, state).start_endpoint(BOOT_S)


def test_the_report_on_it_is_a_file_that_can_be_sent(
    pc: WineSshd, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    file = tmp_path / "pc.txt"
    words = ["doctor", "--on", f"ssh:pc,config={pc.config}", "--report", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "pentathlon", *words], capture_output=True, text=True, check=False
    )
    text = file.read_text(encoding="utf-8")
    # On a busy machine a workload may not come to its end in time, which is a failure of its part.
    late = re.findall(r"^process\.\w+: timeout: .+$", text, re.M)
    failed = [line for line in text.splitlines() if "failed" in line]
    assert done.returncode == (3 if late else 0), (done.stdout, done.stderr, late, failed)
    for part in ("reach it", "step record", "step idle", "workloads of the area process"):
        assert f"\n== {part}\n" in text
    # What it is, what it did, and what it refused with the reason.
    assert "Win32 API on Linux" in text and "process_idle_tasks" in text
    assert re.search(r"^process\.event: \d+ samples$", text, re.M)
    assert re.search(r"^process\.fork_wait: unsupported: .+$", text, re.M)
    again = subprocess.run(
        [sys.executable, "-m", "pentathlon", *words], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2 and "exists already" in again.stderr


class TwoSystems:
    """One machine with two systems at one address: sshd(8) with a boot id of its own is its Linux,
    the Wine server its Windows. Linux is the default; a file makes the next start Windows, once.
    """

    def __init__(self, directory: Path, pc: WineSshd, monkeypatch: pytest.MonkeyPatch) -> None:
        self.linux, self.pc = Sshd(directory), pc
        self.wanted, self.asked = directory / "next", directory / "restart"
        known = directory / "known_hosts"
        mine = (pc.directory / "host_key.pub").read_text().split()[:2]
        known.write_text(known.read_text() + f"[127.0.0.1]:{self.linux.port} {' '.join(mine)}\n")
        monkeypatch.setattr(pc, "port", self.linux.port)
        monkeypatch.setattr(pc, "public", (directory / "key.pub").read_text().split()[1])
        monkeypatch.setattr(pc, "restart", self.leave_windows)
        self.starts: list[str] = []
        self._numbers = itertools.count(1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def start_linux(self) -> None:
        self.starts.append("linux")
        number = next(self._numbers)
        self.linux.start(boot_id=f"{number:08d}-1111-1111-1111-111111111111")

    def leave_windows(self) -> None:
        time.sleep(0.2)
        self.pc._stop_listening()
        self.pc.cut()
        self.pc.end_wine()
        self.start_linux()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            if not self.asked.exists():
                continue
            self.asked.unlink()
            self.linux.stop()
            if self.wanted.exists():
                self.wanted.unlink()
                self.starts.append("windows")
                self.pc.start()
            else:
                self.start_linux()

    def __enter__(self) -> TwoSystems:
        self.pc._stop_listening()
        self.pc.cut()
        self.pc.end_wine()
        self.start_linux()
        self._thread.start()
        return self

    def __exit__(self, *how: object) -> None:
        self._over.set()
        self._thread.join()
        self.linux.stop()
        self.pc.stop_serving()


@needs_root
def test_windows_and_linux_of_one_machine_are_booted_in_turn(
    pc: WineSshd, real_agent: Path, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TwoSystems(tmp_path / "two", pc, monkeypatch) as machine:
        ssh = Ssh(
            host="bench", config=str(machine.linux.config), reboot_command=f"touch {machine.asked}"
        )

        def system(name: str, command: str, release: str) -> Any:
            boot = Boot(
                method="command", entry=name, command=command, back=f"rm -f {machine.wanted}",
                expect=Expect(release=release),
            )  # fmt: skip
            made = System(name=name, target="ssh", ssh=ssh, boot=boot)
            return make_target(made, real_agent, state)

        windows = system("windows", f"touch {machine.wanted}", "6.1.7601*")
        linux = system("linux", "true", os.uname().release)
        kernels = []
        for one in (windows, linux, windows):
            one.prepare()
            with one.boot(BOOT_S) as session:
                wanted = spin().model_copy(update={"inventory": True})
                events = documents(session.run(wanted, 60, 120))
            assert events[-1]["errors"] == 0
            kernels.append(events[0]["system"]["kernel"]["name"])
        assert kernels == ["Wine", "Linux", "Wine"]
        # A wrong build is no boot of the system.
        other = system("other", f"touch {machine.wanted}", "10.0.19045.*")
        with pytest.raises(TargetError, match=r'expected release "10\.0\.19045\.\*"; found .*6\.1'):
            other.boot(BOOT_S)
        assert machine.starts[-1] == "windows"
        windows.discard()
        assert machine.starts[-1] == "linux", "the machine is left in its default entry"
        assert not machine.wanted.exists()
