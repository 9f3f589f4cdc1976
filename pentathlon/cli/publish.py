"""What `pentathlon publish` does."""

from __future__ import annotations

from datetime import UTC, datetime
from datetime import date as day
from pathlib import Path

import typer

from pentathlon.cli import unfinished
from pentathlon.cli.exits import Exit, InputError, of_input
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out
from pentathlon.safeio.escaping import one_line
from pentathlon.store.query import load_result
from pentathlon.study.counting import count_text


def publish(
    result: Path | None,
    *,
    directory: Path | None,
    license_: str,
    authors: list[str] | None,
    organisation: str,
    date: str,
    check: bool,
) -> None:
    if check:
        _check(result)
        return
    from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.report.crate import publish as crate  # noqa: PLC0415
    from pentathlon.report.crate.metadata import Published  # noqa: PLC0415
    from pentathlon.report.crate.problems import CrateError  # noqa: PLC0415

    found = load_result(choose(result))
    target = directory or found.path.with_name(f"{found.path.resolve().name}-crate")
    unfinished.say(found.unfinished, err)
    published = Published(tuple(authors or ()), license_, _date(date), organisation)
    with of_input(CrateError):
        files = crate.publish(found, evaluate(found), target, published)
    for file in files:
        out.print(str(file), soft_wrap=True)
    if not license_:
        err.print("no licence is stated; name one with --license, such as CC-BY-4.0")


def _check(crate: Path | None) -> None:
    from pentathlon.report.crate.check import check as work  # noqa: PLC0415  loads SciPy
    from pentathlon.report.crate.problems import CrateError  # noqa: PLC0415

    if crate is None:
        raise InputError("name the crate that --check looks at")
    with of_input(CrateError):
        done = work(crate)
    for problem in done.problems:
        out.print(one_line(problem), soft_wrap=True)
    if done.problems:
        raise typer.Exit(Exit.FAILURES)
    out.print(
        f"{count_text(done.files, 'file')} as published, and "
        f"{count_text(done.verdicts, 'verdict')} judged again with the same outcome",
        soft_wrap=True,
    )


def _date(text: str) -> str:
    """The day as ISO 8601; today where none is named.

    Raises:
        InputError: it is none.
    """
    if not text:
        return datetime.now(UTC).date().isoformat()
    try:
        return day.fromisoformat(text).isoformat()
    except ValueError as error:
        raise InputError(f'"{text}" is no day; write it as 2026-01-31') from error
