"""`pentathlon plan --allocate RESULT`: how many iterations, processes and boots are worth it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from pentathlon.cli import unfinished
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out, seconds
from pentathlon.evaluate.estimate import counted, series
from pentathlon.evaluate.estimators.paired import pair_blocks
from pentathlon.evaluate.planning.allocation import FEWEST_BLOCKS, Allocation, Costs, allocate
from pentathlon.evaluate.planning.cubes import cube
from pentathlon.procedure.records import BootEnd, BootStart
from pentathlon.store.journal import read_journal
from pentathlon.store.query import Result
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet


@dataclass(frozen=True)
class Pilot:
    """A result with what its repetitions cost.

    Attributes:
        costs: workload -> seconds of one iteration of all its cases, and of a process beside them.
        boot: seconds of a boot outside its workloads.
    """

    result: Result
    measured: pl.DataFrame
    costs: Mapping[str, tuple[float, float]]
    boot: float


@dataclass(frozen=True)
class Advice:
    """What is recommended for one workload: the most that any of its metrics needs."""

    workload: str
    metric: str
    """The one that needs most blocks."""
    own: Allocation
    seconds: float
    """Time of the workload in one boot with these counts."""


def show(result: Result, half_width_percent: float) -> None:
    """Print the recommended counts of every comparison, from a result taken as a pilot.

    Raises:
        InputError: the result has too few blocks, iterations or systems.
    """
    if result.study.imported:
        raise InputError(
            f"{result.path} cannot serve as a pilot: it was imported, and what its runs cost is "
            "not known"
        )
    unfinished.say(result.unfinished)
    samples = result.samples()
    pilot = Pilot(result, counted(samples), _costs(samples), _boot_seconds(result, samples))
    study = result.study
    shown = 0
    for system in study.systems:
        if system.name == study.reference:
            continue
        advice = list(_advise(pilot, system.name, half_width_percent))
        if advice:
            title = f"{system.name} against {study.reference}, for ±{half_width_percent:g} %"
            _table(advice, title, half_width_percent, pilot.boot)
            shown += 1
    if not shown:
        raise InputError(
            f"{result.path} cannot serve as a pilot: it needs two systems, {FEWEST_BLOCKS} blocks "
            "that both have, and 2 iterations"
        )


def _advise(pilot: Pilot, system: str, half_width_percent: float) -> Iterator[Advice]:
    study, measured = pilot.result.study, pilot.measured
    reference, level = study.reference, 1.0 - study.evaluation.confidence
    everything = series(measured)
    found: dict[str, list[tuple[str, Allocation]]] = defaultdict(list)
    workloads = len({one.workload for one in everything.values()})
    for (key, name), own in everything.items():
        other = everything.get((key, reference))
        if name != system or other is None or min(own.lowest, other.lowest) <= 0:
            continue
        paired = pair_blocks(own, other)
        sides = [cube(measured, key, side, paired.blocks) for side in (system, reference)]
        if len(paired.blocks) < FEWEST_BLOCKS or any(side is None for side in sides):
            continue
        iteration, process = pilot.costs.get(own.workload, (0.0, 0.0))
        cost = Costs(iteration, process, pilot.boot / max(1, workloads))
        cubes = [side for side in sides if side is not None]
        chosen = allocate(paired.log_ratios, cubes, cost, half_width_percent, level)
        found[own.workload].append((key, chosen))
    for workload, rows in found.items():
        key, most = max(rows, key=lambda row: row[1].blocks)
        iteration, process = pilot.costs.get(workload, (0.0, 0.0))
        time = most.processes * (process + most.iterations * iteration)
        yield Advice(workload, key, most, time)


def _costs(samples: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Workload -> seconds of one iteration of all its cases, and of one process beside them."""
    ordered = samples.sort("boot", "t_ns").with_columns(
        gap=(pl.col("t_ns") - pl.col("t_ns").shift(1).over("boot")).cast(pl.Float64) / 1e9,
        own=pl.col("elapsed_ns") / 1e9,
    )
    parts = ordered.group_by("workload", "boot", "process").agg(
        pl.col("own").filter(pl.col("phase") == "measure").sum().alias("measured"),
        pl.col("iteration").filter(pl.col("phase") == "measure").n_unique().alias("iterations"),
        pl.col("gap").sum().alias("whole"),
    )
    found = {}
    for (workload,), rows in parts.group_by(["workload"]):
        measured = rows["measured"].sum()
        iterations = max(1, int(rows["iterations"].sum()))
        rest = max(float(rows["whole"].sum()) - float(measured), 0.0)
        found[str(workload)] = (float(measured) / iterations, rest / max(1, rows.height))
    return found


def _boot_seconds(result: Result, samples: pl.DataFrame) -> float:
    """Mean time of a boot outside its workloads, in seconds."""
    spans = {
        row["boot"]: row["t_ns"] / 1e9
        for row in samples.group_by("boot").agg(pl.col("t_ns").max()).iter_rows(named=True)
    }
    began: dict[str, datetime] = {}
    rests = []
    for record in read_journal(result.path):
        if not isinstance(record, BootStart | BootEnd):
            continue
        name = f"{record.block}.{record.system}.{record.attempt}"
        at = datetime.fromisoformat(record.utc)
        if isinstance(record, BootStart):
            began[name] = at
        elif record.outcome == "ok" and name in began and name in spans:
            rests.append(max((at - began[name]).total_seconds() - spans[name], 0.0))
    return float(np.mean(rests)) if rests else 0.0


def _table(advice: list[Advice], title: str, half_width_percent: float, boot: float) -> None:
    table = Sheet(title=title, title_style="bold", header_style="dim")
    table.add_column("workload", overflow="fold")
    for name in ("iterations", "processes", "boots of each", "expected ±%", "time in one boot"):
        table.add_column(name, justify="right")
    for one in sorted(advice, key=lambda a: -a.own.blocks):
        table.add_row(
            one.workload,
            str(one.own.iterations),
            str(one.own.processes),
            str(one.own.blocks) if one.own.reached else f"> {one.own.blocks}",
            f"{one.own.half_width_percent:.2g}",
            seconds(one.seconds),
        )
    out.print(table)
    blocks = max(one.own.blocks for one in advice)
    each = boot + sum(one.seconds for one in advice)
    out.print(
        f"All of them to ±{half_width_percent:g} %: {count_text(blocks, 'block')}, "
        f"about {seconds(blocks * 2 * each)} of machine time ({seconds(boot)} to boot and stop).\n"
    )
