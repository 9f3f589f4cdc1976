"""The wrapper of ptrace(2) that kernels up to 6.12 need."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from pentathlon.machine.cache import cache_dir, locked, sha256
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path, require, run
from pentathlon.targets.uml.kernels import Kernel

SOURCE = Path(__file__).with_name("ptrace_shim.c")

INSTALL = "sudo apt-get install gcc libc6-dev"

FIXED = (7,)
"""Kernels from this version on need no wrapper."""


def needed(kernel: Kernel) -> bool:
    """Whether the kernel is to run with the wrapper; ptrace_shim.c states why."""
    return kernel.number < FIXED


def has_amx(cpuinfo: str | None = None) -> bool:
    """Whether the processor has AMX, on which these kernels panic without the wrapper.

    Args:
        cpuinfo: text of /proc/cpuinfo; this machine's if None.
    """
    text = Path("/proc/cpuinfo").read_text() if cpuinfo is None else cpuinfo
    return "amx_tile" in text.split()


def build() -> Path:
    """The wrapper as a shared library: that of the wheel where this machine's C library loads it,
    else it is compiled once and kept in the cache.

    One that differs from its record there is compiled again.

    Raises:
        TargetUnavailable: there is no C compiler, or it cannot compile the wrapper.
    """
    name = f"ptrace-shim-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}.so"
    if _loads(shipped := SOURCE.with_name(name)):
        return shipped
    directory = cache_dir() / "shim"
    library = directory / name
    record = library.with_suffix(".sha256")
    if _is_recorded(library, record):
        return library
    compiler = require(
        "cc",
        "user-mode Linux up to 6.12 needs a wrapper of ptrace(), so that its processes end "
        "with it, and there is no C compiler to build it",
        INSTALL,
    )
    with locked(directory), tempfile.TemporaryDirectory(dir=directory) as scratch:
        fresh = Path(scratch) / name
        command = [str(compiler), "-O2", "-shared", "-fPIC", "-o", str(fresh), str(SOURCE), "-ldl"]
        done = run(command, 60)
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise TargetUnavailable(
                f"the wrapper of ptrace() does not compile: {lines[0] if lines else 'no reason'}",
                INSTALL,
            )
        noted = Path(scratch) / "sha256"
        noted.write_text(sha256(fresh))
        fresh.rename(library)
        noted.rename(record)
    return library


def _loads(library: Path) -> bool:
    """Whether a program of this machine starts with the library, of which the loader then reports
    nothing."""
    program = on_path("true")
    if program is None or not library.is_file():
        return False
    done = run([program], 10, env={"LD_PRELOAD": str(library)})
    return done.returncode == 0 and not done.stderr


def _is_recorded(library: Path, record: Path) -> bool:
    try:
        return record.read_text() == sha256(library)
    except (OSError, ValueError):
        return False
