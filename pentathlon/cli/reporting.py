"""From a result to its judgement on the screen and its report files.

Commands load this module only when they need it: SciPy takes longer to load than most commands run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from pentathlon.cli.exits import Exit, InputError
from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.report.terminal import screen
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.query import Result

HTML = "report.html"


T = TypeVar("T")


@dataclass
class Written:
    """What was made of a result, and what could not be made.

    Attributes:
        files: in the order in which they were requested.
        faults: (what could not be made, why).
        status: the exit status of the judgement itself.
    """

    files: list[Path] = field(default_factory=list)
    faults: list[tuple[str, Exception]] = field(default_factory=list)
    status: Exit = Exit.OK

    def attempt(self, what: str, make: Callable[[], T]) -> T | None:
        """What `make` returns; None where it fails, which is kept and stops nothing else."""
        try:
            return make()
        except Exception as error:
            self.faults.append((what, error))
            return None


def after_run(result: Result, console: Console) -> Written:
    """Judge a result, write the HTML report and then print the answer.

    The order is that of what lasts: a fault of one of them costs none of the others.
    """
    done = Written()
    evaluation = done.attempt("the judgement", lambda: evaluate(result))
    if evaluation is None:
        return done
    done.status = status(evaluation)
    file = done.attempt(HTML, lambda: write_html(evaluation, result))
    if file is not None:
        done.files.append(file)
    done.attempt("the view in the terminal", lambda: _print(evaluation, console))
    return done


def _print(evaluation: Evaluation, console: Console) -> None:
    try:
        screen.render(evaluation, console, tables=False)
    except BrokenPipeError:
        # Whoever reads has seen enough; what is still buffered must not be an error at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except SystemExit:
        # So Rich raises the same; the end of the run is still to be reported.
        pass


def on_screen(result: Result, console: Console, *, tables: bool, full: bool) -> Exit:
    """Judge a result and print the answer; returns the exit status."""
    evaluation = evaluate(result)
    screen.render(evaluation, console, full=full, tables=tables or full)
    return status(evaluation)


def status(evaluation: Evaluation) -> Exit:
    """What a command that shows a judgement exits with."""
    return Exit.IDENTICAL if evaluation.with_itself else Exit.OK


def write_html(evaluation: Evaluation, result: Result) -> Path:
    """Write the HTML report; returns its file."""
    from pentathlon.report.html import page  # noqa: PLC0415  loads Jinja, and the papers' tables

    file = result.path / HTML
    page.write(evaluation, result, file)
    return file


def write_formats(
    result: Result, formats: Sequence[str], directory: Path | None, columns: int
) -> Written:
    """Write the report in the formats that are requested, each of them whatever the others do."""
    from pentathlon.report.export import files as export  # noqa: PLC0415

    evaluation = evaluate(result)
    target = directory or result.path
    target.mkdir(parents=True, exist_ok=True)
    done = Written(status=status(evaluation))
    for name in formats:
        make = partial(export.write, evaluation, result, target, [name], columns)
        done.files += done.attempt(f"the format {name}", make) or []
    return done


def parse_formats(text: str) -> list[str]:
    """The formats of `--format html,csv`.

    Raises:
        InputError: one of them is unknown.
    """
    from pentathlon.report.export import files as export  # noqa: PLC0415  loads papers' tables

    formats = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in formats:
        if name not in export.FORMATS:
            raise InputError(f'"{name}" is no report format{did_you_mean(name, export.FORMATS)}')
    if not formats:
        raise InputError(f"name at least one report format; known: {', '.join(export.FORMATS)}")
    return list(dict.fromkeys(formats))
