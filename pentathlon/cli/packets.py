"""`pentathlon packets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from pentathlon.cli import unfinished
from pentathlon.cli.commands.packets import Format
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.evaluate.display import significant
from pentathlon.exchange import packets as export
from pentathlon.packets import jitter
from pentathlon.store.packets import KeptTrial, kept_trials
from pentathlon.store.query import load_result
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet


def packets(result: Path, trial: int | None, form: Format, target: Path | None) -> None:
    """Lists trials, or writes the packets of one."""
    trials = list(kept_trials(result))
    if not trials:
        raise InputError(f"{result} has no trial between two hosts")
    unfinished.say(load_result(result).unfinished)
    if trial is None:
        out.print(_listed(trials))
        return
    if trial > len(trials):
        raise InputError(
            f"{result} has {count_text(len(trials), 'trial')}, there is no trial {trial}"
        )
    chosen = trials[trial - 1]
    path = target or Path(f"packets-{trial}.{form}")
    _write(chosen, form, path)
    out.print(f"written: {path}", soft_wrap=True)


def _write(trial: KeptTrial, form: Format, path: Path) -> None:
    table = trial.packets()
    if form is Format.CSV:
        path.write_text(export.csv(table), encoding="utf-8", newline="")
        return
    if form is Format.PCAPNG:
        flows = list(trial.event.flows)
        comment = f"pentathlon, trial {trial.number}, system {trial.system}, made from records"
        with path.open("wb") as file:
            file.writelines(export.pcapng_blocks(table, flows, comment))
        return
    lines = [
        f"{name},{histogram.encode().decode()}\n"
        for name, histogram in export.histograms(table).items()
    ]
    path.write_text("".join(lines), encoding="ascii")


def _listed(trials: list[KeptTrial]) -> Table:
    table = Sheet()
    table.add_columns("trial", "system", "block", "case", "flow", overflow="fold")
    for title in ("sent", "came", "foreign", "late p99", "gaps off", "sizes off", "bound"):
        table.add_column(title, justify="right", no_wrap=not title.endswith(" off"))
    table.add_column("jitter", no_wrap=True)
    table.add_column("kept")
    for trial in trials:
        case = ", ".join(str(value) for value in trial.event.case.values())
        for flow in trial.event.flows:
            table.add_row(
                str(trial.number),
                trial.system,
                str(trial.block),
                case,
                flow["name"],
                _sent(flow),
                _text(flow["received"]),
                str(flow["foreign"]),
                _time(flow["lateness_p99_s"]),
                _text(flow["gap_distance"]),
                _text(flow["size_distance"]),
                _time((flow["clocks"] or {}).get("bound_ns"), 1e-9),
                _jitter(flow.get("jitter")),
                "yes" if trial.kept else "no",
            )
    return table


def _sent(flow: dict[str, Any]) -> str:
    """What was sent, and of how many packets where some were not."""
    due = flow.get("due")
    return f"{flow['sent']} of {due}" if due and due > flow["sent"] else str(flow["sent"])


def _jitter(points: list[list[float]] | None) -> str:
    """The series as bars, with its largest value."""
    if not points:
        return "unknown"
    peaks = [peak for _, _, peak in points]
    return f"{jitter.line(peaks)} {_time(max(peaks))}"


def _time(value: float | None, unit_s: float = 1.0) -> str:
    """A time with a unit that keeps it short."""
    if value is None:
        return "unknown"
    seconds = value * unit_s
    factor, unit = next(
        (one for one in ((1.0, "s"), (1e3, "ms")) if seconds * one[0] >= 1), (1e6, "us")
    )
    return f"{significant(seconds * factor)} {unit}"


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{value:.3g}"
