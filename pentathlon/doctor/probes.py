"""Look at the machine: settings, programs and files that targets need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pentathlon.machine import cgroup, packages, restore, settings
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.finding import Finding, tried
from pentathlon.machine.network_namespace import probe
from pentathlon.machine.tools import on_path
from pentathlon.targets import registry
from pentathlon.testbed.link.netem_engine import lacking as netem_lacking

PROGRAMS: dict[str, tuple[str, str]] = {
    "setpriv": ("util-linux", "ending systems when this program is killed"),
    "smbd": ("samba", "files.* over SMB"),
    "smbclient": ("smbclient python3-samba", "files.* over SMB"),
}
"""Programs of the system that no kind of target names, the Debian packages that have them, and what
needs them."""


def programs() -> dict[str, tuple[str, str]]:
    """As `PROGRAMS`, with those that the kinds of targets need."""
    found: dict[str, tuple[str, list[str], list[str]]] = {}
    for kind in registry.kinds():
        for program in kind.programs:
            _, kinds, uses = found.setdefault(program.name, (program.package, [], []))
            if program.use is None:
                kinds.append(kind.name)
            else:
                uses.append(program.use)
    needed = {}
    for name, (package, kinds, uses) in found.items():
        *first, last = kinds or [""]
        both = f"targets of the kinds {', '.join(first)} and {last}"
        users = [both if first else f"targets of the kind {last}"] if kinds else []
        needed[name] = (package, ", ".join([*users, *uses]))
    return needed | PROGRAMS


def machine_settings() -> Iterator[Finding]:
    """Which settings of the machine this user may change."""
    root = os.geteuid() == 0
    again = "sudo pentathlon run STUDY"
    text = "this user is root" if root else "settings of the machine need root"
    yield Finding("setting", "root", root, text, None if root else again)
    for name, file in settings.FILES.items():
        if not file.exists():
            yield Finding("setting", name, False, f"this kernel has no {file}")
        elif os.access(file, os.W_OK):
            yield Finding("setting", name, True, f"{file} is {restore.current(file)}")
        else:
            yield Finding("setting", name, False, f"this user may not write {file}", again)
    yield tried("setting", "cpu_quota_percent", _cgroup)
    reason = settings.refused("fifo", 1, None)
    text = reason or "real-time policies may be set"
    yield Finding("setting", "scheduler", reason is None, text, None if reason is None else again)


def _cgroup() -> str:
    place = cgroup.find()
    return f"cgroup version {place.version} in {place.parent}"


def helpers() -> Iterator[Finding]:
    """Programs and files that targets need."""
    for program, (package, use) in programs().items():
        path = on_path(program)
        text = f"{path}" if path else f"is missing; needed for {use}"
        remedy = None if path else f"sudo apt-get install {package}"
        yield Finding("helper", program, path is not None, text, remedy)
    for kind in registry.kinds():
        yield from kind.look().helpers()
    yield tried("helper", "package mirror", packages.mirror)
    yield _counters()
    yield _links()
    if os.geteuid() == 0:
        yield _netem()


def _netem() -> Finding:
    name = "links by netem"
    try:
        lack = netem_lacking()
    except TargetUnavailable as error:
        return Finding("helper", name, False, error.reason, error.remedy)
    if lack is None:
        return Finding("helper", name, True, 'link_engine = "netem"')
    other = 'link_engine = "netem-uml", or sudo modprobe sch_netem'
    return Finding("helper", name, False, lack, other)


def _links() -> Finding:
    name = "emulated links"
    if os.geteuid() != 0:
        why = "packet rings (packet(7)) between namespaces need root"
        return Finding("helper", name, False, why, "sudo pentathlon run STUDY")
    try:
        probe()
    except TargetError as error:
        return Finding("helper", name, False, str(error))
    return Finding("helper", name, True, "by the agent; pentathlon link calibrate all")


def _counters() -> Finding:
    """Hardware counters: the kernel lists a processor's unit as an event source, see sysfs(5)."""
    name = "hardware performance counters"
    units = [
        path.name
        for path in sorted(Path("/sys/bus/event_source/devices").glob("*"))
        if path.name == "cpu" or path.name.startswith(("cpu_", "armv"))
    ]
    if not units:
        return Finding("helper", name, False, "the kernel finds no counters (a virtual machine?)")
    level = Path("/proc/sys/kernel/perf_event_paranoid")
    if os.geteuid() != 0 and level.exists() and int(level.read_text()) > 2:
        why = f"{level} forbids them to this user"
        return Finding("helper", name, False, why, "sudo sysctl kernel.perf_event_paranoid=2")
    return Finding("helper", name, True, ", ".join(units))
