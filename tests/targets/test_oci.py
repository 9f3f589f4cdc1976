"""Containers by runc and crun with the real agent; skipped where these do not work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import leftovers, restore_leftovers
from pentathlon.study.system import System
from pentathlon.targets import registry
from pentathlon.targets.oci import bundle, runtime, seccomp
from pentathlon.targets.oci.doctor import OciDoctor
from pentathlon.targets.oci.target import OciTarget, groups
from pentathlon.targets.session import ProcessSession
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, descendants, large, needs_root, spin
from tests.targets.test_commands import command_request, executions, served


@dataclass(frozen=True)
class Container(FakeSystem):
    """A system of the kind."""

    target: str = "oci"
    container: Any = None
    userland: str | None = None


def made(agent: Path, state: Path, system: Container) -> OciTarget:
    target = make_target(system, agent, state)
    assert isinstance(target, OciTarget)
    try:
        target.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    return target


@pytest.fixture(params=runtime.NAMES)
def program(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if runtime.installed(request.param) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(autouse=True)
def no_group_left() -> Iterator[None]:
    """No control group of a container is left; those of tests beside this one are not looked at."""
    known: list[str] = []
    before = OciTarget._start

    def start(self: OciTarget, *given: Any) -> Any:
        session = before(self, *given)
        known.append(session._journal.token)
        return session

    OciTarget._start = start  # type: ignore[method-assign]
    yield
    OciTarget._start = before  # type: ignore[method-assign]
    assert [
        group for token in known for group in groups(f"pentathlon-{token}") if group.exists()
    ] == []


def test_the_agent_serves_a_request(program: str, real_agent: Path, state: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    target = made(real_agent, state, Container(container={"runtime": program}, cpus=(cpu,)))
    described = target.describe()
    assert described["options"]["runtime"]["name"] == program
    with target.boot(30) as session:
        events = documents(session.run(spin().model_copy(update={"inventory": True}), 60, 120))
    assert events[-1]["errors"] == 0
    assert "pentathlon" in str(next(e for e in events if e["event"] == "inventory"))
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        host = documents(session.run(spin(), 60, 120))
    sums = [{e["checksum"] for e in some if e["event"] == "sample"} for some in (events, host)]
    assert sums[0] == sums[1] and len(sums[0]) == 1


def test_a_large_request_reaches_it(program: str, real_agent: Path, state: Path) -> None:
    target = made(real_agent, state, Container(container={"runtime": program}))
    with target.boot(30) as session:
        assert documents(session.run(large(20), 60, 120))[-1]["errors"] == 20


STATUS = """
grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status
echo pids $(ls -d /proc/[0-9]* | wc -l)
ls /sys/class/net
echo x >/new && echo wrote
hostname
"""


def test_a_command_finds_the_machines_user_land_and_none_of_its_processes(
    program: str, real_agent: Path, state: Path
) -> None:
    land = Container(container={"runtime": program}, userland="host")
    target = made(real_agent, state, land)
    [one] = executions(served(target, command_request("sh", "-c", STATUS)))
    lines = one["output"].splitlines()
    assert "Seccomp:\t0" in lines and "NoNewPrivs:\t1" in lines
    assert "CapEff:\t00000000a80425fb" in lines  # What docker states of its containers.
    assert lines[-3:] == ["lo", "wrote", "pentathlon"], lines
    assert int(next(line for line in lines if line.startswith("pids")).split()[1]) < 12
    assert not Path("/new").exists()


def test_settings_hold(program: str, real_agent: Path, state: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    rules = [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}]
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))
    settings = {
        "runtime": program, "cpu_percent": 50.0, "memory": "256M", "pids": 64, "network": "host",
    }  # fmt: skip
    target = made(real_agent, state, Container(container=settings, userland="host"))
    with target.boot(30) as session:
        assert isinstance(session, ProcessSession)
        place = [one for one in groups(f"pentathlon-{session._journal.token}") if one.is_dir()]
        read = {
            file.name: file.read_text().strip()
            for one in place
            for name in (
                "cpu.cfs_quota_us", "cpu.max", "memory.limit_in_bytes", "memory.max", "pids.max",
            )
            if (file := one / name).exists()
        }  # fmt: skip
        made_of = command_request("sh", "-c", "ls /sys/class/net; grep Seccomp: /proc/self/status")
        [one] = executions(documents(session.run(made_of, 60, 120)))
    assert read.get("cpu.cfs_quota_us", "50000") == "50000"
    assert read.get("cpu.max", "50000 100000") == "50000 100000"
    assert {read.get("memory.limit_in_bytes"), read.get("memory.max")} >= {str(256 << 20)}
    assert read["pids.max"] == "64"
    assert set(one["output"].split()) >= {
        "lo",
        *(one.name for one in Path("/sys/class/net").iterdir()),
    }
    filtered = Container(container={"runtime": program, "seccomp": str(profile)}, userland="host")
    script = "grep Seccomp: /proc/self/status; mkdir /tmp/x 2>&1 | sed 's/.*: //'"
    # The agent itself makes directories, which is what this profile forbids.
    with pytest.raises(TargetUnavailable, match="no directory can be made"):
        make_target(filtered, real_agent, state).prepare()
    rules[0]["names"] = ["chroot"]
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))
    [one] = executions(
        served(made(real_agent, state, filtered), command_request("sh", "-c", script))
    )
    assert "Seccomp:\t2" in one["output"]


@needs_root
def test_a_profile_of_podman_becomes_one_of_a_runtime(tmp_path: Path) -> None:
    path = tmp_path / "seccomp.json"
    document: dict[str, Any] = {
        "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
        ],
        "syscalls": [
            {"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {}, "excludes": {}},
            {"names": ["chroot"], "action": "SCMP_ACT_ALLOW",
             "includes": {"caps": ["CAP_SYS_CHROOT"]}},
            {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_BPF"]}},
            {"names": ["clone"], "action": "SCMP_ACT_ALLOW",
             "excludes": {"caps": ["CAP_SYS_ADMIN"]},
             "args": [{"index": 0, "value": 1, "valueTwo": None, "op": "SCMP_CMP_EQ"}]},
            {"names": ["s390"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["s390x"]}},
        ],
    }  # fmt: skip
    path.write_text(json.dumps(document))
    found = seccomp.profile(str(path), bundle.CAPABILITIES)
    assert found is not None
    assert [rule["names"] for rule in found["syscalls"]] == [["read"], ["chroot"], ["clone"]]
    assert found["syscalls"][2]["args"] == [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]
    assert len(found["architectures"]) == 2 and found["defaultErrnoRet"] == 38
    assert seccomp.profile("off", ()) is None
    for text in ("[]", "{", '{"syscalls": [3]}'):
        path.write_text(text)
        with pytest.raises(TargetUnavailable, match="no seccomp profile"):
            seccomp.profile(str(path), ())
    with pytest.raises(TargetUnavailable, match="cannot be read"):
        seccomp.profile("/no/such.json", ())


@pytest.mark.parametrize("victim", ["runtime", "agent"])
def test_whatever_is_killed_nothing_is_left(
    program: str, victim: str, real_agent: Path, state: Path
) -> None:
    target = made(real_agent, state, Container(container={"runtime": program}))
    with target.boot(30) as session:
        assert isinstance(session, ProcessSession)
        token = session._journal.token
        asked = spin(sample_ms=60_000.0, warmup=0, timeout_s=300)
        with pytest.raises(TargetError, match=r"ended by signal 9|ended with exit status"):
            for _, event in session.run(asked, 60, 120):
                if event["event"] == "progress":
                    inside = set(marked(token)) - {session.pid}
                    for pid in [session.pid] if victim == "runtime" else inside:
                        processes.kill(pid)
    assert marked(token) == [] and not descendants()
    assert not [one for one in groups(f"pentathlon-{token}") if one.exists()]


def marked(token: str) -> list[int]:
    """Living processes that have the session's token, in containers too."""
    mark = f"{processes.TOKEN}={token}".encode()
    return [
        one.pid
        for one in processes.everyone()
        if one.state not in "ZX" and processes._has(one.pid, mark)
    ]


