"""`pentathlon run`: measure, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli import session
from pentathlon.cli.exits import Exit, InputError, domain_errors
from pentathlon.cli.progress import PlainLines
from pentathlon.cli.resume import get_ready_again
from pentathlon.cli.screen import err
from pentathlon.cli.setup import get_ready
from pentathlon.store.directory import RESULTS
from pentathlon.store.query import Result, load_result, newest_unfinished

HELP = """Run a study: boot every system in every block, measure, judge and report.

The plan is printed first: systems, boots, order, expected time, what is written and changed.
Everything that is measured is written to the result directory at once; a run that is cut off, by
Ctrl-C or by a crash, goes on with --resume and loses nothing.

Examples:

  pentathlon run examples/two-kernels.toml
  pentathlon run examples/two-kernels.toml --blocks 10 --out results/long
  pentathlon run --resume                     (the newest unfinished result in ./results)
  pentathlon run --resume results/two-kernels-20260101T120000Z
"""


def run(
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="[STUDY]", help="Study file; with --resume a result directory.", show_default=""
        ),
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks instead of the study's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Result directory.", show_default="a new one in ./results")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Only measure; judge and report later.")
    ] = False,
    no_pilot: Annotated[
        bool, typer.Option("--no-pilot", help="Do not boot once to estimate the time.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changes.")] = False,
) -> None:
    with domain_errors():
        if resume:
            directory = study if study is not None else newest_unfinished(RESULTS)
            if blocks is not None or out is not None:
                raise InputError(
                    "--resume goes on with the plan as it is; leave --blocks and --out"
                )
            ready = get_ready_again(load_result(directory))
            session.go_on(directory, ready, PlainLines)
        else:
            if study is None:
                raise InputError("name a study file, such as examples/two-kernels.toml")
            ready = get_ready(study, blocks)
            directory = session.start(ready, out, blocks, PlainLines)
        result = session.finished_result(directory)
        err.print(f"results: {directory}", soft_wrap=True)
        if any(failure for failure in result.state.unresolved()):
            raise typer.Exit(Exit.FAILURES)


run.__doc__ = HELP
_ = Result
