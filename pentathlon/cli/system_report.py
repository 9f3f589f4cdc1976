"""`pentathlon doctor --on SYSTEM`: the report on one system, on the screen or as a file."""

from __future__ import annotations

from pathlib import Path

import typer

from pentathlon.cli.exits import Exit, InputError, of_input
from pentathlon.cli.screen import err, out
from pentathlon.doctor.system_report import AREA, report
from pentathlon.machine.undo_journal import default_state_dir
from pentathlon.study.commands.command_line import WordError, system
from pentathlon.study.load import parse_study
from pentathlon.study.system import System
from pentathlon.study.write import to_toml

NAME = "there"


def named(on: str) -> System:
    """A system as `pentathlon try --on` takes it.

    Raises:
        InputError: it names none.
        StudyError: one of its keys is wrong.
    """
    with of_input(WordError):
        table = system(on)
    document = {
        "name": "doctor",
        "reference": NAME,
        "system": [{**table, "name": NAME}],
        "suite": [{"name": AREA, "workloads": [f"{AREA}.getpid"]}],
    }
    return parse_study(to_toml(document), Path("doctor.toml").absolute()).systems[0]


def write(on: str | None, file: Path | None) -> None:
    """Report on a system.

    Args:
        on: the system, as `pentathlon try --on` takes it.
        file: where the report is written; None: it is shown.
    """
    if on is None:
        raise InputError("--report needs a system; add --on, such as --on ssh:bench1")
    if file is not None and file.exists():
        raise InputError(f"{file} exists already; give --report a new file")
    if file is not None and not file.absolute().parent.is_dir():
        raise InputError(f"{file.parent} is no directory; give --report a file in one")
    one = named(on)
    with err.status(f"looking at {on}"):
        made = report(one, on, default_state_dir())
    if file is None:
        out.print(made.text(), soft_wrap=True)
    else:
        file.write_text(made.text(), encoding="utf-8")
        out.print(f"{file}: {len(made.lines)} lines", soft_wrap=True)
    if made.failures:
        err.print(f"{made.failures} parts of the report failed")
        raise typer.Exit(Exit.UNAVAILABLE)
