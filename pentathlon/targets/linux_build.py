"""The agent's builds for Linux on other architectures: where each is, and what it is for."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol.agent import AGENT

BUILDS = {
    "aarch64": ("sh scripts/cross linux-arm", "aarch64-unknown-linux-gnu"),
    "riscv64": ("sh scripts/cross linux-riscv", "riscv64gc-unknown-linux-gnu"),
}
"""Architecture as uname(1) names it -> the command that builds the agent, the compiler's target."""

MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""What elf(5) calls `e_machine`, by the name that uname(1) has for it."""


def variable(machine: str) -> str:
    """The environment variable with the path of a build that lies in none of the usual places."""
    return f"PENTATHLON_AGENT_{machine.upper()}"


def agent_for(machine: str, own: str | None, agent_file: Path) -> Path:
    """The agent for a Linux machine: the study's `agent`, else this machine's own where the
    architectures are one, else the build for its architecture: that of `variable`, the file beside
    the agent of this machine, or what `scripts/cross` builds in the checkout.

    Args:
        machine: what uname(1) with -m prints there.
        own: the path that the study names, if any.
        agent_file: the agent of this machine.

    Raises:
        TargetUnavailable: there is none, or it is a program for another architecture.
    """
    if own is not None:
        return _checked(Path(own), f'"{own}"', machine)
    if machine == platform.machine():
        return agent_file
    if machine not in BUILDS:
        known = ", ".join(MACHINES.values())
        raise TargetUnavailable(
            f"there is no agent for Linux on {machine}; it is built for {known}"
        )
    if named := os.environ.get(variable(machine)):
        return _checked(Path(named), variable(machine), machine)
    command, target = BUILDS[machine]
    for path in _places(agent_file, machine, target):
        if architecture(path) == machine:
            return path.resolve()
    raise TargetUnavailable(f"the agent has not been built for Linux on {machine}", command)


def _checked(path: Path, source: str, machine: str) -> Path:
    found = architecture(path)
    if found != machine:
        what = f"a program for {found}" if found else "no Linux program"
        raise TargetUnavailable(f"{source} names {path}, which is {what}; the machine is {machine}")
    return path.resolve()


def _places(agent_file: Path, machine: str, target: str) -> Iterator[Path]:
    yield agent_file.with_name(f"{AGENT}-{machine}")
    checkout = Path(__file__).resolve().parents[2]
    yield checkout / "target" / "cross" / target / "release" / AGENT


def architecture(path: Path) -> str | None:
    """The architecture of a Linux program as uname(1) names it; None: it is none of those known."""
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:6] != b"\x7fELF\x02\x01":
        return None
    return MACHINES.get(int.from_bytes(head[18:20], "little"))
