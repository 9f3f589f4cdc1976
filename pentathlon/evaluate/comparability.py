"""What makes two systems comparable, and what is said where they are not.

A mismatch either makes rows invalid (the work or its meaning differs) or qualifies them in words
(the work is the same, but it does not isolate what one might think it does).
"""

from __future__ import annotations

from pentathlon.evaluate.facts import COMMAND, Inventory
from pentathlon.evaluate.model import SystemFacts

BUILD_DIGITS = 8
"""So many digits of a build's hash are reported."""

MEMORY_TOLERANCE = 0.05
"""Kernels keep different shares of the memory for themselves: up to 5 % is the same machine."""


NOT_IN_BLOCKS = (
    "the systems were not measured in blocks and are judged unpaired: whatever changed between "
    "their measurements counts as a difference between them, what changes from boot to boot widens "
    "the intervals, and no mean over all metrics is given"
)


def layer_caution(system: SystemFacts, reference: SystemFacts) -> str | None:
    """The sentence on every row of a comparison across layers."""
    if system.layer == reference.layer:
        return None
    return f"compares layers {reference.layer} and {system.layer}, not kernels"


def pair_cautions(
    system: SystemFacts, reference: SystemFacts, *, in_blocks: bool = True
) -> tuple[str, ...]:
    """What qualifies every row of one comparison, one sentence each.

    Args:
        in_blocks: the boots of a block belong together.
    """
    found: list[str] = [] if in_blocks else [NOT_IN_BLOCKS]
    layers = layer_caution(system, reference)
    if layers is not None:
        found.append(layers)
    builds = tuple(dict.fromkeys((*reference.agent_builds, *system.agent_builds)))
    platforms = (reference.agent_platform, system.agent_platform)
    if all(platforms) and platforms[0] != platforms[1]:
        # Two operating systems never run one file; equal checksums show that the work is the same.
        found.append(
            f"the agents are built for {platforms[0]} and {platforms[1]}, by other compilers and "
            "with other libraries"
        )
    elif len(builds) > 1:
        found.append(
            f"the agents are of {len(builds)} builds "
            f"({', '.join(build[:BUILD_DIGITS] for build in builds)})"
        )
    # Across layers the machine that a guest shows is not the machine that it runs on.
    if layers is None:
        if system.cpu and reference.cpu and system.cpu != reference.cpu:
            found.append(f"the CPUs differ ({reference.cpu} and {system.cpu})")
        sizes = (system.memory_bytes, reference.memory_bytes)
        if sizes[0] and sizes[1] and abs(sizes[0] / sizes[1] - 1) > MEMORY_TOLERANCE:
            found.append(
                f"the memory sizes differ ({_mebibytes(sizes[1])} and {_mebibytes(sizes[0])})"
            )
    return tuple(found)


def pair_objection(system: SystemFacts, reference: SystemFacts) -> str | None:
    """Why no row of the comparison can be judged, or None."""
    for side in (reference, system):
        if len(side.kernels) > 1:
            text = " | ".join(side.kernels)
            return f"the boots of {side.name} ran {len(side.kernels)} different kernels ({text})"
    versions = (reference.catalog_version, system.catalog_version)
    if None not in versions and versions[0] != versions[1]:
        return f"the agents' catalogs have different versions ({versions[0]} and {versions[1]})"
    return None


def parameter_caution(workload: str, system: SystemFacts, reference: SystemFacts) -> str | None:
    """The sentence on rows whose workload ran with different parameters."""
    own, other = system.parameters.get(workload, {}), reference.parameters.get(workload, {})
    if own == other:
        return None
    sides = [
        f"{side.name} has {', '.join(f'{name} = {value}' for name, value in sorted(used.items()))}"
        for side, used in ((reference, other), (system, own))
        if used
    ]
    return f"the parameters differ: {' and '.join(sides)}"


def same_work(workload: str, system: SystemFacts, reference: SystemFacts) -> bool:
    """Whether both were to do the same work, so that their checksums have to be equal.

    Other parameters may mean other work. Another command does not: what its study calls the same
    has to be the same.
    """
    sides = (side.parameters.get(workload, {}) for side in (system, reference))
    own, other = ({name: one for name, one in side.items() if name != COMMAND} for side in sides)
    return own == other


def checksum_objection(system: frozenset[str], reference: frozenset[str]) -> str | None:
    """Why the checksums rule a comparison out, or None.

    A checksum does not depend on the batch, so one metric and case has one on every system.
    """
    for side in (reference, system):
        if len(side) > 1:
            return f"one system computed different results for the same work ({_some(side)})"
    if system and reference and system != reference:
        return f"the checksums differ: {_some(reference)} and {_some(system)}"
    return None


def machine_differences(
    inventories_of: dict[str, Inventory], systems: tuple[SystemFacts, ...]
) -> list[tuple[str, dict[str, object]]]:
    """Paths of the inventory that differ between systems, with each system's value.

    Paths that vary between boots of one system (free memory, uptime) say nothing about it and are
    left out.
    """
    names = [system.name for system in systems if system.name in inventories_of]
    paths = sorted({path for name in names for path in inventories_of[name].values})
    varying = {path for name in names for path in inventories_of[name].varying}
    found = []
    for path in paths:
        if path in varying:
            continue
        values = {name: inventories_of[name].values.get(path) for name in names}
        if any(value != values[names[0]] for value in values.values()):
            found.append((path, dict[str, object](values)))
    return found


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def _some(values: frozenset[str]) -> str:
    ordered = sorted(values)
    return ", ".join(ordered[:3]) + (", …" if len(ordered) > 3 else "")
