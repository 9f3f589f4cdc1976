"""Settings of this machine that a system may change which is the machine itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypedDict

from pentathlon.machine import cgroup, cpus, restore, sysfs
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.tools import run
from pentathlon.machine.undo_journal import UndoJournal

THP = Path("/sys/kernel/mm/transparent_hugepage")

FILES: dict[str, Path] = {
    "transparent_hugepage": THP / "enabled",
    "transparent_hugepage_defrag": THP / "defrag",
}
"""Settings that are one kernel file, which holds a list of words with the present one bracketed."""

TCP_CONGESTION_CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")
TCP_ALLOWED = TCP_CONGESTION_CONTROL.with_name("tcp_allowed_congestion_control")

OWN_NETWORK = ("tcp_congestion_control",)
"""Settings of a network namespace: a system that has its own gets them there."""

KNOWN = (*sysfs.KNOWN, "cpu_quota_percent", "scheduler", "nice")

REALTIME = ("fifo", "rr")
POLICIES = ("other", "batch", "idle", *REALTIME)


Change = TypedDict("Change", {"what": str, "from": str, "to": str})
"""A setting of the machine that a boot changes: its value now and then."""


class Placing(TypedDict):
    """Where and with which priority an agent runs its workloads; None: as it is."""

    cpus: list[int] | None
    policy: str | None
    priority: int | None
    nice: int | None


class MachineSettings:
    """The settings of one system: what they change, whether they can, and how.

    Args:
        own_network: whether the system has a network namespace of its own.
        besides: settings that somebody else makes.

    Raises:
        TargetError: a setting that this kind of target does not have, or a scheduler that is none.
    """

    def __init__(
        self, system: SystemSpec, *, own_network: bool = False, besides: Collection[str] = ()
    ) -> None:
        self._name = system.name
        self.own_network = own_network
        named = system.settings.changed()
        self._values = {key: value for key, value in named.items() if key not in besides}
        self._cpus = cpus.resolve(system.cpus)
        for key in self._values:
            if key not in KNOWN:
                raise TargetError(
                    f'system "{system.name}" has the setting "{key}", which the target '
                    f'"{system.target}" does not know; use {", ".join(KNOWN)}'
                )
        self._policy, self._priority = self._scheduler()

    def _scheduler(self) -> tuple[str | None, int | None]:
        text = self._values.get("scheduler")
        if text is None:
            return None, None
        policy, _, priority = str(text).partition(":")
        needs = policy in REALTIME
        if policy not in POLICIES or needs != bool(priority) or (needs and not priority.isdigit()):
            raise TargetError(
                f'system "{self._name}" has the scheduler "{text}"; '
                'use "other", "batch", "idle", "fifo:10" or "rr:10"'
            )
        if needs and "cpu_quota_percent" in self._values:
            raise TargetError(
                f'system "{self._name}" has a CPU quota and the real-time scheduler "{text}", but '
                "the kernel's quota holds for ordinary policies only; leave one of the two out"
            )
        return policy, int(priority) if needs else 0

    @property
    def nice(self) -> int | None:
        """The nice value that the study names."""
        value = self._values.get("nice")
        return None if value is None else int(value)

    def placement(self) -> Placing:
        """The request's `placement`: what the agent applies to itself, and needs no undoing."""
        return Placing(
            cpus=list(self._cpus) if self._cpus is not None else None,
            policy=self._policy,
            priority=self._priority,
            nice=self.nice,
        )

    def changes(self) -> list[Change]:
        """Settings of the machine that a boot changes."""
        found: list[Change] = []
        for key in self._keys_of_files():
            try:
                files = sysfs.writes(key, self._values[key])
            except TargetUnavailable:
                wanted = str(self._values[key])
                found.append({"what": key, "from": "not on this machine", "to": wanted})
                continue
            for file, value in files:
                try:
                    now = restore.current(file)
                except OSError:
                    now = "unknown"
                if now != value:
                    found.append({"what": f"{key} ({file})", "from": now, "to": value})
        if (percent := self._values.get("cpu_quota_percent")) is not None:
            found.append(
                {
                    "what": "CPU quota of a new cgroup",
                    "from": "no group",
                    "to": f"{percent:g} % of one CPU",
                }
            )
        return found

    def _keys_of_files(self) -> list[str]:
        """The settings that are files of the machine, in a fixed order."""
        own = OWN_NETWORK if self.own_network else ()
        return [key for key in sysfs.KNOWN if key in self._values and key not in own]

    @property
    def whole_machine(self) -> bool:
        """Whether a setting is named that holds for everything that runs on this machine."""
        return bool(self._keys_of_files())

    @property
    def congestion_control(self) -> str | None:
        """TCP's congestion control of the system's own network namespace, if it has one."""
        value = self._values.get("tcp_congestion_control")
        return str(value) if value is not None and self.own_network else None

    def privileges(self) -> list[str]:
        """What the settings need beyond an ordinary user."""
        needs = []
        for key in self._keys_of_files():
            what = f"/{sysfs.SINGLE[key]}" if key in sysfs.SINGLE else f"the files of {key}"
            needs.append(f"write access to {what} (root)")
        if "cpu_quota_percent" in self._values:
            needs.append("a writable cgroup with the `cpu` controller (root)")
        if self._policy in REALTIME:
            needs.append("CAP_SYS_NICE or RLIMIT_RTPRIO for a real-time scheduler")
        nice, now = self._values.get("nice"), os.getpriority(os.PRIO_PROCESS, 0)
        if nice is not None and nice < now:
            needs.append(
                f"CAP_SYS_NICE or RLIMIT_NICE for a nice value below {now}, this process's"
            )
        return needs

    def check(self) -> None:
        """Say whether every setting can be made here; change nothing.

        Raises:
            TargetUnavailable: one cannot.
        """
        for key in self._keys_of_files():
            for file, value in sysfs.writes(key, self._values[key]):
                if restore.current(file) != value and not os.access(file, os.W_OK):
                    raise TargetUnavailable(
                        f"this user may not write {file}, so {key} cannot be set",
                        "sudo pentathlon run STUDY",
                    )
        if self.congestion_control is not None:
            sysfs.writes("tcp_congestion_control", self.congestion_control)
        if "cpu_quota_percent" in self._values:
            cgroup.find()
        cpus.check(self._cpus)
        reason = refused(self._policy, self._priority or 0, self._values.get("nice"))
        if reason is not None:
            raise TargetUnavailable(reason, "sudo pentathlon run STUDY")

    def apply(self, journal: UndoJournal) -> Path | None:
        """Change the machine; every change is in the journal before it is made.

        Returns:
            The `cgroup.procs` file that the system has to enter, if there is a quota.

        Raises:
            TargetUnavailable: the kernel refuses a setting.
        """
        for key in self._keys_of_files():
            for file, value in sysfs.writes(key, self._values[key]):
                now = restore.current(file)
                if now == value:
                    continue
                journal.note(restore.setting(file, now, value))
                try:
                    file.write_text(value)
                except OSError as error:
                    if key in sysfs.PARTIAL:
                        continue
                    raise TargetUnavailable(
                        f"the kernel refuses {value} for {key} ({file}): {error.strerror}"
                    ) from error
                if (reads := restore.current(file)) != value and key not in sysfs.PARTIAL:
                    raise TargetUnavailable(
                        f"{file} reads {reads} after {value} was written, so {key} cannot be set"
                    )
        percent = self._values.get("cpu_quota_percent")
        if percent is None:
            return None
        return cgroup.make(cgroup.find(), float(percent), journal)

    def place(self, pid: int) -> None:
        """Give a process of this machine the policy and the nice value, from outside.

        Raises:
            TargetUnavailable: this user may not set them.
        """
        try:
            if self._policy is not None:
                policy = getattr(os, f"SCHED_{self._policy.upper()}")
                os.sched_setscheduler(pid, policy, os.sched_param(self._priority or 0))
            if self.nice is not None:
                os.setpriority(os.PRIO_PROCESS, pid, self.nice)
        except ProcessLookupError:
            return  # It has ended already; who waits for its first event hears why.
        except PermissionError as error:
            raise TargetUnavailable(
                f'this user may not give system "{self._name}" its scheduler and nice value '
                f"({error.strerror})",
                "sudo pentathlon run STUDY",
            ) from error

    def present(self, pid: int, group: Path | None) -> dict[str, Any]:
        """What the settings that are files of the machine read now, and the quota of a process.

        Args:
            pid: the process.
            group: the `cgroup.procs` file that it was to enter; None: there is no quota.
        """
        found: dict[str, Any] = {}
        for key in self._keys_of_files():
            reads = dict.fromkeys(
                restore.current(file) for file, _ in sysfs.writes(key, self._values[key])
            )
            found[key] = ", ".join(reads)
        if group is not None:
            inside = str(pid) in group.read_text().split()
            found["cpu_quota_percent"] = cgroup.percent(group.parent) if inside else None
        return found

    def agrees(self, key: str, reads: Any) -> bool:
        """Whether what was read of a host is what a setting requests."""
        if key in self._keys_of_files():
            # Some interrupts cannot be moved.
            wanted = dict.fromkeys(value for _, value in sysfs.writes(key, self._values[key]))
            return key in sysfs.PARTIAL or reads == ", ".join(wanted)
        if key == "cpu_quota_percent":
            return reads is not None and abs(reads - self._values[key]) < cgroup.STEP_PERCENT
        if key == "scheduler":
            priority = f":{self._priority}" if self._policy in REALTIME else ""
            return bool(reads == f"{self._policy}{priority}")
        return bool(reads == self._values[key])

    def describe(self) -> dict[str, Any]:
        """The settings as JSON data."""
        return {"settings": self._values, "cpus": list(self._cpus) if self._cpus else None}


