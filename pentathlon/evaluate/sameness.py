"""Whether the systems of a study are what it says: one system each, and not the same one twice.

The systems of a study differ in what they boot or in how the machine is set. Their inventories
say what they were. Where the two disagree, a comparison answers another question than the one that
was asked, whatever its intervals are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from pentathlon.evaluate.facts import Inventory
from pentathlon.evaluate.model import Identical
from pentathlon.procedure import identity
from pentathlon.study.aa_study import differences
from pentathlon.study.model import Study
from pentathlon.study.system import System

SETTINGS = {
    "transparent_hugepage": "memory.transparent_huge_pages.enabled",
    "transparent_hugepage_defrag": "memory.transparent_huge_pages.defrag",
    "aslr": "security.address_space_randomization",
    "swappiness": "memory.settings.swappiness",
    "governor": "cpu.frequency.governor",
    "turbo": "cpu.frequency.turbo",
    "tcp_congestion_control": "network.congestion_control",
    "power_plan": "power.plan",
    "core_parking": "power.core_parking_percent",
}
"""Settings that the inventory shows, and where."""

VOLATILE = (
    "agent.",
    "clock.",
    "cpu.bogomips",
    "cpu.frequency.current",
    "filesystems.",
    "kernel.boot_id",
    "limits.",
    "load.",
    "memory.",
    "network_devices.",
    "placement.",
    "power.",
    "telemetry.",
)
"""Sections with leaves that differ between two boots of one system."""

STEADY = ("memory.settings.", "memory.transparent_huge_pages.", "memory.total_bytes")
"""What in these sections does not."""

RESTART = "ssh.reboot_command"
CHOICE = ("boot.method", "boot.entry", "boot.kernel", "boot.initrd", "boot.cmdline", "boot.command")
BOOTED = ("kernel", "uml_args", RESTART, *CHOICE)
"""What states in a study which kernel is booted, and how."""

REACHED = tuple(f"ssh.{key}" for key in ("host", "user", "port", "key", "jump", "config"))
"""What states in a study which machine it is, and how it is reached."""

MOST_NAMED = 3


def identical(study: Study, inventories_of: Mapping[str, Inventory]) -> tuple[Identical, ...]:
    """Pairs of systems that the study makes differ in something that made no difference.

    Args:
        inventories_of: the inventories of the boots that count.
    """
    found = []
    for first, second in combinations(study.systems, 2):
        one, other = inventories_of.get(first.name), inventories_of.get(second.name)
        if one is None or other is None or first.target != second.target:
            continue
        if _one_machine(first, second):
            sentences = [*_boots(first, second, one, other), *_settings(first, second, one, other)]
        else:
            sentences = list(_machines(first, second, one, other))
        disproved = {key for keys, _ in sentences for key in keys}
        whole = set(differences(first, second)) <= disproved
        names = f"{second.name} and {first.name}"
        found += [
            Identical(
                systems=(first.name, second.name), keys=keys, whole=whole, words=f"{names} {words}"
            )
            for keys, words in sentences
        ]
    return tuple(found)


Difference = tuple[tuple[str, ...], str]
"""What made no difference, and the sentence on it without its subject."""


def _boots(first: System, second: System, one: Inventory, other: Inventory) -> Iterator[Difference]:
    keys = [key for key in differences(first, second) if key in BOOTED]
    kernel = identity.of_values(one.values)
    if not keys or kernel.release is None or _kernel_differs(one, other):
        return
    differing = _differing(one, other)
    # A command that restarts a machine may also change its firmware, its files or its settings.
    made = [key for key in keys if not differing or key != RESTART]
    rest = "" if not differing else f"; what differs is {_listed(differing)}"
    yield (
        tuple(made),
        (
            f"booted the identical kernel ({kernel.kernel()}, the same command line), although the "
            f"study gives them different values of {' and '.join(keys)}{rest}"
        ),
    )


def _machines(
    first: System, second: System, one: Inventory, other: Inventory
) -> Iterator[Difference]:
    """Two names of one machine."""
    boot_id = identity.of_values(one.values).boot_id
    again = identity.of_values(other.values).boot_id
    if boot_id is None or boot_id != again or _differing(one, other):
        return
    keys = tuple(key for key in differences(first, second) if key in REACHED)
    yield (
        keys,
        (
            f"ran in one boot of one machine (boot id {boot_id}), although the study gives them "
            f"different values of {' and '.join(keys)}"
        ),
    )


def _settings(
    first: System, second: System, one: Inventory, other: Inventory
) -> Iterator[Difference]:
    for key in differences(first, second):
        path = SETTINGS.get(key.removeprefix("settings."), "")
        value = one.values.get(path)
        if value is None or value != other.values.get(path):
            continue
        if path not in one.varying | other.varying:
            yield (
                (key,),
                (
                    f"were measured with the same {key} ({value}), although the study gives them "
                    "different ones"
                ),
            )


def _one_machine(first: System, second: System) -> bool:
    """Whether the study names one machine for both, so that it states what else differs."""
    places = [(one.ssh.host, one.ssh.port, one.ssh.jump) if one.ssh else None
              for one in (first, second)]  # fmt: skip
    return places[0] == places[1]


def _kernel_differs(one: Inventory, other: Inventory) -> bool:
    """Whether release, version, compiler, command line or configuration differ."""
    if identity.difference(identity.of_values(one.values), identity.of_values(other.values)):
        return True
    return any(path.startswith("kernel.") for path in _differing(one, other))


def _differing(one: Inventory, other: Inventory) -> list[str]:
    """Paths that differ, without those that differ between boots of one system."""
    paths = sorted(one.values.keys() | other.values.keys())
    varying = one.varying | other.varying
    return [
        path
        for path in paths
        if path not in varying
        and (not path.startswith(VOLATILE) or path.startswith(STEADY))
        and _value(one, path) != _value(other, path)
    ]


def _value(side: Inventory, path: str) -> Any:
    value = side.values.get(path)
    if isinstance(value, str) and path == identity.PATHS["command line"]:
        return identity.stable(value)
    return value


def _listed(paths: list[str]) -> str:
    more = len(paths) - MOST_NAMED
    return ", ".join(paths[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
