"""What commands find on a guest beside their own files: a root directory of this machine or out of
an image, only for reading, or nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.images import store
from pentathlon.images.reference import Reference, parse
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


@dataclass(frozen=True)
class Userland:
    """A user land as a system names it.

    Attributes:
        named: a directory, or the image that it is unpacked from.
    """

    named: Path | Reference

    def root(self) -> Path:
        """Its root directory on this machine; an image is unpacked, if it is not yet.

        Raises:
            TargetUnavailable: it is not there, or cannot be unpacked.
        """
        return self.named if isinstance(self.named, Path) else store.unpacked(self.named)

    def check(self) -> Path:
        """Its root directory, as one that can be the root of a guest.

        Raises:
            TargetUnavailable: it is not there, or lacks a directory.
        """
        root = self.root()
        if not root.is_dir():
            raise TargetUnavailable(f"the userland {root} is no directory of this machine")
        if lacks := [name for name in NEEDED if not (root / name).is_dir()]:
            raise TargetUnavailable(
                f"the userland {root} is no root directory: it lacks the directory {lacks[0]}",
                f"mkdir {root / lacks[0]}",
            )
        return root

    def plain(self, what: str) -> None:
        """That its path can be given to a guest on the command line of its kernel.

        Raises:
            TargetError: it cannot.
        """
        place = self.named if isinstance(self.named, Path) else store.directory()
        if re.search(r"[\s,\"']", str(place)):
            raise TargetError(
                f'the path of the userland "{place}" has a blank, a comma or a quotation mark, '
                f"which {what} cannot have"
            )


def of(system: SystemSpec) -> Userland | None:
    """The system's user land; None: it has none."""
    named: str | None = getattr(system, "userland", None)
    if named is None:
        return None
    return Userland(Path("/") if named == HOST else parse(named) or Path(named))


def check(land: Userland | None) -> Path | None:
    """The root directory of a user land, if there is one (`Userland.check`)."""
    return None if land is None else land.check()


def plain(land: Userland | None, what: str) -> None:
    """That a user land can be given to a guest, if there is one (`Userland.plain`)."""
    if land is not None:
        land.plain(what)


def described(land: Userland | None) -> dict[str, Any]:
    """The user land as part of a target's options: a directory, or an image with its digest; empty
    without one."""
    if land is None:
        return {}
    if isinstance(land.named, Path):
        return {"userland": os.fspath(land.named)}
    return {"userland": store.known(land.named)}


def in_words(description: Mapping[str, Any]) -> str:
    """The user land of a target's description, for people; "" without one."""
    found = description.get("options", {}).get("userland")
    if not found:
        return ""
    if isinstance(found, str):
        return "that of this machine" if found == "/" else found
    digest = found.get("digest")
    return f"{found['image']} ({digest})" if digest else str(found["image"])
