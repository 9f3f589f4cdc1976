"""`pentathlon run`: measure, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli import planview, session
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import Exit, InputError, Interrupted, StopSignals, domain_errors
from pentathlon.cli.heartbeat import Heartbeat
from pentathlon.cli.progress import listener
from pentathlon.cli.resume import get_ready_again
from pentathlon.cli.screen import err, out
from pentathlon.cli.setup import claim, get_ready
from pentathlon.machine.claims import Claims
from pentathlon.store.directory import RESULTS
from pentathlon.store.journal import Lock
from pentathlon.store.query import load_result, newest_unfinished

HELP = """Run a study: boot every system in every block, measure, judge and report.

The plan is printed first: systems, boots, order, expected time, what is written and changed.
Everything that is measured is written to the result directory at once; a run that is cut off, by
Ctrl-C or by a crash, goes on with --resume and loses nothing.

A study is a program. What it names and starts, such as commands, kernel files and ssh
configurations, is listed, and you are asked; outside of a terminal, --yes is needed.

Examples:

    pentathlon run examples/two-kernels.toml

    pentathlon run examples/two-kernels.toml --blocks 10 --out results/long

    pentathlon run --resume    (the newest unfinished result in ./results)

    pentathlon run --resume results/two-kernels-20260101T120000Z
"""


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
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks instead of the study's.")
    ] = None,
    out_directory: Annotated[
        Path | None,
        typer.Option("--out", help="Result directory.", show_default="a new one in ./results"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
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
    consent = Consent(yes)
    with domain_errors(), Claims(waiting=_say if wait else None) as claims:
        if resume:
            if blocks is not None or out_directory is not None:
                raise InputError("--resume resumes the plan as it is; leave out --blocks and --out")
            directory = study if study is not None else newest_unfinished(RESULTS)
            result = load_result(directory)
            with Lock(directory):
                pass  # Another run that writes here is the nearer reason than the CPUs that it has.
            ready = get_ready_again(result, consent)
            for note in claim(claims, ready):
                _say(note)
            claims.work_in(directory)
            err.print(f"resumed: {directory} (plan {ready.plan.hash()[:12]})", soft_wrap=True)
            session.go_on(directory, ready, listener(None))
        else:
            if study is None:
                raise InputError("name a study file, such as: pentathlon run examples/NAME.toml")
            ready = get_ready(
                study,
                blocks,
                with_pilot=not no_pilot,
                claims=claims,
                allow=consent,
                before_pilot=consent.before_changes,
            )
            planview.show(err, ready)
            consent.before_changes(ready.targets)
            directory = session.start(
                ready, out_directory, blocks, listener(ready.estimates), claims=claims
            )
        _finish(directory, report=not no_report)


def _say(sentence: str) -> None:
    err.print(sentence, style="yellow", markup=False, soft_wrap=True)


def _finish(directory: Path, *, report: bool) -> None:
    """Make the tables and the report. Nothing more is measured, so nothing is lost by a stop."""
    try:
        with StopSignals(), Heartbeat(lambda: _say("the tables and the report are being made")):
            _conclude(directory, report=report)
    except (Interrupted, KeyboardInterrupt) as error:
        raise Interrupted(
            f"{error or 'interrupted'}; everything is measured and kept. Write the report with: "
            f"pentathlon report {directory}"
        ) from error


def _conclude(directory: Path, *, report: bool) -> None:
    result = session.finished_result(directory)
    status = Exit.OK
    faults: list[tuple[str, Exception]] = []
    if report:
        from pentathlon.cli import reporting  # noqa: PLC0415  loads SciPy

        done = reporting.after_run(result, out)
        status, faults = done.status, done.faults
        for file in done.files:
            err.print(f"report:  {file}", soft_wrap=True, markup=False)
    err.print(f"results: {directory}", soft_wrap=True, markup=False)
    failures = result.summary().failures
    if failures:
        err.print(
            f"failures that no retry made good: {failures}; pentathlon results show {directory}",
            soft_wrap=True,
            markup=False,
        )
    for what, error in faults:
        err.print(
            f"{what} could not be made; everything that was measured is kept in {directory}",
            soft_wrap=True,
            markup=False,
        )
        raise error
    if failures:
        status = status or Exit.FAILURES
    raise typer.Exit(status)
