"""What may be set on this machine: each setting's present value, what it may be, what it needs.

Nothing is changed to find out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine import cgroup, restore, sysfs
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.settings import KNOWN, POLICIES, REALTIME, refused, scheduler_of

ROOT_RIGHTS = "root"
NICEST = -20


@dataclass(frozen=True)
class Choice:
    """One setting.

    Attributes:
        key: as a study's `settings` have it.
        present: its value now; None: the machine lacks it, or it has no single one.
        allowed: its values, in words.
        values: its values where there are few of them, as TOML writes them.
        needs: rights that it takes; "" for those of any user.
        possible: whether it can be set here and now.
        reason: why not; "" where it can.
    """

    key: str
    present: str | None
    allowed: str
    values: tuple[str, ...] = ()
    needs: str = ""
    possible: bool = True
    reason: str = ""


def choices() -> list[Choice]:
    """Every setting of this machine, in the order of `settings.KNOWN`."""
    own = {one.key: one for one in (*by_file(sysfs.ROOT), _quota(), *by_process())}
    return [own[key] for key in KNOWN]


def by_file(root: Path) -> list[Choice]:
    """The settings that are kernel files, read below a directory."""
    return [_sysctl(root) if key == "sysctl" else _of_files(key, root) for key in sysfs.KNOWN]


def by_process() -> list[Choice]:
    """The settings that a process makes for itself."""
    return [_scheduler(), _nice()]


def _of_files(key: str, root: Path) -> Choice:
    """A setting that is one kernel file, or several alike."""
    values = _words(key, root)
    now = _now(key, root)
    allowed = ", ".join(values) if values else _RANGES.get(key, "")
    lacks = _lack(key, values, now, root)
    if lacks is not None:
        return Choice(key, None, allowed, values, ROOT_RIGHTS, possible=False, reason=lacks)
    files = [file for file, _ in sysfs.writes(key, _sample(key, values, now, root), root)]
    closed = next((file for file in files if not os.access(file, os.W_OK)), None)
    reason = "" if closed is None else f"this user may not write {closed}"
    return Choice(key, now, allowed, values, ROOT_RIGHTS, possible=not reason, reason=reason)


def _now(key: str, root: Path) -> str | None:
    """The present value, or values where files differ; None where there is none to read."""
    if key in sysfs.SINGLE or key in ("governor", "turbo"):
        return sysfs.present(key, root)
    try:
        files = sysfs.writes(key, _sample(key, (), None, root), root)
        return ", ".join(dict.fromkeys(restore.current(file) for file, _ in files)) or None
    except (OSError, ValueError, TargetUnavailable):
        return None


def _lack(key: str, values: tuple[str, ...], now: str | None, root: Path) -> str | None:
    """Why the machine does not have a setting, or None."""
    try:
        sysfs.writes(key, _sample(key, values, now, root), root)
    except TargetUnavailable as error:
        return error.reason
    except (OSError, ValueError) as error:
        return str(error)
    return None


def _sample(key: str, values: tuple[str, ...], now: str | None, root: Path) -> object:
    """A value of the setting that the machine takes, if it takes any."""
    if key in ("turbo", "smt"):
        return True
    if key == "irq_affinity":
        return [0]
    if key == "governor":
        return values[0] if values else "performance"
    return now if now is not None else (values[0] if values else "0")


def _words(key: str, root: Path) -> tuple[str, ...]:
    """The values of a setting of which there are few."""
    if key in ("turbo", "smt"):
        return ("true", "false")
    if key == "aslr":
        return ("0", "1", "2")
    try:
        if key in sysfs.WORDS:
            text = (root / sysfs.SINGLE[key]).read_text()
            return tuple(text.replace("[", "").replace("]", "").split())
        if key == "tcp_congestion_control":
            file = (root / sysfs.SINGLE[key]).with_name("tcp_available_congestion_control")
            return tuple(file.read_text().split())
        if key == "governor":
            pattern = "cpu[0-9]*/cpufreq/scaling_available_governors"
            first = next(iter(sorted((root / sysfs.CPUS).glob(pattern))), None)
            return () if first is None else tuple(first.read_text().split())
    except OSError:
        pass
    return ()


_RANGES = {
    "swappiness": "0 to 200",
    "irq_affinity": "a list of CPUs",
    "governor": "a governor of cpufreq",
}


def _quota() -> Choice:
    count = os.cpu_count() or 1
    allowed = f"above 0, up to {100 * count} (percent of one CPU)"
    reason = ""
    try:
        cgroup.find()
    except TargetUnavailable as error:
        reason = error.reason
    return Choice("cpu_quota_percent", None, allowed, (), "root, cgroup with cpu controller",
                  possible=not reason, reason=reason)  # fmt: skip


def _scheduler() -> Choice:
    plain = [name for name in POLICIES if name not in REALTIME]
    allowed = ", ".join([*plain, *(f"{name}:1 to {name}:99" for name in REALTIME)])
    denied = refused("fifo", 1, None)
    reason = "" if denied is None else "not fifo and rr for this user"
    needs = "root or CAP_SYS_NICE for fifo and rr"
    return Choice("scheduler", scheduler_of(0), allowed, tuple(plain), needs, reason=reason)


def _nice() -> Choice:
    now = os.getpriority(os.PRIO_PROCESS, 0)
    denied = refused(None, 0, NICEST)
    reason = "" if denied is None else f"not below {now} for this user"
    needs = "root or CAP_SYS_NICE for less than now"
    return Choice("nice", str(now), "-20 to 19", (), needs, reason=reason)


def _sysctl(root: Path) -> Choice:
    folder = Path("/proc/sys")
    closed = root == sysfs.ROOT and not os.access(folder / "vm/swappiness", os.W_OK)
    reason = "this user may not write it" if closed else ""
    allowed = f"any file below {folder}, by its name in sysctl(8)"
    return Choice("sysctl", None, allowed, (), ROOT_RIGHTS, possible=not reason, reason=reason)
