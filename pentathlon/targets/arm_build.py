"""The agent's build for Linux on 64-bit ARM: find it, and tell it from this machine's."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol.agent import AGENT

BUILD = "sh scripts/cross linux-arm"
ARM = "aarch64"
VARIABLE = "PENTATHLON_AGENT_AARCH64"
"""Path of the build, where it lies in none of the usual places."""

MACHINES = {62: "x86_64", 183: ARM}
"""What elf(5) calls `e_machine`, by the name that uname(1) has for it."""


def agent_for(machine: str, own: str | None, agent_file: Path) -> Path:
    """The agent for a Linux machine: the study's `agent`, else this machine's own where the
    architectures are one, else the build for 64-bit ARM: $PENTATHLON_AGENT_AARCH64, the file beside
    the agent of this machine, or what `scripts/cross linux-arm` builds in the checkout.

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
    if machine != ARM:
        raise TargetUnavailable(
            f"there is no agent for Linux on {machine}; it is built for x86_64 and {ARM}"
        )
    if named := os.environ.get(VARIABLE):
        return _checked(Path(named), VARIABLE, machine)
    for path in _places(agent_file):
        if architecture(path) == machine:
            return path.resolve()
    raise TargetUnavailable(f"the agent has not been built for Linux on {machine}", BUILD)


def _checked(path: Path, source: str, machine: str) -> Path:
    found = architecture(path)
    if found != machine:
        what = f"a program for {found}" if found else "no Linux program"
        raise TargetUnavailable(f"{source} names {path}, which is {what}; the machine is {machine}")
    return path.resolve()


def _places(agent_file: Path) -> Iterator[Path]:
    yield agent_file.with_name(f"{AGENT}-{ARM}")
    checkout = Path(__file__).resolve().parents[2]
    yield checkout / "target" / "cross" / f"{ARM}-unknown-linux-gnu" / "release" / AGENT


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
