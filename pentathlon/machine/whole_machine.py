"""Settings of the whole machine have one owner: the run that may change them.

A setting such as /proc/sys/vm/swappiness holds for everything that runs here, so whoever changes
one takes the right to change them and every CPU (`machine.claims`): no other run measures
under settings that are not its own, and none puts back what another one has just changed.
"""

from __future__ import annotations

from pathlib import Path

from pentathlon.machine.cpus import AVAILABLE, cpu_names

RIGHT = "the right to change this machine's settings"
"""Name of the lock that only runs take that change them."""

PRESENT = Path("/sys/devices/system/cpu/present")


def everything(present: Path = PRESENT) -> frozenset[str]:
    """What a run takes that changes a setting of the whole machine, as `Target.occupies` names it.

    Args:
        present: the kernel's list of CPUs, such as "0-3,8" (sysfs(5)); these are also those that
            this program may not use, but others may.
    """
    cpus = set(AVAILABLE)
    try:
        text = present.read_text().strip()
    except OSError:
        text = ""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpu_names(cpus) | {RIGHT}
