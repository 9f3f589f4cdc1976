"""`pentathlon run`: measure, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by


@done_by("run")
def run(
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="STUDY",
            help="Study file; with --resume a result directory.",
            show_default=False,
        ),
    ] = None,
    *,
    blocks: shared.Blocks = None,
    limit: Annotated[
        str | None,
        typer.Option(
            help="Time for the whole study, such as 2m: its blocks, and if need be its iterations, "
            "are chosen by what the pilot took.",
            show_default=False,
        ),
    ] = None,
    out_directory: shared.NewResult = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an unfinished run.")] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Only measure; judge and report later.")
    ] = False,
    no_pilot: Annotated[
        bool, typer.Option("--no-pilot", help="Do not boot once to estimate the time.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait for other runs on the same CPUs or settings to end."),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask before changes and what the study starts."),
    ] = False,
) -> None:
    """Run a study: boot every system in every block, measure, judge and report.

    The plan is printed first: systems, boots, order, expected time, what is written and changed.
    Everything that is measured is written to the result directory at once; a run that is cut off,
    by Ctrl-C or by a crash, goes on with --resume and loses nothing.

    A study is a program. What it names and starts, such as commands, kernel files and ssh
    configurations, is listed, and you are asked; outside of a terminal, --yes is needed.

    Examples:

        pentathlon run examples/two-kernels.toml

        pentathlon run examples/two-kernels.toml --blocks 10 --out results/long

        pentathlon run examples/two-kernels.toml --limit 2m

        pentathlon run --resume    (the newest unfinished result in ./results)

        pentathlon run --resume results/two-kernels-20260101T120000Z
    """
    if not resume:
        existing.study(study)
