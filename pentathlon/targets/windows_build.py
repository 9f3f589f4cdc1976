"""The agent's Windows build: find it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pentathlon.machine.errors import TargetUnavailable

BUILD = "sh scripts/cross windows"

AGENT = "pentathlon-agent.exe"
GRAPHICS = "pentathlon-graphics.exe"
VARIABLE = "PENTATHLON_AGENT_WINDOWS"
"""Path of the agent's Windows build, where it lies in none of the usual places."""


def agent(own: str | None, agent_file: Path) -> Path:
    """The agent's Windows build: the study's `agent`, $PENTATHLON_AGENT_WINDOWS, the file beside
    the agent of this machine, or what `scripts/cross windows` builds in the checkout.

    Args:
        own: the path that the study names, if any.
        agent_file: the agent of this machine.

    Raises:
        TargetUnavailable: there is no such file, or it is no Windows program.
    """
    for source, named in ((f'"{own}"', own), (VARIABLE, os.environ.get(VARIABLE))):
        if named:
            if not is_windows(Path(named)):
                raise TargetUnavailable(f"{source} names {named}, which is no Windows program")
            return Path(named).resolve()
    for path in _places(agent_file):
        if is_windows(path):
            return path.resolve()
    raise TargetUnavailable("the agent has not been built for Windows", BUILD)


def _places(agent_file: Path) -> Iterator[Path]:
    yield agent_file.parent / AGENT
    checkout = Path(__file__).resolve().parents[2]
    yield checkout / "target" / "cross" / "x86_64-pc-windows-gnu" / "release" / AGENT


def is_windows(path: Path) -> bool:
    """Whether it is a file that starts as every Windows program does."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"MZ"
    except OSError:
        return False
