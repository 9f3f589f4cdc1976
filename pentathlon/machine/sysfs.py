"""Settings of the machine that are kernel files: which files, and what is written into them.

A setting may be several files (one governor for each CPU, one affinity for each interrupt). What
this machine lacks is said with its reason, and nothing is written then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pentathlon.machine.cpus import resolve
from pentathlon.machine.errors import TargetUnavailable

ROOT = Path("/")

SINGLE: dict[str, str] = {
    "transparent_hugepage": "sys/kernel/mm/transparent_hugepage/enabled",
    "transparent_hugepage_defrag": "sys/kernel/mm/transparent_hugepage/defrag",
    "aslr": "proc/sys/kernel/randomize_va_space",
    "swappiness": "proc/sys/vm/swappiness",
    "tcp_congestion_control": "proc/sys/net/ipv4/tcp_congestion_control",
}
"""Settings that are one file, and the value itself is written."""

WORDS = frozenset({"transparent_hugepage", "transparent_hugepage_defrag"})
"""Those whose file lists what it knows, the present word in brackets."""

CPUS = "sys/devices/system/cpu"
NO_TURBO = f"{CPUS}/intel_pstate/no_turbo"
BOOST = f"{CPUS}/cpufreq/boost"

PARTIAL = frozenset({"irq_affinity"})
"""Settings of many files some of which may refuse."""

SMT = f"{CPUS}/smt/control"

KNOWN = (*SINGLE, "smt", "governor", "turbo", "irq_affinity", "sysctl")

Writes = list[tuple[Path, str]]


def writes(key: str, value: Any, root: Path = ROOT) -> Writes:
    """The files of a setting and what is to be written into each.

    Args:
        key: one of `KNOWN`.
        value: as the study file has it.
        root: where the system's files lie.

    Raises:
        TargetUnavailable: this machine does not have the setting, or not that value.
    """
    match key:
        case "governor":
            return [(file, str(value)) for file in _governors(str(value), root)]
        case "turbo":
            return [_turbo(bool(value), root)]
        case "irq_affinity":
            return _interrupts(value, root)
        case "smt":
            return [_smt(bool(value), root)]
        case "sysctl":
            return [_sysctl(name, one, root) for name, one in dict(value).items()]
    file = root / SINGLE[key]
    if not file.exists():
        raise TargetUnavailable(f"this kernel has no {file}, so {key} cannot be set")
    if key in WORDS:
        words = file.read_text().replace("[", "").replace("]", "").split()
        if value not in words:
            raise TargetUnavailable(f"{file} knows {', '.join(words)}, so {key} cannot be {value}")
    if key == "tcp_congestion_control":
        known = (file.parent / "tcp_available_congestion_control").read_text().split()
        if value not in known:
            raise TargetUnavailable(f"this kernel has {', '.join(known)}, and no {value}")
    return [(file, str(value))]


def _governors(wanted: str, root: Path) -> list[Path]:
    files = sorted((root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    if not files:
        raise TargetUnavailable(
            "the kernel does not set this machine's frequency (no cpufreq; a virtual machine?), so "
            "there is no governor"
        )
    known = (files[0].parent / "scaling_available_governors").read_text().split()
    if wanted not in known:
        raise TargetUnavailable(f"the governors are {', '.join(known)}, and not {wanted}")
    return files


def _turbo(wanted: bool, root: Path) -> tuple[Path, str]:
    if (root / NO_TURBO).exists():
        return root / NO_TURBO, str(int(not wanted))
    if (root / BOOST).exists():
        return root / BOOST, str(int(wanted))
    raise TargetUnavailable(
        "the kernel does not switch this machine's turbo frequencies (neither intel_pstate nor "
        "cpufreq/boost is there)"
    )


def _smt(wanted: bool, root: Path) -> tuple[Path, str]:
    file = root / SMT
    now = file.read_text().strip() if file.exists() else "not there"
    if now not in ("on", "off"):
        raise TargetUnavailable(
            f"the kernel does not switch this machine's hardware threads ({file} is {now}), so smt "
            "cannot be set"
        )
    return file, "on" if wanted else "off"


def sysctl_file(name: str) -> str:
    """The file of a name, without the root directory; of `.` and `/` the first one in the name
    separates, as sysctl(8) has it.
    """
    separator = "/" if "/" in name and "." not in name.partition("/")[0] else "."
    parts = name.split(separator)
    return "/".join(["proc/sys", *(part.replace("/", ".") for part in parts)])


def _sysctl(name: str, value: Any, root: Path) -> tuple[Path, str]:
    file = root / sysctl_file(name)
    if not file.is_file():
        raise TargetUnavailable(f"this kernel has no {file}, so the sysctl {name} cannot be set")
    return file, " ".join(str(value).split())


def _interrupts(cpus: Any, root: Path) -> Writes:
    """Every interrupt. Some cannot be moved, which the kernel states only when it is tried."""
    wanted = ",".join(map(str, resolve(list(cpus))))
    files = sorted((root / "proc/irq").glob("[0-9]*/smp_affinity_list"))
    if not files:
        raise TargetUnavailable("/proc/irq lists no interrupt whose CPUs can be chosen")
    return [(file, wanted) for file in files]


def present(key: str, root: Path = ROOT) -> str | None:
    """The present value of a setting in words, or None where the machine lacks it."""
    try:
        if key == "governor":
            files = _governors_any(root)
            return ", ".join(sorted({file.read_text().strip() for file in files})) or None
        if key == "turbo":
            file, on = _turbo(True, root)
            return "on" if file.read_text().strip() == on else "off"
        text = (root / SINGLE[key]).read_text().strip()
    except (OSError, TargetUnavailable):
        return None
    found = re.search(r"\[(\S+)\]", text)
    return found[1] if found else text


def _governors_any(root: Path) -> list[Path]:
    return sorted((root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor"))


QUIET: Mapping[str, Any] = {"governor": "performance", "turbo": False, "aslr": 0}
"""Values that disturb a measurement least; huge pages and interrupts are chosen beside them."""