def scheduler_of(pid: int) -> str:
    """The policy of a process as a study has it, such as "other" or "fifo:10"."""
    number = os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
    names = {getattr(os, f"SCHED_{name.upper()}"): name for name in POLICIES}
    name = names.get(number, f"policy {number}")
    return f"{name}:{os.sched_getparam(pid).sched_priority}" if name in REALTIME else name


def refused(policy: str | None, priority: int, nice: int | None) -> str | None:
    """Why this user may not set a policy or a nice value, or None if he may.

    They are set in a child that does nothing else, so that this process stays as it is.
    """
    lines = ["import os"]
    if policy:
        known = f"os.SCHED_{policy.upper()}"
        lines.append(f"os.sched_setscheduler(0, {known}, os.sched_param({priority}))")
    if nice is not None:
        lines.append(f"os.setpriority(os.PRIO_PROCESS, 0, {int(nice)})")
    if len(lines) == 1:
        return None
    command = [sys.executable, "-I", "-S", "-c", "\n".join(lines)]
    done = run(command, None)
    if not done.returncode:
        return None
    reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    wanted = [f"the scheduler {policy}:{priority}"] if policy else []
    wanted += [f"the nice value {nice}"] if nice is not None else []
    return f"this user may not set {' and '.join(wanted)} ({reason})"
