"""Which workloads can depend on which setting of a machine, and why.

A setting stands here with the workloads that it can change, directly or through what disturbs them.
What is left out cannot depend on it: the plan of a study whose workloads are all left out
states it. In doubt a workload stands here. Commands of the user's own can depend on everything.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Dependence:
    """What can depend on a setting.

    Attributes:
        workloads: areas, and ids of workloads, with patterns.
        why: how it reaches them.
        source: where that is described.
    """

    workloads: tuple[str, ...]
    why: str
    source: str

    def reaches(self, workload: str) -> bool:
        """Whether a workload can depend on it."""
        area = workload.partition(".")[0]
        return any(fnmatchcase(workload, one) or one == area for one in self.workloads)


ALL = ("*",)

TABLE: dict[str, Dependence] = {
    "transparent_hugepage": Dependence(
        ("memory", "cpu", "process", "disk", "network", "forwarding", "files",
         "graphics"),
        "anonymous memory of 2 MiB and more is mapped by huge pages: fewer misses of the TLB and "
        "faults, more to clear at each fault and to copy after a fork",
        "Documentation/admin-guide/mm/transhuge.rst",
    ),
    "transparent_hugepage_defrag": Dependence(
        ("memory", "cpu", "process", "disk", "files", "graphics"),
        "whether a fault waits until memory has been compacted for a huge page",
        "Documentation/admin-guide/mm/transhuge.rst",
    ),
    "aslr": Dependence(
        ALL,
        "addresses decide which sets of the caches and which entries of predictors are shared; new "
        "programs start with more or less work",
        "Documentation/admin-guide/sysctl/kernel.rst; Mytkowicz et al. 2009, "
        "doi:10.1145/1508244.1508275",
    ),
    "swappiness": Dependence(
        ("memory.regions", "memory.after_boot", "memory.faults", "disk", "files"),
        "what is reclaimed where memory is short: pages of files or anonymous ones",
        "Documentation/admin-guide/sysctl/vm.rst",
    ),
    "governor": Dependence(
        ALL, "the frequency of the CPUs, and how fast it follows the load",
        "Documentation/admin-guide/pm/cpufreq.rst",
    ),
    "turbo": Dependence(
        ALL, "the highest frequency of the CPUs, which depends on load and temperature",
        "Documentation/admin-guide/pm/intel_pstate.rst, cpufreq.rst (boost)",
    ),
    "smt": Dependence(
        ALL,
        "a core's two threads share its units and caches; without them there are half as many CPUs",
        "Documentation/admin-guide/hw-vuln/l1tf.rst (smt/control)",
    ),
    "irq_affinity": Dependence(
        ALL, "which CPUs are interrupted by devices, and where packets and blocks are completed",
        "Documentation/core-api/irq/irq-affinity.rst",
    ),
    "tcp_congestion_control": Dependence(
        ("network", "files"), "how much TCP sends into a network, and how it reacts to loss",
        "tcp(7)",
    ),
    "sysctl": Dependence(
        ALL, "what the variable states", "Documentation/admin-guide/sysctl/",
    ),
    "cpu_quota_percent": Dependence(
        ALL, "the group waits for the rest of a period once its share of CPU time is used up",
        "Documentation/scheduler/sched-bwc.rst",
    ),
    "scheduler": Dependence(
        ALL,
        "who runs next: hand-overs between processes, and anything where something else wants the "
        "CPU",
        "sched(7)",
    ),
    "nice": Dependence(
        ALL, "the share of a CPU, where something else wants the same one", "sched(7)",
    ),
    "power_plan": Dependence(
        ALL, "frequency and idle states of the CPUs", "Windows, powercfg",
    ),
    "core_parking": Dependence(
        ALL, "how many cores are awake", "Windows, processor power management options",
    ),
    "defender": Dependence(
        ("process", "disk", "files", "network", "graphics", "cpu.compress",
         "cpu.decompress"),
        "files and programs are looked at when they are opened, written or started",
        "Windows, Microsoft Defender Antivirus",
    ),
}  # fmt: skip
"""Setting -> what can depend on it. Paths are those of Linux's source."""

BY_SYSCTL: dict[str, Dependence] = {
    "net.": Dependence(
        ("network", "forwarding", "files"), "the network stack alone",
        "Documentation/admin-guide/sysctl/net.rst, Documentation/networking/ip-sysctl.rst",
    ),
    "vm.dirty": Dependence(
        ("disk", "files", "process.create_delete", "process.fopen_fclose"),
        "when data of files that were written go to the disk",
        "Documentation/admin-guide/sysctl/vm.rst",
    ),
    "fs.": Dependence(
        ("disk", "files", "process", "network", "cpu"), "files, and limits on them",
        "Documentation/admin-guide/sysctl/fs.rst",
    ),
}  # fmt: skip
"""Start of the name of a variable of sysctl(8) -> what can depend on it."""


def of(setting: str) -> Dependence | None:
    """What can depend on a setting, such as "nice" or "sysctl.net.core.rmem_max"; None where
    nothing is known of it."""
    key, _, name = setting.partition(".")
    if key == "sysctl" and name:
        for start, one in BY_SYSCTL.items():
            if name.replace("/", ".").startswith(start):
                return one
    return TABLE.get(key)


def untouched(setting: str, measured: Collection[str], own: Collection[str]) -> str | None:
    """Why none of the measured workloads can depend on a setting, or None where one may.

    Args:
        measured: ids of workloads; "AREA." stands for some workload of an area.
        own: those of commands of the user's own, which can depend on everything.
    """
    known = of(setting)
    if known is None or any(one in own or known.reaches(one) for one in measured):
        return None
    reach = ", ".join(known.workloads)
    return f"no workload of the study can depend on it; of the catalog {reach} can"
