"""Settings of one system (`[system.settings]`), and the scheduling policies among them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import (
    Field,
    field_validator,
)

from pentathlon.study.sysctl import Sysctl
from pentathlon.study.table import Table

Policy: TypeAlias = Literal["other", "batch", "idle", "fifo", "rr"]
"""Linux scheduling policies, as sched(7) names them."""

REALTIME_POLICIES: frozenset[str] = frozenset({"fifo", "rr"})


class Settings(Table):
    """Settings of the machine that are changed for one system and put back afterwards."""

    transparent_hugepage: Literal["always", "madvise", "never"] | None = None
    """Value of /sys/kernel/mm/transparent_hugepage/enabled."""
    transparent_hugepage_defrag: (
        Literal["always", "defer", "defer+madvise", "madvise", "never"] | None
    ) = None
    """Value of /sys/kernel/mm/transparent_hugepage/defrag."""
    aslr: Literal[0, 1, 2] | None = None
    """Address space randomisation, /proc/sys/kernel/randomize_va_space."""
    swappiness: int | None = Field(default=None, ge=0, le=200)
    """/proc/sys/vm/swappiness."""
    governor: str | None = Field(default=None, pattern=r"^[a-z_]+$")
    """cpufreq governor of every CPU."""
    turbo: bool | None = None
    """Whether the processor may use its turbo frequencies."""
    irq_affinity: tuple[int, ...] | None = None
    """CPUs that serve interrupts, negative ones counted from the last."""
    tcp_congestion_control: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    """`local`: of the machine; `netns`: of the system's own network namespace."""
    smt: bool | None = None
    """Whether the processor's cores run several hardware threads (smt/control)."""
    sysctl: Sysctl | None = None
    """Other files of /proc/sys by the names that sysctl(8) has for them, and their values."""
    cpu_quota_percent: float | None = Field(default=None, gt=0, le=100_000)
    """CPU bandwidth of the cgroup, in percent of one CPU (100 = one whole CPU)."""
    scheduler: str | None = None
    """Scheduling policy, `other`, `batch`, `idle`, `fifo:PRIORITY` or `rr:PRIORITY` (1 to 99)."""
    nice: int | None = Field(default=None, ge=-20, le=19)
    """Nice value, setpriority(2)."""
    power_plan: str | None = Field(
        default=None,
        pattern=r"^(balanced|high_performance|power_saver|ultimate_performance"
        r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
    )
    """Windows: the power plan, one that Windows comes with or the GUID of another one."""
    core_parking: int | None = Field(default=None, ge=0, le=100)
    """Windows: least share of cores that are not parked, in percent (100: none is parked)."""
    defender: Literal["on", "off", "excluded"] | None = None
    """Windows: real-time protection of Defender, or without the session's own directory."""

    @field_validator("irq_affinity", mode="before")
    @classmethod
    def _irq_affinity(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the CPU set is empty; name at least one CPU, or leave the key out")
        return tuple(value) if isinstance(value, list) else value

    @field_validator("scheduler")
    @classmethod
    def _scheduler(cls, text: str | None) -> str | None:
        if text is not None:
            parse_scheduler(text)
        return text

    def changed(self) -> dict[str, Any]:
        """The settings that are named in the file, in the order of the model."""
        return self.model_dump(exclude_none=True)

    def plain(self) -> dict[str, bool | int | float | str]:
        """The same with a single value each: lists as text, variables of sysctl(8) by name."""
        found: dict[str, bool | int | float | str] = {}
        for key, value in self.changed().items():
            if isinstance(value, dict):
                found |= {f"{key}.{name}": one for name, one in value.items()}
            else:
                found[key] = ",".join(map(str, value)) if isinstance(value, tuple) else value
        return found


def parse_scheduler(text: str) -> tuple[Policy, int]:
    """Policy and priority of a `scheduler` setting; the priority is 0 where sched(7) has none.

    Raises:
        ValueError: the text names no policy, or the priority is missing, superfluous or not 1-99.
    """
    policy, colon, priority = text.partition(":")
    policies: tuple[Policy, ...] = ("other", "batch", "idle", "fifo", "rr")
    for known in policies:
        if known != policy:
            continue
        if known not in REALTIME_POLICIES:
            if colon:
                raise ValueError(f'"{known}" takes no priority; write "{known}"')
            return known, 0
        if not priority.isascii() or not priority.isdigit() or not 1 <= int(priority) <= 99:
            raise ValueError(f'"{known}" needs a priority from 1 to 99, such as "{known}:10"')
        return known, int(priority)
    raise ValueError(
        f'"{policy}" is no scheduling policy; use "other", "batch", "idle", "fifo:10" or "rr:10"'
    )
