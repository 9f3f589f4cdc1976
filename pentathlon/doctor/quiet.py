"""What would disturb a measurement on this machine, and how to stop it (`doctor --quiet-check`).

Two looks at the kernel's counters, a second apart, report load, swapping and stolen time; files and
the list of processes report the rest. What the machine lacks is `unsupported` with its reason.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine import cpu_latency, restore, sysfs
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.finding import Finding
from pentathlon.machine.sysfs import ROOT
from pentathlon.machine.undo_journal import UndoJournal

LOOK_S = 1.0
BUSY_PERCENT = 5.0
STEAL_PERCENT = 1.0
GLANCE_S = 0.2
QUIET_LOAD = 0.5
PASSING = "wait until it ends"
APPLY = "sudo pentathlon doctor --quiet-check --apply"

DAEMONS: dict[str, tuple[str, str]] = {
    "cron": ("starts programs at fixed times", "sudo systemctl stop cron"),
    "crond": ("starts programs at fixed times", "sudo systemctl stop crond"),
    "anacron": ("starts programs that were missed", "sudo systemctl stop anacron"),
    "unattended-upgr": ("updates packages", "sudo systemctl stop unattended-upgrades"),
    "packagekitd": ("looks for updates", "sudo systemctl stop packagekit"),
    "snapd": ("updates packages", "sudo systemctl stop snapd"),
    "fwupd": ("looks for firmware", "sudo systemctl stop fwupd"),
    "apt-get": ("changes packages", PASSING),
    "dpkg": ("changes packages", PASSING),
    "updatedb": ("reads every directory", PASSING),
    "tracker-miner-f": ("indexes files", "systemctl --user stop tracker-miner-fs-3"),
    "baloo_file": ("indexes files", "balooctl disable"),
    "irqbalance": ("moves interrupts between CPUs", "sudo systemctl stop irqbalance"),
    "thermald": ("changes frequencies", "sudo systemctl stop thermald"),
    "tuned": ("changes settings", "sudo systemctl stop tuned"),
    "power-profiles-": ("changes frequencies", "sudo systemctl stop power-profiles-daemon"),
}
"""Programs by the name of their process (15 letters, proc(5)): what they do, how to stop them."""

UTMP_RECORD = 384
USER_PROCESS = 7


@dataclass(frozen=True)
class _Counters:
    busy: int
    steal: int
    ticks: int
    swapped: int


def check(root: Path = ROOT, sleep: Callable[[float], None] = time.sleep) -> list[Finding]:
    """Look at everything; takes about a second and changes nothing."""
    before = _counters(root)
    sleep(LOOK_S)
    after = _counters(root)
    return [
        *_load(root, before, after),
        *_users(root),
        *_daemons(root),
        *_settings(root),
        *_interrupts(root),
        _idle_states(root),
    ]


def disturbances(root: Path = ROOT, sleep: Callable[[float], None] = time.sleep) -> list[str]:
    """What disturbs a run that is about to begin, in words; empty on a quiet machine.

    Where the load average over the last minute is up to 0.5, nothing but it and the list of
    processes is looked at; else counters show in 0.2 s whether the load is still there.
    """
    findings = [one for one in _daemons(root) if one.remedy == PASSING]
    average = _text(root / "proc/loadavg").split(" ")[0]
    try:
        loaded = float(average) > QUIET_LOAD
    except ValueError:
        loaded = False
    if loaded:
        before = _counters(root)
        sleep(GLANCE_S)
        findings += _load(root, before, _counters(root))
    return [f"{one.name}: {one.detail}" for one in findings if not one.works]


def _finding(name: str, quiet: bool, detail: str, remedy: str | None = None) -> Finding:
    return Finding("quiet", name, quiet, detail, None if quiet else remedy)


def _counters(root: Path) -> _Counters:
    words = _text(root / "proc/stat").split("\n", 1)[0].split()
    ticks = [int(word) for word in words[1:9]] + [0] * (8 - len(words[1:9]))
    swapped = 0
    for line in _text(root / "proc/vmstat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("pswpin", "pswpout"):
            swapped += int(value)
    busy = sum(ticks) - ticks[3] - ticks[4] - ticks[7]
    return _Counters(busy, ticks[7], sum(ticks), swapped)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _load(root: Path, before: _Counters, after: _Counters) -> Iterator[Finding]:
    ticks = after.ticks - before.ticks
    if ticks <= 0:
        yield _finding("load", False, "unsupported: /proc/stat counts no CPU time")
    else:
        busy = 100 * (after.busy - before.busy) / ticks
        steal = 100 * (after.steal - before.steal) / ticks
        average = _text(root / "proc/loadavg").split(" ")[0] or "unknown"
        yield _finding(
            "load",
            busy <= BUSY_PERCENT,
            f"{busy:.0f} % of all CPUs busy, average over a minute {average}",
            f"end what runs ({_busiest(root)})",
        )
        yield _finding(
            "neighbours",
            steal <= STEAL_PERCENT,
            f"{steal:.1f} % of the time went to other virtual machines",
            "move to a machine that is not shared, or measure at another time",
        )
    swapped = after.swapped - before.swapped
    yield _finding(
        "swapping",
        swapped == 0,
        f"{swapped} pages to or from the swap in {LOOK_S:g} s",
        "end what needs the memory, then: sudo swapoff -a",
    )


def _busiest(root: Path) -> str:
    """The processes that have used the most CPU time so far."""
    used: list[tuple[int, str]] = []
    for entry in (root / "proc").glob("[0-9]*"):
        text = _text(entry / "stat")
        name, end = text[text.find("(") + 1 : text.rfind(")")], text[text.rfind(")") + 2 :].split()
        if len(end) > 12 and entry.name != str(os.getpid()):
            used.append((int(end[11]) + int(end[12]), f"{name} {entry.name}"))
    return ", ".join(name for _, name in sorted(used, reverse=True)[:3]) or "see top(1)"


def _users(root: Path) -> Iterator[Finding]:
    path = root / "run/utmp"
    try:
        data = path.read_bytes()
    except OSError:
        yield _finding("users", True, f"{path} is not there: no user is logged in by a terminal")
        return
    count = sum(
        struct.unpack_from("<h", data, at)[0] == USER_PROCESS
        for at in range(0, len(data) - UTMP_RECORD + 1, UTMP_RECORD)
    )
    yield _finding(
        "users",
        count <= 1,
        f"{count} logged in by a terminal",
        "ask the others to log out, see who(1)",
    )


def _daemons(root: Path) -> Iterator[Finding]:
    running = {_text(path).strip() for path in (root / "proc").glob("[0-9]*/comm")}
    found = [name for name in DAEMONS if name in running]
    if not found:
        yield _finding("background", True, "none of the usual programs that start by themselves")
    for name in found:
        does, stop = DAEMONS[name]
        yield _finding(f"background {name}", False, does, stop)
    if "systemd" in _text(root / "proc/1/comm"):
        yield _finding(
            "timers",
            False,
            "systemd starts programs by timers",
            "systemctl list-timers shows them; stop one with: sudo systemctl stop NAME.timer",
        )


def _settings(root: Path) -> Iterator[Finding]:
    for key, wanted in sysfs.QUIET.items():
        now = sysfs.present(key, root)
        try:
            files = sysfs.writes(key, wanted, root)
        except TargetUnavailable as error:
            yield _finding(key, False, f"unsupported: {error.reason}")
            continue
        quiet = all(restore.current(file) == value for file, value in files)
        yield _finding(key, quiet, f"is {now}", APPLY)
    now = sysfs.present("transparent_hugepage", root)
    if now is None:
        yield _finding("transparent_hugepage", False, "unsupported: this kernel has none")
    else:
        # Huge pages are made by a thread of the kernel, at times of its own choice.
        yield _finding("transparent_hugepage", now != "always", f"is {now}", APPLY)


def _interrupts(root: Path) -> Iterator[Finding]:
    cpus = sorted(os.sched_getaffinity(0))
    measuring = cpus[-1]
    here = []
    for file in (root / "proc/irq").glob("[0-9]*/effective_affinity_list"):
        if str(measuring) in _text(file).strip().split(","):
            here.append(file.parent.name)
    if not list((root / "proc/irq").glob("[0-9]*")):
        yield _finding("irq_affinity", False, "unsupported: /proc/irq lists no interrupt")
        return
    yield _finding(
        "irq_affinity",
        not here,
        f"{len(here)} interrupts may be served by CPU {measuring}, which measures by default",
        APPLY if len(cpus) > 1 else None,
    )


def _idle_states(root: Path) -> Finding:
    device = root / str(cpu_latency.DEVICE).lstrip("/")
    reason = cpu_latency.lack(device)
    return _finding(
        "idle_states",
        reason is None,
        f"the CPUs may become idle between batches that take turns, because {reason}"
        if reason
        else "a run keeps the CPUs awake while systems take turns",
        f"sudo setfacl -m u:$USER:rw {cpu_latency.DEVICE}" if device.exists() else None,
    )


def apply(state_dir: Path, root: Path = ROOT) -> list[str]:
    """Set governor, turbo, ASLR, huge pages and the interrupts' CPUs for a measurement.

    Every change is in the undo journal before it is made. The changes stay when this returns, until
    `doctor --restore` or the next boot of the machine; those of a call that was killed are put back
    by the next start.

    Returns:
        One sentence for each thing that was changed, or why it was not.
    """
    wanted = dict(sysfs.QUIET) | {"transparent_hugepage": "madvise"}
    rest = sorted(os.sched_getaffinity(0))[:-1]
    if rest:
        wanted["irq_affinity"] = rest
    sentences = []
    journal = UndoJournal(state_dir)
    try:
        for key, value in wanted.items():
            sentences += _apply_one(key, value, journal, root)
    except BaseException:
        journal.undo()
        raise
    journal.keep()
    return sentences


def _apply_one(key: str, value: object, journal: UndoJournal, root: Path) -> list[str]:
    try:
        files = sysfs.writes(key, value, root)
    except TargetUnavailable as error:
        return [f"{key}: unsupported: {error.reason}"]
    changed, refused = 0, ""
    for file, text in files:
        now = restore.current(file)
        if now == text:
            continue
        journal.note(restore.setting(file, now, text))
        try:
            file.write_text(text)
        except OSError as error:
            refused = f"{file}: {error.strerror}"
        else:
            changed += 1
    if refused and not changed:
        return [f"{key}: not changed ({refused})"]
    if not changed:
        return [f"{key}: was right already"]
    number = f" ({changed} files)" if changed > 1 else ""
    return [f"{key}: set{number}; pentathlon doctor --restore puts it back"]
