"""`pentathlon packets`."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.screen import out
from pentathlon.store.packets import KeptTrial, kept_trials
from pentathlon.traffic import export

HELP = """Show the trials between two hosts, or export the packets of one.

Without --trial every trial is listed: what was sent and came, how well the generator kept to the
models, and the bound of the clocks. With it the packets of that trial are written.

Examples:

    pentathlon packets results/STUDY

    pentathlon packets results/STUDY --trial 3 --format pcapng --out trial.pcapng
"""


class Format(enum.StrEnum):
    """What the packets are written as."""

    CSV = "csv"
    PCAPNG = "pcapng"
    HDR = "hdr"


def packets(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result directory.")],
    trial: Annotated[
        int | None, typer.Option("--trial", min=1, help="Number of a trial in the list.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Tables, a capture, or histograms of delays.")
    ] = Format.CSV,
    target: Annotated[Path | None, typer.Option("--out", help="File to write.")] = None,
) -> None:
    """Lists trials, or writes the packets of one."""
    with domain_errors():
        trials = list(kept_trials(result))
        if not trials:
            raise InputError(f"{result} has no trial between two hosts")
        if trial is None:
            out.print(_listed(trials))
            return
        if trial > len(trials):
            raise InputError(f"{result} has {len(trials)} trials, there is no trial {trial}")
        chosen = trials[trial - 1]
        path = target or Path(f"packets-{trial}.{form}")
        _write(chosen, form, path)
        out.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)


def _write(trial: KeptTrial, form: Format, path: Path) -> None:
    table = trial.packets()
    if form is Format.CSV:
        path.write_text(export.csv(table), encoding="utf-8", newline="")
        return
    if form is Format.PCAPNG:
        flows = trial.event["flows"]
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
    table = Table(box=None, pad_edge=False)
    for title in ("trial", "system", "block", "case", "flow"):
        table.add_column(title)
    for title in ("sent", "came", "foreign", "late p99", "gaps off", "bound", "kept"):
        table.add_column(title, justify="right")
    for trial in trials:
        case = ",".join(f"{name}={value}" for name, value in trial.event["case"].items())
        for flow in trial.event["flows"]:
            table.add_row(
                str(trial.number),
                trial.system,
                str(trial.block),
                case,
                flow["name"],
                str(flow["sent"]),
                _text(flow["received"]),
                str(flow["foreign"]),
                _text(flow["lateness_p99_s"], 1e6, " us"),
                _text(flow["gap_distance"]),
                _text((flow["clocks"] or {}).get("bound_ns"), 1e-3, " us"),
                "yes" if trial.kept else "no",
            )
    return table


def _text(value: Any, factor: float = 1.0, unit: str = "") -> str:
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{value * factor:.3g}{unit}"
