"""What a new start of a system is called: a boot; of programs on this machine a process start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

PROCESS_START = "process start"
BOOT = "boot"
LOCAL = "local"
"""The target whose systems are this machine as it is: nothing boots."""


class OfTarget(Protocol):
    """A system of a study or of a judgement."""

    @property
    def target(self) -> str: ...


def noun(systems: Iterable[OfTarget]) -> str:
    """The word for a new start of these systems; "boot" where one of them boots."""
    return PROCESS_START if all(one.target == LOCAL for one in systems) else BOOT
