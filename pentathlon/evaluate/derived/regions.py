"""Cache, RAM and swap: their bandwidths and what a page costs more in each (venkata2003, 3.1).

The study walks blocks of 1 KB to 512 MB, averages the bandwidth inside each region, and takes

    latency = P / B(slower) − P / B(faster)

for one page of P bytes and the read bandwidths B of two neighbouring regions: its 1.352, 3.088 and
324.57 µs are 4096 B over its means in MB/s of 2^20 B. It knows the regions from the data sheet;
here they come from the steps of the read curve. The last step below the memory is the way from
cache to RAM; a step of 20 times or more that is the last of all, or one at the size of the memory,
is that from RAM to swap, where the study let blocks swap at all. Blocks inside the interval of a
boundary belong to neither region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import SIZE, case_text, without
from pentathlon.evaluate.derived.model import LevelLatency, Mean, Region, Regions
from pentathlon.evaluate.derived.series import Curve, curve, curves, mean_of
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.levels.caches import FEWEST_POINTS, Step, find_steps
from pentathlon.evaluate.levels.curves import Cache
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.values import Values

WORKLOAD, READ, WRITE = "memory.regions", "read", "write"
SWAP_RISE = 20.0
"""A rise of the time per byte that no cache of a working machine makes, only a device."""
PAGE = 4096


@dataclass(frozen=True)
class Machine:
    """What a system claims of its memory."""

    swaps: bool = True
    """Whether blocks could leave the memory: without `swap` the workload keeps them in it, and a
    step however high is noise, or another cache."""
    caches: tuple[Cache, ...] = ()
    memory_bytes: int | None = None
    page_bytes: int = PAGE


def find_regions(
    rows: Sequence[Row], systems: Sequence[str], machines: Mapping[str, Machine], level: float
) -> tuple[Regions, ...]:
    """The regions of every read curve on every system; `level` is 1 − confidence."""
    writes = {
        tuple(sorted(without(group[0].case, SIZE).items(), key=str)): group
        for group in curves(rows, WORKLOAD, WRITE, SIZE)
    }
    found = []
    for group in curves(rows, WORKLOAD, READ, SIZE):
        other = writes.get(tuple(sorted(without(group[0].case, SIZE).items(), key=str)), [])
        for system in systems:
            read, write = curve(group, system, SIZE), curve(other, system, SIZE)
            if read is not None:
                machine = machines.get(system, Machine())
                found.append(_one(system, read, write, machine, level))
    return tuple(found)


def _one(system: str, read: Curve, write: Curve | None, machine: Machine, level: float) -> Regions:
    if len(read.x) < FEWEST_POINTS:
        return _none(system, read, f"{len(read.x)} block sizes are too few to separate regions")
    steps = find_steps(read.x, 1000.0 / read.mean, read.noise, overhead=True)
    if not steps:
        return _none(system, read, "the curve has no step, so it shows one region only")
    ram, swap = _split(steps, machine)
    limits = _limits(read.x, ram, swap)
    regions = tuple(
        Region(
            name=name,
            low_bytes=int(sizes[0]),
            high_bytes=int(sizes[-1]),
            blocks=len(sizes),
            read=_mean(read, sizes, level),
            write=None if write is None else _mean(write, sizes, level),
        )
        for name, low, high in limits
        if len(sizes := read.x[(read.x >= low) & (read.x <= high)])
    )
    names = [region.name for region in regions]
    boundaries = []
    if ram is not None and {"cache", "RAM"} <= set(names):
        boundaries.append(("cache–RAM", int(ram.low), int(ram.high)))
    if swap is not None and {"RAM", "swap"} <= set(names):
        boundaries.append(("RAM–swap", int(swap.low), int(swap.high)))
    return Regions(
        system=system,
        case_text=case_text(read.case),
        regions=regions,
        boundaries=tuple(boundaries),
        latencies=tuple(
            one
            for between, _, _ in boundaries
            if (one := _latency(read, regions, between, machine.page_bytes, level)) is not None
        ),
        words=_words(regions, machine),
    )


def _none(system: str, read: Curve, why: str) -> Regions:
    return Regions(
        system=system,
        case_text=case_text(read.case),
        regions=(),
        boundaries=(),
        latencies=(),
        words=(why,),
    )


def _split(steps: Sequence[Step], machine: Machine) -> tuple[Step | None, Step | None]:
    """(the step from cache to RAM, the step from RAM to swap)."""
    last = steps[-1]
    memory = machine.memory_bytes
    swaps = machine.swaps and (
        last.after / last.before >= SWAP_RISE
        or (memory is not None and last.low <= memory <= last.high)
    )
    if not swaps:
        return last, None
    return (steps[-2] if len(steps) > 1 else None), last


def _limits(sizes: Values, ram: Step | None, swap: Step | None) -> list[tuple[str, float, float]]:
    """(region, smallest block, largest block)."""
    limits = []
    if ram is not None:
        limits.append(("cache", float(sizes[0]), ram.low))
    above = ram.high if ram is not None else float(sizes[0])
    limits.append(("RAM", above, swap.low if swap is not None else float(sizes[-1])))
    if swap is not None:
        limits.append(("swap", swap.high, float(sizes[-1])))
    return limits


def _bandwidths(one: Curve, sizes: Values) -> Values:
    """Mean bandwidth over the blocks of a region in each boot."""
    return np.asarray(np.mean(one.boots[:, np.isin(one.x, sizes)], axis=1))


def _mean(one: Curve, sizes: Values, level: float) -> Mean | None:
    if not len(one.boots) or not np.isin(one.x, sizes).any():
        return None
    return mean_of(_bandwidths(one, sizes), level, least=0)


def _latency(
    read: Curve, regions: Sequence[Region], between: str, page: int, level: float
) -> LevelLatency | None:
    """Per boot, the time to read a page in the slower region less that in the faster one."""
    if not len(read.boots):
        return None
    times = []
    for name in between.split("–"):
        region = next(one for one in regions if one.name == name)
        sizes = read.x[(read.x >= region.low_bytes) & (read.x <= region.high_bytes)]
        times.append(page / (_bandwidths(read, sizes) * 1e6))
    return LevelLatency(
        between=between,
        seconds=mean_of(times[1] - times[0], level),
        faster_seconds=float(np.mean(times[0])),
        slower_seconds=float(np.mean(times[1])),
    )


def _words(regions: Sequence[Region], machine: Machine) -> tuple[str, ...]:
    found = []
    ram = next((one for one in regions if one.name == "RAM"), None)
    largest = machine.caches[-1] if machine.caches else None
    if ram is not None and largest is not None and ram.high_bytes <= largest.size:
        found.append(
            f"the largest block, {bytes_text(ram.high_bytes)}, would fit the {largest.name} of "
            f"{bytes_text(largest.size)} that the system claims: this RAM may be a shared cache"
        )
    if not any(one.name == "swap" for one in regions):
        found.append("no block reached the swap")
    return tuple(found)
