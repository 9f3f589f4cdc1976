"""Every derived figure of a result: the one entry of this package."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pentathlon.evaluate.derived import registry
from pentathlon.evaluate.derived.code_size import find_code_sizes
from pentathlon.evaluate.derived.model import Derived
from pentathlon.evaluate.derived.read_ahead import find_read_ahead
from pentathlon.evaluate.derived.regions import PAGE, Machine, find_regions
from pentathlon.evaluate.derived.sub_looping import find_optima
from pentathlon.evaluate.facts import MEMORY_PATHS, Inventory
from pentathlon.evaluate.levels.curves import claimed_caches
from pentathlon.evaluate.model import Row


def derive(
    rows: Sequence[Row],
    systems: Sequence[str],
    inventories_of: Mapping[str, Inventory],
    level: float,
    in_memory: Collection[str] = (),
    *,
    ends: Mapping[str, tuple[str, str]] | None = None,
) -> Derived:
    """What the curves of a result show.

    Args:
        level: 1 − confidence.
        in_memory: systems on which the study kept `memory.regions` from swapping.
        ends: system -> how client and server of its file tasks behave, the reference first.
    """
    inventories = {name: inventories_of.get(name, Inventory()) for name in systems}
    code = {name: claimed_caches(one, instructions=True) for name, one in inventories.items()}
    machines = {
        name: Machine(
            swaps=name not in in_memory,
            caches=claimed_caches(one),
            memory_bytes=one.integer(*MEMORY_PATHS),
            page_bytes=one.integer("memory.page_bytes") or PAGE,
        )
        for name, one in inventories.items()
    }
    return Derived(
        code_sizes=find_code_sizes(rows, systems, code),
        optima=find_optima(rows, systems, level),
        read_ahead=find_read_ahead(
            rows, systems, {name: configured(one) for name, one in inventories.items()}
        ),
        regions=find_regions(rows, systems, machines, level),
        **registry.figures(registry.Measured(rows, systems, ends or {}, level)),
    )


def configured(inventory: Inventory) -> int | None:
    """Read-ahead of the device of the scratch directory in bytes; None if it is not reported.

    Linux: `read_ahead_kb` of the queue (Documentation/ABI/stable/sysfs-block), of the whole disk
    where the file system lies on a part of it.
    """
    device = inventory.text("filesystems.scratch.block_device")
    for name in (device, device.rstrip("0123456789"), device.rstrip("0123456789").rstrip("p")):
        kib = inventory.integer(f"block_devices.{name}.read_ahead_kb") if name else None
        if kib is not None:
            return kib * 1024
    return None
