"""CPU bandwidth of a control group: the `cpu` controller of cgroups(7), versions 1 and 2.

A quota is given in percent of one CPU. Version 1 writes cpu.cfs_quota_us, version 2 writes cpu.max;
both allow quota microseconds of CPU time in each period (kernel documentation, sched-bwc).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine import restore
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal

PERIOD_US = 100_000
"""Length of a period, in microseconds; the kernel's own default."""

STEP_PERCENT = 100 / PERIOD_US
"""The kernel counts a quota in whole microseconds of each period."""


@dataclass(frozen=True)
class CpuController:
    """The group under which a session's group is made, and the version of its hierarchy."""

    version: int
    parent: Path


def find(mounts: str | None = None, own: str | None = None) -> CpuController:
    """The place of a new group with a CPU quota.

    Args:
        mounts: text of /proc/self/mounts.
        own: text of /proc/self/cgroup.

    Raises:
        TargetUnavailable: there is no `cpu` controller, or this user may not make a group.
    """
    mounts = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    own = Path("/proc/self/cgroup").read_text() if own is None else own
    second: Path | None = None
    for line in mounts.splitlines():
        _, point, kind, options, *_ = line.split()
        path = Path(point.encode().decode("unicode_escape"))
        if kind == "cgroup" and "cpu" in options.split(","):
            return _writable(CpuController(1, _nearest(path, _own_path(own, "cpu"))))
        if kind == "cgroup2" and _has_cpu(path / "cgroup.controllers"):
            second = path
    if second is None:
        raise TargetUnavailable(
            "the kernel offers no cgroup `cpu` controller, so a CPU quota cannot be set",
            "sudo mount -t cgroup2 none /sys/fs/cgroup",
        )
    # A group of version 2 may hold processes only if it hands no controller on, so the new group
    # goes under the nearest ancestor that already hands `cpu` on.
    group = _nearest(second, _own_path(own, ""))
    while True:
        if _has_cpu(group / "cgroup.subtree_control"):
            return _writable(CpuController(2, group))
        if group == second:
            raise TargetUnavailable(
                "no cgroup hands the `cpu` controller on, so a CPU quota cannot be set",
                f"echo +cpu | sudo tee {second}/cgroup.subtree_control",
            )
        group = group.parent


def _has_cpu(file: Path) -> bool:
    try:
        return "cpu" in file.read_text().split()
    except OSError:
        return False


def _own_path(own: str, controller: str) -> str:
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") if controller else controllers == "":
            return path
    return "/"


def _nearest(mount: Path, path: str) -> Path:
    """The own group as it is seen under the mount; in a container it may lie outside of it."""
    group = mount / path.lstrip("/")
    return group if group.is_dir() else mount


def _writable(controller: CpuController) -> CpuController:
    if not os.access(controller.parent, os.W_OK):
        raise TargetUnavailable(
            f"this user may not make a cgroup in {controller.parent}, so a CPU quota cannot be set",
            "sudo pentathlon run STUDY",
        )
    return controller


def percent(group: Path) -> float | None:
    """The quota of a group in percent of one CPU; None: it has none, or is gone."""
    try:
        quota, period = (
            (group / "cpu.max").read_text().split()
            if (group / "cpu.max").exists()
            else [
                (group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")
            ]
        )
    except OSError:
        return None
    return None if quota in ("max", "-1") else 100 * int(quota) / int(period)


def make(controller: CpuController, percent: float, journal: UndoJournal) -> Path:
    """Make a group with a CPU quota.

    Args:
        controller: where.
        percent: CPU bandwidth in percent of one CPU.
        journal: removes the group again.

    Returns:
        The file `cgroup.procs` of the group: a process that writes 0 into it moves there.

    Raises:
        TargetUnavailable: the kernel refuses the group or the quota.
    """
    group = controller.parent / f"{restore.PREFIX}{journal.token}"
    quota = round(PERIOD_US * percent / 100)
    journal.note(restore.cgroup(group))
    try:
        group.mkdir()
        if controller.version == 1:
            (group / "cpu.cfs_period_us").write_text(f"{PERIOD_US}")
            (group / "cpu.cfs_quota_us").write_text(f"{quota}")
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
    except OSError as error:
        raise TargetUnavailable(
            f"the kernel refuses a CPU quota of {percent:g} % in {group}: {error.strerror}"
        ) from error
    return group / "cgroup.procs"