RUN = """
import sys
from pathlib import Path
from tests.targets.conftest import spin
from tests.targets.test_oci import Container
from pentathlon.experiments.systems import make_target
program, agent, state = sys.argv[1:]
system = Container(container={"runtime": program}, userland="host")
session = make_target(system, Path(agent), Path(state)).boot(60)
for _, event in session.run(spin(sample_ms=60_000.0, warmup=0, timeout_s=300), 300, 300):
    if event["event"] == "progress":
        print(session._journal.token, flush=True)
"""


def test_a_killed_experimenter_leaves_no_process_and_the_next_start_no_group(
    program: str, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    made(real_agent, state, Container(container={"runtime": program}, userland="host"))
    with subprocess.Popen(
        [sys.executable, "-c", RUN, program, str(real_agent), str(state)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path / "scratch")},
        text=True,
    ) as process:
        assert process.stdout is not None
        token = process.stdout.readline().strip()
        assert marked(token)
        process.send_signal(signal.SIGKILL)
    # The container ends by itself: its guard's input has ended.
    deadline = time.monotonic() + 20
    while marked(token) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(token) == []
    assert leftovers(state)
    restore_leftovers(state)
    assert not [one for one in groups(f"pentathlon-{token}") if one.exists()]
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


@pytest.mark.parametrize(
    ("container", "words"),
    [
        ({"cpu_percent": 0.0}, "container.cpu_percent = 0.0; it must be 1 or more"),
        ({"pids": 2}, "container.pids = 2; it must be 16 or more"),
        ({"memory": "1"}, 'container.memory = "1"; write a size'),
        ({"memory": "much"}, 'container.memory = "much"; write a size'),
        ({"seccomp": "some"}, 'container.seccomp = "some"; use "off"'),
    ],
)
def test_a_wrong_limit_is_one_sentence(
    container: dict[str, Any], words: str, real_agent: Path, state: Path
) -> None:
    with pytest.raises(TargetError) as caught:
        make_target(Container(container=container), real_agent, state)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "container", [{"runtime": "podman"}, {"network": "bridge"}, {"pids": "x"}, {"cpus": 1}]
)
def test_a_study_is_checked(container: dict[str, Any]) -> None:
    System(name="a", target="oci", **{"container": {"runtime": "crun", "pids": 20}})
    with pytest.raises(ValueError, match=f"container.{next(iter(container))}"):
        System(name="a", target="oci", **{"container": container})


def test_a_missing_runtime_names_the_command(
    real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "on_path", lambda program: None)
    target = make_target(Container(), real_agent, state)
    assert target.describe()["options"]["runtime"] is None
    with pytest.raises(TargetUnavailable) as caught:
        target.prepare()
    assert caught.value.remedy == "sudo apt-get install runc"
    [found] = OciDoctor(registry.kind_of("oci")).trials()
    assert not getattr(found, "works", True)


def test_a_machine_that_lets_none_run_says_why(
    real_agent: Path, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runtime that is refused by the kernel, as one without the right to make namespaces is."""
    fake = tmp_path / "runc"
    fake.write_text(
        "#!/bin/sh\n[ $1 = --version ] && { echo runc version 9.9; exit; }\n"
        "echo container_linux.go: operation not permitted >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setattr(runtime, "on_path", lambda program: fake)
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with pytest.raises(TargetUnavailable) as caught:
        make_target(Container(), real_agent, state).prepare()
    assert "no container starts on this machine" in caught.value.reason
    assert "operation not permitted" in caught.value.reason
