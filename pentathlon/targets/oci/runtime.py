"""The programs that make containers by the OCI runtime specification: runc and crun."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path, version_text

Name: TypeAlias = Literal["runc", "crun"]
NAMES: tuple[Name, ...] = ("runc", "crun")


@dataclass(frozen=True)
class Runtime:
    """One of them on this machine."""

    name: str
    path: Path
    version: str

    def record(self) -> dict[str, str]:
        """For the plan."""
        return {"name": self.name, "version": self.version, "sha256": sha256(self.path)}


def installed(name: str) -> Runtime | None:
    """A runtime, if it is installed."""
    path = on_path(name)
    return None if path is None else _looked(name, path)


@functools.cache
def _looked(name: str, path: Path) -> Runtime | None:
    text = version_text(path)
    if text is None:
        return None
    # "runc version 1.1.5+ds1", "crun version 1.8.1"
    return Runtime(name, path, text.partition("\n")[0].rpartition(" ")[2])


def find(name: Name | None) -> Runtime:
    """The runtime of that name; None: the first that is installed.

    Raises:
        TargetUnavailable: there is none.
    """
    for one in NAMES if name is None else (name,):
        if (found := installed(one)) is not None:
            return found
    which = "neither runc nor crun is" if name is None else f"{name} is not"
    raise TargetUnavailable(
        f"{which} installed, which makes containers", f"sudo apt-get install {name or NAMES[0]}"
    )
