"""The agent for other architectures: chosen by that of the machine, run by qemu-user."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol.agent import AGENT
from pentathlon.targets import linux_build
from tests.targets.test_command import Own, run
from tests.targets.test_wine_catalog import AREAS, check_same_work, request_for


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
    for machine in linux_build.BUILDS:
        monkeypatch.delenv(linux_build.variable(machine), raising=False)
    monkeypatch.setattr(
        linux_build, "_places", lambda own, machine, _: [own.with_name(f"{AGENT}-{machine}")]
    )
    return elf(tmp_path / AGENT, 62)


def test_a_machine_like_this_one_gets_this_ones_agent(own: Path) -> None:
    assert linux_build.agent_for("x86_64", None, own) == own


@pytest.mark.parametrize(("machine", "number"), [("aarch64", 183), ("riscv64", 243)])
def test_another_architecture_gets_its_own(own: Path, machine: str, number: int) -> None:
    with pytest.raises(TargetUnavailable, match=f"has not been built for Linux on {machine}"):
        linux_build.agent_for(machine, None, own)
    # A program for another architecture under that name is not taken.
    built = elf(own.with_name(f"{AGENT}-{machine}"), 62)
    with pytest.raises(TargetUnavailable, match="has not been built"):
        linux_build.agent_for(machine, None, own)
    elf(built, number)
    assert linux_build.agent_for(machine, None, own) == built


def test_a_named_agent_has_to_fit(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = elf(own.with_name("mine"), 183)
    assert linux_build.agent_for("aarch64", str(arm), own) == arm
    with pytest.raises(TargetUnavailable, match="which is a program for aarch64; the machine is"):
        linux_build.agent_for("x86_64", str(arm), own)
    variable = linux_build.variable("aarch64")
    monkeypatch.setenv(variable, str(own))
    with pytest.raises(TargetUnavailable, match=f"{variable} names .* for x86_64"):
        linux_build.agent_for("aarch64", None, own)


def test_an_architecture_without_an_agent_is_named(own: Path) -> None:
    with pytest.raises(TargetUnavailable, match="no agent for Linux on mips64"):
        linux_build.agent_for("mips64", None, own)


REGISTER = (
    "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && "
    "cat {format} >/proc/sys/fs/binfmt_misc/register && "
)
"""Lets a user namespace of its own start that architecture's programs by qemu-user (Linux 6.7)."""

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


@pytest.fixture(scope="module", params=[*linux_build.BUILDS])
def other(request: pytest.FixtureRequest) -> Own:
    """The agent as a system: with every program that it starts itself by the emulator."""
    machine = request.param
    binfmt = Path(f"/usr/lib/binfmt.d/qemu-{machine}.conf")
    if not binfmt.exists():
        pytest.skip(f"{binfmt} is missing (Debian: qemu-user-static)")
    if platform.machine() != "x86_64":
        pytest.skip(f"the agent of x86-64 is compared with the one for {machine}")
    try:
        own = Path(os.environ.get("PENTATHLON_AGENT", "/nonexistent"))
        agent = linux_build.agent_for(machine, None, own)
    except TargetUnavailable as error:
        pytest.skip(f"{error}; {error.remedy}")
    register = REGISTER.format(format=binfmt)
    tried = [*NAMESPACE, f"{register} exec {shlex.quote(str(agent))} --version"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"binfmt_misc in a user namespace does not work here: {done.stderr.strip()}")
    return Own(command=(*NAMESPACE, register + "exec {agent}"), agent=str(agent))


@pytest.mark.parametrize("area", [*AREAS])
def test_every_workload_does_the_same_work_or_says_why_not(
    area: str, other: Own, real_agent: Path, state: Path
) -> None:
    # The emulator computes floating-point numbers by integers, twenty times as slowly.
    whole = request_for(area, timeout_s=300.0)
    there = run(other, real_agent, state, whole)
    here = run(Own(), real_agent, state, whole)
    check_same_work(whole, there, here)


def test_its_clock_is_the_counter_of_the_architecture_or_the_systems(
    other: Own, real_agent: Path, state: Path
) -> None:
    first = run(other, real_agent, state)[0]
    # QEMU's user mode has the counter of 64-bit ARM too; that of RISC-V is not read.
    counter = linux_build.architecture(Path(str(other.agent))) == "aarch64"
    assert first["clock"]["source"] == ("tsc" if counter else "clock_gettime(CLOCK_MONOTONIC)"), (
        first["clock"]
    )
