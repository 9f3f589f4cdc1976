"""Wine's prefix, the directory with its C: drive and registry: made once, copied for each boot."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pentathlon.machine import processes
from pentathlon.machine.cache import cache_dir, locked
from pentathlon.machine.errors import TargetError
from pentathlon.machine.tools import last_line
from pentathlon.targets.wine.program import Wine

MAKE_S = 180.0
"""Longest time in which a prefix is made, in seconds; it takes 15 on a machine with nothing else
to do."""

DONE = "pentathlon-made"
"""The file that a finished prefix has."""

MAKING = "making"
"""The directory in which one is made; whoever has the lock of the prefixes makes it."""


def directory() -> Path:
    """Where prefixes lie: the made ones and those of running systems."""
    return cache_dir() / "wine"


def made(wine: Wine) -> Path:
    """Where the prefix of this version lies once it is made."""
    return directory() / ("prefix-" + re.sub(r"[^0-9A-Za-z.]+", "-", wine.version).strip("-"))


def environment(prefix: Path, temporary: Path) -> dict[str, str]:
    """The variables for Wine: this prefix, no window, no messages, no .NET, no browser.

    Args:
        prefix: the directory of the prefix.
        temporary: a directory for the socket of its server, which Debian's build puts there.
    """
    return {
        "WINEPREFIX": str(prefix),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=",
        "WINEPATH": "",
        "DISPLAY": "",
        "TMPDIR": str(temporary),
    }


def make(wine: Wine, log: Callable[[str], None]) -> Path:
    """The prefix of this version; it is made if there is none.

    Raises:
        TargetError: Wine did not make it.
    """
    place = made(wine)
    with locked(directory()):
        if (place / DONE).exists():
            return place
        log(f"making a prefix of Wine {wine.version}, which takes a while")
        fresh = directory() / MAKING
        # One that was killed while it made a prefix left this.
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(0o700)
        try:
            _fill(wine, fresh / "prefix", fresh)
            if place.exists():
                shutil.rmtree(place)
            (fresh / "prefix" / DONE).touch()
            (fresh / "prefix").rename(place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    log(f"the prefix lies in {place}")
    return place


def _fill(wine: Wine, prefix: Path, temporary: Path) -> None:
    token = secrets.token_hex(8)
    with tempfile.TemporaryFile() as output:
        maker = subprocess.Popen(
            wine.command("wineboot", "--init"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | environment(prefix, temporary) | {processes.TOKEN: token},
            start_new_session=True,
        )
        leader = processes.stat(maker.pid)
        start = leader.start if leader else 0
        try:
            status = maker.wait(MAKE_S)
            # The server writes the registry when its last program has ended.
            deadline = time.monotonic() + MAKE_S
            while processes.members(token, maker.pid, start) and time.monotonic() < deadline:
                time.sleep(0.05)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            processes.end_session(token, maker.pid, start)
            maker.wait()
        if status or not (prefix / "system.reg").is_file():
            output.seek(0)
            why = last_line(output.read())
            how = f"did not end within {MAKE_S:.0f} s" if status is None else "failed"
            raise TargetError(f"`wineboot --init` of Wine {wine.version} {how}: {why}")


def copy(source: Path, target: Path) -> None:
    """A prefix of its own for one boot.

    Windows' own files, some 700 MB, are linked: nothing writes to them, and a program that replaces
    one makes a new file. Registry and the user's directories are copied.
    """
    shared = str(source / "drive_c" / "windows")

    def link_or_copy(file: str, to: str) -> None:
        if file.startswith(shared):
            os.link(file, to, follow_symlinks=False)
        else:
            shutil.copy2(file, to, follow_symlinks=False)

    shutil.copytree(source, target, symlinks=True, copy_function=link_or_copy)


def windows_path(path: Path) -> str:
    """An absolute path as programs under Wine name it: Z: is the root directory."""
    return "Z:" + str(path).replace("/", "\\")
