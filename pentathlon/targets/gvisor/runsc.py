"""The program of gVisor, `runsc`: find it, fetch it, try it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine.cache import cache_dir, is_recorded, locked, publish, sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.packages import ScratchApt, unpack
from pentathlon.machine.tools import last_line, on_path, run, version_text

SUITE = "bookworm-backports"
"""Debian suite whose package `runsc` has the systrap platform; it is static and runs anywhere."""

PACKAGE = "runsc"
INSTALL = "pentathlon doctor --install"
TRIAL_S = 30.0


@dataclass(frozen=True)
class Runsc:
    """One `runsc` file: its version, as it prints it, and its digest."""

    path: Path
    version: str
    sha256: str

    def record(self) -> dict[str, str]:
        """The program as JSON data."""
        return {"path": str(self.path), "version": self.version, "sha256": self.sha256}


def directory() -> Path:
    """Where a fetched program lies."""
    return cache_dir() / "runsc"


def find() -> Runsc:
    """The fetched program, or else the installed one.

    Raises:
        TargetUnavailable: there is none.
    """
    fetched = directory() / "current" / PACKAGE
    changed = fetched.exists() and not is_recorded(fetched)
    for path in (None if changed else fetched, on_path(PACKAGE)):
        if path is not None and path.is_file() and (version := _version(path)) is not None:
            return Runsc(path, version, sha256(path))
    if changed:
        raise TargetUnavailable(
            f"{fetched} is not the file that was fetched: its record has another SHA-256", INSTALL
        )
    raise TargetUnavailable("gVisor's program runsc is not on this machine", INSTALL)


def _version(path: Path) -> str | None:
    first = (version_text(path) or "").partition("\n")[0]
    return first.removeprefix("runsc version ").strip() or None


def sandbox(program: Path, *words: str) -> list[str]:
    """The command that runs `runsc do` with the options that every session uses.

    Systrap catches system calls with SIGSYS and works without virtualisation. An ordinary user
    needs --rootless, which makes a user namespace.
    """
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    options = ["--ignore-cgroups", "--platform=systrap", "--network=none"]
    return [str(program), *rootless, *options, "do", *words]


def trial(program: Runsc) -> None:
    """Start a sandbox and leave it.

    Raises:
        TargetUnavailable: it does not start here.
    """
    with tempfile.TemporaryDirectory(prefix="pentathlon-", ignore_cleanup_errors=True) as own:
        command = sandbox(program.path, "/bin/true")
        try:
            done = run(command, TRIAL_S, env=os.environ | {"TMPDIR": own})
        except subprocess.TimeoutExpired as error:
            raise TargetUnavailable(
                f"a sandbox of runsc {program.version} did not end within {TRIAL_S:.0f} s"
            ) from error
    if done.returncode:
        why = last_line(done.stderr)
        raise TargetUnavailable(f"runsc {program.version} does not start a sandbox: {why}", INSTALL)


def fetch(log: Callable[[str], None]) -> Runsc:
    """Fetch the program into the cache.

    Raises:
        TargetUnavailable: this machine cannot fetch packages.
        TargetError: the download failed.
    """
    place = directory()
    with locked(place), tempfile.TemporaryDirectory(prefix=".fetch-", dir=place) as scratch:
        log(f"reading the package list of {SUITE}")
        apt = ScratchApt(SUITE, Path(scratch) / "apt")
        log(f"downloading {PACKAGE} of {SUITE}")
        package = apt.download(PACKAGE)
        unpack(package, Path(scratch) / "package")
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        program = fresh / PACKAGE
        (Path(scratch) / "package" / "usr" / "bin" / PACKAGE).rename(program)
        publish(fresh, place / "current", package.record() | {"sha256": sha256(program)})
    found = find()
    if found.path.parent != place / "current":
        raise TargetError(f"runsc of {SUITE} does not start on this machine")
    log(f"runsc {found.version} lies in {place / 'current'}")
    return found
