"""`pentathlon results list` and `pentathlon results show`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from pentathlon.cli import preparationview, unfinished
from pentathlon.cli.screen import err, out
from pentathlon.safeio.escaping import breakable, one_line
from pentathlon.store.directory import RESULTS
from pentathlon.store.imported import tool_text
from pentathlon.store.query import Result, list_results, load_result, newest
from pentathlon.store.standing import Summary
from pentathlon.study.counting import count_text, plural
from pentathlon.study.starts import noun
from pentathlon.tables.sheet import Sheet
from pentathlon.targets import userland


def list_command(root: Path, *, as_json: bool) -> None:
    unreadable: list[str] = []
    found = list_results(root, unreadable)
    for sentence in unreadable:
        err.print(f"left out: {sentence}", soft_wrap=True)
    if as_json:
        out.print_json(
            data=[
                {
                    "path": str(one.path),
                    "study": one.name,
                    "plan_hash": one.plan_hash,
                    "started": one.started,
                    "state": one.state,
                    "steps": one.steps,
                    "finished": one.finished,
                    "not_needed": one.not_needed,
                    "failures": one.failures,
                    "unsupported": one.unsupported,
                }
                for one in found
            ]
        )
        return
    if not found:
        out.print(f"There are no results in {root}. Start with: pentathlon run STUDY")
        return
    _list(found)


def show_command(result: Path | None) -> None:
    _show(load_result(choose(result)))


def choose(path: Path | None) -> Path:
    """The result that a command means: the one named, or the newest one in ./results.

    Raises:
        StoreError: there is none.
    """
    return newest(RESULTS) if path is None else path


WIDEST = 10_000
"""Columns of no terminal: to measure what a table would need."""
STYLES = {"finished": "green", "running": "cyan", "unfinished": "yellow"}


def _list(found: Sequence[Summary]) -> None:
    """One line for each result; two where the screen is too narrow for a whole path."""
    rows = [
        (
            one.started[:19].replace("T", " "),
            Text(one.state, style=STYLES[one.state]),
            one.plan_hash[:12],
            f"{one.finished}/{one.steps - one.not_needed}",
            str(one.failures) if one.failures else "–",
            str(one.unsupported) if one.unsupported else "–",
        )
        for one in found
    ]
    names = ("started (UTC)", "state", "plan", "steps", "failures", "unsupported")
    table = Sheet(header_style="dim")
    table.add_column("result", no_wrap=True)
    for name in names:
        table.add_column(name, no_wrap=True, justify="left" if name in names[:3] else "right")
    for one, row in zip(found, rows, strict=True):
        table.add_row(str(one.path), *row)
    if Measurement.get(out, out.options.update(max_width=WIDEST), table).maximum <= out.width:
        out.print(table)
        return
    for one, row in zip(found, rows, strict=True):
        out.print(str(one.path), soft_wrap=True)
        started, state, plan, steps, *counts = row
        parts = [f"{count} {name}" for count, name in zip(counts, names[4:], strict=True)
                if count != "–"]  # fmt: skip
        line = Text.assemble(f"  {started}, ", state, f", plan {plan}, {steps} steps")
        out.print(line.append("".join(f", {one}" for one in parts)))


def _show(result: Result) -> None:
    one = result.summary()
    study = result.study
    unfinished.say(result.unfinished)
    out.print(one_line(study.title or study.name), style="bold")
    if study.question:
        out.print(one_line(study.question), style="italic")
    for note in result.notes():
        out.print(note, style="yellow")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    grid.add_row("directory", str(result.path))
    grid.add_row("started", one.started[:19].replace("T", " ") + " UTC")
    spared = f", {one.not_needed} not needed" if one.not_needed else ""
    grid.add_row("state", f"{one.state}, {one.finished} of {count_text(one.steps, 'step')}{spared}")
    if not study.imported:
        grid.add_row("stopping", study.procedure.stopping.words(len(result.plan.blocks)))
    if result.enough is not None:
        grid.add_row("", f"stopped: {result.enough}")
    agent = result.plan.agent
    measured = f"{agent['version']} (build {agent['build']})"
    grid.add_row("agent", "none: imported, not measured here" if study.imported else measured)
    grid.add_row("plan hash", one.plan_hash)
    if one.state == "unfinished":
        grid.add_row("continue with", f"pentathlon run --resume {result.path}")
    out.print(grid)
    out.print()
    out.print(_systems(result))
    for system in result.study.systems:
        if land := userland.in_words(result.plan.targets.get(system.name, {})):
            out.print(f"user land of {system.name}: {land}", style="dim")
    if result.plan.preparation:
        out.print()
        out.print(preparationview.table(result))
    if study.imported:
        out.print()
        out.print(_files(result))
    failures = result.failures()
    if not failures.is_empty():
        out.print()
        out.print(_failures(failures))


def _systems(result: Result) -> Table:
    samples = result.samples()
    measured = samples.filter(pl.col("counted") & (pl.col("phase") == "measure"))
    plan = result.plan_table()
    table = Sheet(title="Systems")
    table.add_columns("system", "layer", "kernel", "CPU", header_style="dim", overflow="fold")
    started = plural(noun(result.study.systems))
    for name in (started, "steps", "samples", "not counted"):
        table.add_column(name, header_style="dim", justify="right")
    for system in result.study.systems:
        steps = plan.filter(pl.col("system") == system.name)
        own = samples.filter(pl.col("system") == system.name)
        counted = measured.filter(pl.col("system") == system.name)
        facts = result.facts(system.name)
        done = steps.filter(pl.col("state") == "finished").height
        requested = steps.filter(pl.col("state") != "not needed").height
        table.add_row(
            system.name + (" (reference)" if system.name == result.study.reference else ""),
            str(result.plan.targets.get(system.name, {}).get("layer", "")),
            _fact(facts, "kernel.release", "os.kernel_release"),
            _fact(facts, "cpu.model_name", "cpu.model"),
            str(counted["boot"].n_unique()),
            f"{done}/{requested}",
            str(counted.height),
            str(own.filter(~pl.col("counted")).height),
        )
    return table


def _files(result: Result) -> Table:
    """The files that were imported."""
    table = Sheet(title="Files")
    for name in ("system", "block" if result.plan.in_blocks else "boot", "tool", "file", "SHA-256"):
        table.add_column(name, header_style="dim", overflow="fold")
    for one in result.imports():
        part = f" ({one.part})" if one.part else ""
        file = one_line(f"{one.file}{part}")
        table.add_row(one.system, str(one.block + 1), tool_text(one), file, one.sha256)
    return table


def _fact(facts: dict[str, object], *paths: str) -> str:
    for path in paths:
        value = facts.get(path)
        if isinstance(value, dict):
            return f"unsupported: {value.get('unsupported')}"
        if value is not None:
            return str(value)
    return "–"


def _failures(failures: pl.DataFrame) -> Table:
    """One row for each reason of each workload, whatever the number of its boots and cases."""
    table = Sheet(title="Failures, and what is unsupported", under=("reason",))
    for name in ("boot", "workload", "case", "kind", "made good", "reason"):
        table.add_column(name, header_style="dim", overflow="fold")
    groups = failures.group_by(
        ["system", "workload", "kind", "reason", "resolved"], maintain_order=True
    ).agg(pl.col("boot").unique(maintain_order=True), pl.col("case").unique(maintain_order=True))
    for row in groups.iter_rows(named=True):
        cases = [case for case in row["case"] if case]
        answered = row["kind"] == "unsupported"
        table.add_row(
            _such(row["boot"]),
            row["workload"] or "–",
            breakable(_such(cases)) if cases else "–",
            row["kind"],
            "–" if answered else "yes" if row["resolved"] else "no",
            row["reason"],
        )
    return table


def _such(names: Sequence[str]) -> str:
    """The first, and how many more there are."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
