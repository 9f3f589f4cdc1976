"""Differences of the inventories, those first that can change what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pentathlon.evaluate.model import Evaluation, InventoryLine

MOST_OPEN = 40
"""Lines that are shown unfolded."""

SPEED = frozenset(
    (
        *("caches", "clocksource", "cpu", "kernel", "limits", "memory", "mitigations"),
        *("placement", "power", "security", "virtualization"),
    )
)
"""Sections that can change the speed of any work."""
DISK = frozenset(("block_devices", "filesystems"))
NETWORK = frozenset(("network", "network_devices"))
OF_AREAS = (
    (DISK, frozenset(("disk", "files")), "disks and file systems"),
    (NETWORK, frozenset(("files", "forwarding", "network")), "networks"),
)
"""(sections, areas of the work that they can change, their name)."""


@dataclass(frozen=True)
class Group:
    """Lines of one kind.

    Attributes:
        title: what they are.
        unfolded: they are shown from the start.
    """

    title: str
    lines: tuple[InventoryLine, ...]
    unfolded: bool


def groups(evaluation: Evaluation) -> tuple[Group, ...]:
    """The differing lines by whether they can change what was measured."""
    areas = frozenset(evaluation.areas)
    relevant = set(SPEED)
    unused: list[tuple[str, frozenset[str]]] = []
    for sections, own, name in OF_AREAS:
        if areas & own:
            relevant |= sections
        else:
            unused.append((name, sections))
    known = relevant.union(*(sections for _, sections in unused))
    lines = evaluation.inventory_differences
    found = [
        _group("Can change what was measured", lines, relevant),
        *(
            _group(f"Of {name}, which this study did not measure", lines, sections)
            for name, sections in unused
        ),
        Group("Others", tuple(one for one in lines if _section(one) not in known), False),
    ]
    return tuple(one for one in found if one.lines)


def _group(title: str, lines: Iterable[InventoryLine], sections: Iterable[str]) -> Group:
    chosen = tuple(one for one in lines if _section(one) in set(sections))
    first = title.startswith("Can")
    return Group(title, chosen, first and len(chosen) <= MOST_OPEN)


def _section(line: InventoryLine) -> str:
    return line.path.partition(".")[0]
