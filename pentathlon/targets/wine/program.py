"""The programs of Wine, and the library that the agent's Windows build needs there: find them."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path, run, version_text
from pentathlon.targets.windows_build import BUILD, is_windows

INSTALL = "sudo apt-get install wine64"

SHIM = "bcryptprimitives.dll"
FIRST_WITH_RANDOM_NUMBERS = 9
"""Wine before this version has no bcryptprimitives.dll, which programs in Rust load."""

LOADERS = ("wine64", "/usr/lib/wine/wine64", "wine")
"""Debian's package wine64 alone puts nothing into the search path."""


@dataclass(frozen=True)
class Wine:
    """The loader of Wine and its version, as it prints it: "8.0 (Debian 8.0~repack-4)"."""

    path: Path
    version: str

    @property
    def major(self) -> int:
        """The first number of the version; 0 if there is none."""
        digits = self.version.split(".")[0]
        return int(digits) if digits.isdigit() else 0

    def command(self, *words: str) -> list[str]:
        """The command line that starts a program under Wine, at fixed addresses where it can be."""
        return [*fixed_addresses(), str(self.path), *words]

    def record(self) -> dict[str, str]:
        """The program as JSON data."""
        return {"path": str(self.path), "version": self.version}


@cache
def fixed_addresses() -> tuple[str, ...]:
    """The words before a command whose addresses the kernel is not to randomise (personality(2)).

    Each process of Wine has a page at 0x7ffe0000. Debian's loader lies 48 MiB below it and
    reserves nothing, and a kernel that randomises the start of the heap within 1 GiB puts the heap
    there once in some thousand starts: the process then ends at once, and CreateProcess fails with
    error 1359.

    Returns:
        The words; none where setarch(8) is missing or the system refuses it, as a container may.
    """
    setarch = on_path("setarch")
    if setarch is None:
        return ()
    words = (str(setarch), platform.machine(), "--addr-no-randomize")
    try:
        return words if run([*words, "true"], 10).returncode == 0 else ()
    except (OSError, subprocess.TimeoutExpired):
        return ()


def find() -> Wine:
    """The loader for 64-bit programs.

    Raises:
        TargetUnavailable: Wine is not on this machine.
    """
    for name in LOADERS:
        path = Path(name) if name.startswith("/") else on_path(name)
        if path is not None and path.is_file() and (version := _version(path)) is not None:
            return Wine(path, version)
    raise TargetUnavailable("Wine for 64-bit programs is not on this machine", INSTALL)


def _version(path: Path) -> str | None:
    text = version_text(path) or ""
    return text.removeprefix("wine-") if text.startswith("wine-") else None


def shim(wine: Wine, agent_file: Path) -> Path | None:
    """The library that the agent needs beside it under this Wine, or None if it needs none.

    Raises:
        TargetUnavailable: it needs one, which has not been built.
    """
    if wine.major >= FIRST_WITH_RANDOM_NUMBERS:
        return None
    # Beside the agent, or in `target/cross` above `TRIPLE/release`. In a directory of its own, so
    # that nobody runs the agent with it on Windows.
    for folder in (agent_file.parent, agent_file.parents[min(2, len(agent_file.parents) - 1)]):
        if is_windows(folder / "wine" / SHIM):
            return folder / "wine" / SHIM
    raise TargetUnavailable(
        f"Wine {wine.version} has no {SHIM}, and its replacement has not been built",
        BUILD,
    )


def record(file: Path) -> dict[str, str]:
    """A file by its path and digest, as JSON data."""
    return {"path": str(file), "sha256": sha256(file)}
