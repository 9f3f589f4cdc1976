"""The agent for 64-bit ARM: chosen by the architecture of the machine, run by qemu-user."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol.agent import AGENT
from pentathlon.targets import arm_build
from tests.targets.test_command import Own, run
from tests.targets.test_wine_catalog import AREAS, MACHINE_S, request_for, sums

BINFMT = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")


def elf(path: Path, machine: int) -> Path:
    """A file that begins as a program for that architecture (elf(5))."""
    path.write_bytes(
        b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00" + machine.to_bytes(2, "little")
    )
    return path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This machine's agent, on x86-64, where nobody has built another one."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.delenv(arm_build.VARIABLE, raising=False)
    monkeypatch.setattr(arm_build, "_places", lambda own: [own.with_name(f"{AGENT}-aarch64")])
    return elf(tmp_path / AGENT, 62)


def test_a_machine_like_this_one_gets_this_ones_agent(own: Path) -> None:
    assert arm_build.agent_for("x86_64", None, own) == own


def test_another_architecture_gets_its_own(own: Path) -> None:
    with pytest.raises(TargetUnavailable, match="has not been built for Linux on aarch64"):
        arm_build.agent_for("aarch64", None, own)
    # A program for another architecture under that name is not taken.
    built = elf(own.with_name(f"{AGENT}-aarch64"), 62)
    with pytest.raises(TargetUnavailable, match="has not been built"):
        arm_build.agent_for("aarch64", None, own)
    elf(built, 183)
    assert arm_build.agent_for("aarch64", None, own) == built


def test_a_named_agent_has_to_fit(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = elf(own.with_name("mine"), 183)
    assert arm_build.agent_for("aarch64", str(arm), own) == arm
    with pytest.raises(TargetUnavailable, match="which is a program for aarch64; the machine is"):
        arm_build.agent_for("x86_64", str(arm), own)
    monkeypatch.setenv(arm_build.VARIABLE, str(own))
    with pytest.raises(TargetUnavailable, match=f"{arm_build.VARIABLE} names .* for x86_64"):
        arm_build.agent_for("aarch64", None, own)


def test_an_architecture_without_an_agent_is_named(own: Path) -> None:
    with pytest.raises(TargetUnavailable, match="no agent for Linux on riscv64"):
        arm_build.agent_for("riscv64", None, own)


REGISTER = (
    "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && "
    f"cat {BINFMT} >/proc/sys/fs/binfmt_misc/register && "
)
"""Lets a user namespace of its own start programs for 64-bit ARM by qemu-user (Linux 6.7)."""

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


@pytest.fixture(scope="module")
def arm() -> Own:
    """The agent as a system: with every program that it starts itself by the emulator."""
    if not BINFMT.exists():
        pytest.skip(f"{BINFMT} is missing (Debian: qemu-user-static)")
    if platform.machine() != "x86_64":
        pytest.skip("this machine's own agent is compared with the one for aarch64")
    try:
        own = Path(os.environ.get("PENTATHLON_AGENT", "/nonexistent"))
        agent = arm_build.agent_for("aarch64", None, own)
    except TargetUnavailable as error:
        pytest.skip(f"{error}; {error.remedy}")
    tried = [*NAMESPACE, f"{REGISTER} exec {shlex.quote(str(agent))} --version"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"binfmt_misc in a user namespace does not work here: {done.stderr.strip()}")
    return Own(command=(*NAMESPACE, REGISTER + "exec {agent}"), agent=str(agent))


@pytest.mark.parametrize("area", [*AREAS])
def test_every_workload_does_the_same_work_or_says_why_not(
    area: str, arm: Own, real_agent: Path, state: Path
) -> None:
    whole = request_for(area)
    there = run(arm, real_agent, state, whole)
    here = run(Own(), real_agent, state, whole)
    refused = [e for e in there if e["event"] == "error"]
    assert [e for e in refused if e["kind"] != "unsupported"] == []
    assert all(e["reason"] for e in refused)
    for name in (one.id for one in whole.workloads):
        found, expected = sums(there, name), sums(here, name)
        assert found or any(e["workload"] == name for e in refused), f"{name} says nothing"
        if name not in MACHINE_S:
            common = found.keys() & expected.keys()
            assert {k: found[k] for k in common} == {k: expected[k] for k in common}, name


def test_its_clock_is_the_counter_of_the_architecture(
    arm: Own, real_agent: Path, state: Path
) -> None:
    events = run(arm, real_agent, state)
    first = events[0]
    # QEMU's user mode has the counter too.
    assert first["clock"]["source"] == "tsc", first["clock"]
