"""Samples that did not get a whole CPU: something else ran where they were measured.

A batch without a voluntary context switch (getrusage(2)) waited for nothing, so it could run all
the time that it took. CPU time that is missing from it was taken away: by another program, by an
interrupt, by a hypervisor. A system that does not count such switches states nothing here, and a
guest counts what its own kernel took away, not what its host did.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from pentathlon.evaluate.facts import Inventory
from pentathlon.evaluate.model import Starved
from pentathlon.study.model import Study

LEAST_PERCENT = 90.0
"""A CPU-bound sample that gets less of a CPU than this is reported."""

FEWEST_STEPS = 100
"""Time in smallest steps of the CPU clock from which a share is known well enough."""

RESOLUTION = "telemetry.resolution_ns.cpu_user_ns"
USUAL_RESOLUTION_NS = 1000.0


def find_starved(
    used: pl.DataFrame, study: Study, inventories_of: Mapping[str, Inventory]
) -> tuple[Starved, ...]:
    """Metrics that got less than 90 % of a CPU in some block, in the order of the samples.

    Systems with a CPU quota are left out: theirs is taken away because the study sets it.
    """
    limited = [one.name for one in study.systems if one.settings.cpu_quota_percent is not None]
    steps = cpu_steps(inventories_of)
    shares = (
        used.filter((pl.col("voluntary_switches") == 0) & ~pl.col("system").is_in(limited))
        .group_by("system", "key", "block", maintain_order=True)
        .agg(
            (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).sum().alias("cpu"),
            pl.col("elapsed_ns").filter(
                (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).is_not_null()
            ).sum().alias("elapsed"),
        )
    )  # fmt: skip
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for system, key, block, cpu, elapsed in shares.iter_rows():
        step = steps.get(system, USUAL_RESOLUTION_NS)
        if elapsed >= FEWEST_STEPS * step and cpu * 100 < elapsed * LEAST_PERCENT:
            found.setdefault((system, key), []).append((block, 100 * cpu / elapsed))
    return tuple(
        Starved(
            system=system,
            key=key,
            blocks=tuple(sorted(block for block, _ in blocks)),
            lowest_percent=min(share for _, share in blocks),
        )
        for (system, key), blocks in found.items()
    )


def cpu_steps(inventories_of: Mapping[str, Inventory]) -> dict[str, float]:
    """Resolution of the CPU clocks in nanoseconds of the systems that report it."""
    found = {name: one.values.get(RESOLUTION) for name, one in inventories_of.items()}
    return {name: float(step) for name, step in found.items() if step}


def share_text(percent: float) -> str:
    """A share in whole percent, rounded down: 89.7 % is less than 90 %, and is not shown as 90."""
    return str(math.floor(percent + 1e-6))


def starved_caution(one: Starved) -> str:
    """The sentence on a row."""
    return (
        f"{one.system} got {share_text(one.lowest_percent)} % of a CPU {blocks_words(one.blocks)}: "
        "something else ran there"
    )


def blocks_words(blocks: Sequence[int]) -> str:
    """Blocks, counted from 1 as people do: "in block 2", "in the blocks 1, 2, 5 and 7 to 9"."""
    runs: list[list[int]] = []
    for block in sorted(blocks):
        if runs and block == runs[-1][-1] + 1:
            runs[-1].append(block)
        else:
            runs.append([block])
    parts: list[str] = []
    for run in runs:
        # Two in a row are named, more are a range.
        named = [str(block + 1) for block in run]
        parts += named if len(run) < 3 else [f"{named[0]} to {named[-1]}"]
    if len(parts) == 1:
        return f"in {'the blocks' if ' ' in parts[0] else 'block'} {parts[0]}"
    return f"in the blocks {', '.join(parts[:-1])} and {parts[-1]}"
