"""A system of which nothing is said but its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NoSettings:
    """Settings of a machine that nobody changes."""

    def changed(self) -> dict[str, str | int | float]:
        """None."""
        return {}


@dataclass(frozen=True)
class PlainSystem:
    """A system with nothing but its kind (`SystemSpec`): for a trial boot, or as a tool."""

    name: str
    target: str
    kernel: str | None = None
    memory: str | None = None
    cpus: Sequence[int] | None = None
    scratch: str | None = None
    settings: NoSettings = NoSettings()
