"""What commands find on a guest beside their own files: a root directory of this machine, only for
reading, or nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.system import SystemSpec

HOST = "host"
FILES = "/run/pentathlon-files"
"""Where the files of commands lie in a guest with a user land
(agent/crates/session/src/machine.rs)."""
OWN_FILES = "/files"
"""Where they lie in a guest without one, which has nothing else but the agent."""
SCRATCH = "/run"
"""Where such a guest has room in memory; its /tmp may be that of the machine."""

NEEDED = ("run", "proc", "sys", "dev", "tmp")
"""Directories that a root needs, for what is mounted there."""


def of(system: SystemSpec) -> Path | None:
    """The root directory of the system's user land; None: it has none."""
    named: str | None = getattr(system, "userland", None)
    return None if named is None else Path("/") if named == HOST else Path(named)


def check(root: Path | None) -> None:
    """That a directory can be the root of a guest.

    Raises:
        TargetUnavailable: it is not there, or lacks a directory.
    """
    if root is None:
        return
    if not root.is_dir():
        raise TargetUnavailable(f"the userland {root} is no directory of this machine")
    if lacks := [name for name in NEEDED if not (root / name).is_dir()]:
        raise TargetUnavailable(
            f"the userland {root} is no root directory: it lacks the directory {lacks[0]}",
            f"mkdir {root / lacks[0]}",
        )


def plain(root: Path | None, what: str) -> None:
    """That its path can be told to a guest on the command line of its kernel.

    Raises:
        TargetError: it cannot.
    """
    if root is not None and re.search(r"[\s,\"']", str(root)):
        raise TargetError(
            f'the path of the userland "{root}" has a blank, a comma or a quotation mark, which '
            f"{what} cannot have"
        )


def described(root: Path | None) -> dict[str, str]:
    """The user land as part of a target's options; empty without one."""
    return {} if root is None else {"userland": os.fspath(root)}
