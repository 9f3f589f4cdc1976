"""`pentathlon calibrate`: one system under two names, and what this machine makes of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pentathlon.cli import planview, session, unfinished
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import InputError
from pentathlon.cli.progress import listener
from pentathlon.cli.screen import err, out
from pentathlon.cli.setup import Ready, get_ready
from pentathlon.evaluate.display import interval_text, percent_text
from pentathlon.machine.claims import Claims
from pentathlon.machine.undo_journal import default_state_dir
from pentathlon.procedure.records import utc_now
from pentathlon.protocol import agent
from pentathlon.safeio.escaping import breakable
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store import calibration as store
from pentathlon.store.query import Result, load_result
from pentathlon.study.aa_study import DEFAULT, two_names
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.counting import count_text
from pentathlon.study.load import load_study
from pentathlon.study.write import to_toml
from pentathlon.tables.sheet import Sheet

if TYPE_CHECKING:
    from pentathlon.evaluate.planning.calibration import Calibration


LARGEST = 12
"""Rows of the table of floors that are shown."""


def calibrate(
    study: Path | None,
    *,
    system: str | None,
    blocks: int,
    out_directory: Path | None,
    from_result: Path | None,
    yes: bool,
) -> None:
    if from_result is not None:
        if study is not None or system is not None or out_directory is not None:
            raise InputError("--result measures nothing; leave out STUDY, --system and --out")
        _keep(load_result(from_result))
        return
    with Claims() as claims:
        ready = _ready(study, system, blocks, claims, Consent(yes))
        planview.show(err, ready)
        directory = session.start(
            ready, out_directory, None, listener(None), calibrated=False, claims=claims
        )
    _keep(session.finished_result(directory))


def _ready(
    study: Path | None, system: str | None, blocks: int, claims: Claims, consent: Consent
) -> Ready:
    """The plan of the two names; the study of it lies in the result directory afterwards."""
    text = DEFAULT
    if study is not None:
        loaded = load_study(study, parse_catalog(agent.catalog(agent.locate())))
        text = loaded.text
        names = [one.name for one in loaded.study.systems]
        if system is not None and system not in names:
            hint = did_you_mean(system, names)
            raise InputError(f'"{system}" is no system of {study}{hint}')
    elif system is not None:
        raise InputError("--system names a system of a study; name the study file too")
    # Beside the study, since the files that it names are relative to it.
    beside = study.parent if study is not None and os.access(study.parent, os.W_OK) else None
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=beside, prefix=".calibrate-", suffix=".toml"
    ) as file:
        file.write(to_toml(two_names(text, system, blocks)))
        file.flush()
        made = Path(file.name)
        return get_ready(made, None, with_pilot=False, claims=claims, aa_study=True, allow=consent)


def _keep(result: Result) -> None:
    if result.study.imported:
        raise InputError(f"{result.path} was imported: it does not show how this machine measures")
    from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.planning.calibration import calibrate as judge  # noqa: PLC0415

    try:
        made = judge(evaluate(result), utc_now())
    except ValueError as error:
        raise InputError(f"{result.path} gives no calibration: {error}") from error
    unfinished.say(result.unfinished)
    file = store.keep(made.model_dump(mode="json"), default_state_dir(), result.path)
    _show(made)
    err.print(f"calibration: {file}", soft_wrap=True)
    err.print(f"results:     {result.path}", soft_wrap=True)


def _show(made: Calibration) -> None:
    """The floors, the largest first, and the rate of false alarms."""
    title = f"Noise floor of this machine ({made.layer})"
    table = Sheet(title=title, title_style="bold", header_style="dim")
    table.add_column("metric", overflow="fold")
    table.add_columns("difference %", "interval", "floor %", justify="right")
    ordered = sorted(made.floors, key=lambda one: -one.floor_percent)
    for one in ordered[:LARGEST]:
        table.add_row(
            breakable(one.key),
            f"{one.percent:+.2f}",
            interval_text(one.low_percent, one.high_percent, "{} to {}"),
            percent_text(one.floor_percent, 3),
        )
    out.print(table)
    if len(ordered) > LARGEST:
        smallest = ordered[-1].floor_percent
        out.print(f"and {len(ordered) - LARGEST} more, down to {smallest:.2f} %", style="dim")
    middle = ordered[len(ordered) // 2].floor_percent
    out.print(
        f"\nHalf of {count_text(len(ordered), 'metric')} have a floor of {middle:.2f} % or less."
    )
    text = "none" if not made.called else str(made.called)
    out.print(
        f"Called different in {count_text(made.blocks, 'block')}, after allowing for all "
        f"rows: {text}."
    )
    if made.trials:
        out.print(
            f"False alarms of single metrics in groups of 5 blocks: {made.alarms} of "
            f"{made.trials} ({made.alarm_rate:.1%}; 95 % bounds {made.alarm_low:.1%} to "
            f"{made.alarm_high:.1%}; stated {1 - made.confidence:.0%})."
        )
    else:
        out.print("Fewer than 5 blocks: no rate of false alarms.")
