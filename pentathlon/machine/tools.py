"""Find the helper programs of the system: ip, unshare, taskset, patchelf and their like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pentathlon.machine.errors import TargetUnavailable


def on_path(program: str) -> Path | None:
    """A helper program: beside the interpreter first (a virtual environment), then on PATH."""
    local = Path(sys.executable).parent / program
    if local.is_file() and os.access(local, os.X_OK):
        return local
    # /usr/sbin is not on the PATH of every user, but `ip` and its like can be run from there.
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    found = shutil.which(program, path=search)
    return Path(found) if found else None


def require(program: str, reason: str, remedy: str | None = None) -> Path:
    """A helper program.

    Raises:
        TargetUnavailable: it is not on this machine; it has this reason and remedy.
    """
    found = on_path(program)
    if found is None:
        raise TargetUnavailable(reason, remedy)
    return found


def version_text(program: Path) -> str | None:
    """What a program answers to --version, or None if it does not start or fails."""
    try:
        done = run([program, "--version"], 10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.decode(errors="replace").strip()


def run(
    command: Sequence[str | Path], timeout_s: float | None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; it has nothing to read, and what it prints is kept.

    Args:
        timeout_s: longest time, in seconds; None: any.
        options: further ones of `subprocess.run`.

    Raises:
        OSError: it does not start.
        subprocess.TimeoutExpired: it did not end in time, and was killed.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
        **options,
    )


def last_line(output: bytes, otherwise: str = "no reason given") -> str:
    """The last line that a program printed, as its errors end with what went wrong."""
    return (output.decode(errors="replace").strip().splitlines() or [otherwise])[-1]
