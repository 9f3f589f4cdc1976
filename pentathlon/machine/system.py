"""What the machine and the targets need to know of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class SettingsSpec(Protocol):
    """Settings of the machine for one system."""

    def changed(self) -> dict[str, Any]:
        """The settings that the study names, by name."""


class SystemSpec(Protocol):
    """What a target needs to know of a system; `pentathlon.study.system.System` is one."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def memory(self) -> str | None: ...
    @property
    def cpus(self) -> Sequence[int] | None: ...
    @property
    def scratch(self) -> str | None: ...
    @property
    def settings(self) -> SettingsSpec: ...
