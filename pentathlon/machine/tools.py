"""Find the helper programs of the system: ip, unshare, taskset, patchelf and their like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def on_path(program: str) -> Path | None:
    """A helper program: beside the interpreter first (a virtual environment), then on PATH."""
    local = Path(sys.executable).parent / program
    if local.is_file() and os.access(local, os.X_OK):
        return local
    # /usr/sbin is not on the PATH of every user, but `ip` and its like can be run from there.
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    found = shutil.which(program, path=search)
    return Path(found) if found else None


def version_text(program: Path) -> str | None:
    """What a program answers to --version, or None if it does not start or fails."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.decode(errors="replace").strip()
