"""The kernels of user-mode Linux on this machine, and which one a study means."""

from __future__ import annotations

import functools
import json
import mmap
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pentathlon.machine.cache import RECORD, cache_dir, is_recorded, sha256
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path, version_text

SUITES: dict[str, str] = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "trixie",
    "newest": "sid",
}
"""Kernel series and the Debian suite whose package `user-mode-linux` has it."""

INSTALLED = "linux.uml"
"""Name of the kernel in the installed Debian package."""

INSTALL = "pentathlon doctor --install"

BANNER = re.compile(rb"Linux version (\d[!-~]{0,63}) \(")
"""What every kernel states of itself when it starts (init/version.c), as it lies in its file."""

LARGEST = 4 << 30
"""No kernel has so many bytes, and a file of a study is read to its end."""


@dataclass(frozen=True)
class Kernel:
    """One kernel file.

    Attributes:
        version: what the kernel calls itself, such as "6.1.176".
        path: the file.
        sha256: digest of the file as it is run.
        package: the Debian package that it came from, if that is known.
        note: how the file differs from the package's, or None.
    """

    version: str
    path: Path
    sha256: str
    package: str | None = None
    package_version: str | None = None
    suite: str | None = None
    note: str | None = None

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers, for comparison."""
        return number(self.version)

    def record(self) -> dict[str, Any]:
        """The kernel as JSON data."""
        return asdict(self) | {"path": str(self.path)}


def number(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: "6.1.176-rt2" is (6, 1, 176)."""
    parts = []
    for part in version.split("-", maxsplit=1)[0].split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)


def directory() -> Path:
    """Where fetched kernels lie."""
    return cache_dir() / "kernels"


def available() -> list[Kernel]:
    """Every kernel that starts here, the oldest first; the fetched one of two equal ones.

    A fetched one that is not the file of its record is left out, and not started.
    """
    found: dict[str, Kernel] = {}
    if (installed := on_path(INSTALLED)) and (kernel := _kernel(installed, _identify)):
        found[kernel.version] = kernel
    for record in sorted(directory().glob(f"uml-*/{RECORD}")):
        if kernel := _fetched(record):
            found[kernel.version] = kernel
    return sorted(found.values(), key=lambda kernel: kernel.number)


def resolve(wanted: str) -> Kernel:
    """The kernel that a study means: a version prefix such as "6.1", "newest", or a file.

    A file is only read, and not started: the one who asks may only want to know what a study would
        do.

    Raises:
        TargetUnavailable: there is none; the remedy fetches it.
    """
    if "/" in wanted:
        path = Path(wanted)
        kernel = _kernel(path, _banner) if path.is_file() else None
        if kernel is None:
            raise TargetUnavailable(f"{wanted} is not a kernel of user-mode Linux that starts here")
        return kernel
    kernels = available()
    prefix = number(wanted)
    matching = [k for k in kernels if wanted == "newest" or k.number[: len(prefix)] == prefix]
    if matching and (prefix or wanted == "newest"):
        return matching[-1]
    last = max(number(known) for known in SUITES)
    fetched = wanted in SUITES or prefix > last or (prefix and prefix[:2] in map(number, SUITES))
    have = ", ".join(kernel.version for kernel in kernels) or "none"
    changed = [path for path in sorted(directory().glob("uml-*/linux")) if not is_recorded(path)]
    if changed:
        have += f"; {changed[0]} is not the file that was fetched: its record has another SHA-256"
    raise TargetUnavailable(
        f"there is no UML kernel {wanted} here (found: {have})",
        INSTALL if fetched else None,
    )


def version_of(path: Path) -> str | None:
    """What the kernel answers to --version, or None if it does not start."""
    text = version_text(path)
    return text if text and number(text) else None


def check(kernel: Kernel) -> None:
    """Start a kernel once, as far as its version.

    Raises:
        TargetUnavailable: it does not start here.
    """
    if _kernel(kernel.path, _identify) is None:
        raise TargetUnavailable(
            f"{kernel.path} is not a kernel of user-mode Linux that starts here"
        )


def _kernel(path: Path, read: Callable[[Path, int, int], tuple[str, str] | None]) -> Kernel | None:
    """The kernel in a file, by what `read` keeps of the file as it is now."""
    state = path.stat()
    found = read(path, state.st_mtime_ns, state.st_size)
    return None if found is None else Kernel(found[0], path, found[1])


@functools.cache
def _banner(path: Path, _changed_ns: int, size: int) -> tuple[str, str] | None:
    if not 0 < size < LARGEST or not os.access(path, os.X_OK):
        return None
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        found = BANNER.search(content)
        return None if found is None else (found[1].decode(), sha256(path))


@functools.cache
def _identify(path: Path, _changed_ns: int, _size: int) -> tuple[str, str] | None:
    # Asked often, and answered by starting a program.
    if not os.access(path, os.X_OK):
        return None
    version = version_of(path)
    return None if version is None else (version, sha256(path))


def _fetched(record: Path) -> Kernel | None:
    path = record.parent / "linux"
    if not is_recorded(path):
        return None
    try:
        data = json.loads(record.read_text())
        kernel = _kernel(path, _identify)
    except (OSError, ValueError):
        return None
    if kernel is None:
        return None
    keys = ("package", "package_version", "suite", "note")
    return replace(kernel, **{key: data.get(key) for key in keys})
