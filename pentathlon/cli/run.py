"""`pentathlon run`: measure, judge, report."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from pentathlon.cli import planview, session, spread_pilot, timelimit
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import Exit, InputError, Interrupted, StopSignals
from pentathlon.cli.heartbeat import Heartbeat
from pentathlon.cli.progress import listener
from pentathlon.cli.resume import get_ready_again
from pentathlon.cli.screen import caution, err, out
from pentathlon.cli.setup import claim, get_ready
from pentathlon.machine.claims import Claims
from pentathlon.store.directory import RESULTS
from pentathlon.store.journal import Lock
from pentathlon.store.query import load_result, newest_unfinished


def run(
    study: Path | None,
    *,
    blocks: int | None,
    limit: str | None,
    out_directory: Path | None,
    resume: bool,
    no_report: bool,
    no_pilot: bool,
    wait: bool,
    yes: bool,
) -> None:
    consent = Consent(yes)
    with Claims(waiting=caution if wait else None) as claims:
        if resume:
            if blocks is not None or out_directory is not None or limit is not None:
                raise InputError(
                    "--resume resumes the plan as it is; leave out --blocks, --limit and --out"
                )
            directory = study if study is not None else newest_unfinished(RESULTS)
            result = load_result(directory)
            with Lock(directory):
                pass  # Another run that writes here is the nearer reason than the CPUs that it has.
            ready = get_ready_again(result, consent)
            for note in claim(claims, ready):
                caution(note)
            claims.work_in(directory)
            err.print(f"resumed: {directory} (plan {ready.plan.hash()[:12]})", soft_wrap=True)
            session.go_on(directory, ready, listener(None))
        else:
            if study is None:
                raise InputError("name a study file, such as: pentathlon run examples/NAME.toml")
            most_s = _limit_s(limit, blocks, no_pilot=no_pilot)
            ready = get_ready(
                study,
                blocks,
                with_pilot=not no_pilot,
                claims=claims,
                allow=consent,
                before_pilot=consent.before_changes,
            )
            if most_s is not None:
                pilot = partial(spread_pilot.measure, ready, most_s, claims)
                timelimit.fit(ready, most_s, pilot)
                blocks = ready.plan.study.procedure.blocks
            planview.show(err, ready)
            consent.before_changes(ready.targets)
            directory = session.start(
                ready, out_directory, blocks, listener(ready.estimates), claims=claims
            )
        _finish(directory, report=not no_report)


def _limit_s(limit: str | None, blocks: int | None, *, no_pilot: bool) -> float | None:
    """`--limit` in seconds.

    Raises:
        InputError: it is no time, or an option excludes it.
    """
    if limit is None:
        return None
    if blocks is not None or no_pilot:
        raise InputError(
            "--limit chooses the blocks by what the pilot takes; leave out --blocks and --no-pilot"
        )
    return timelimit.seconds_of(limit)


def _finish(directory: Path, *, report: bool) -> None:
    """Make the tables and the report. Nothing more is measured, so nothing is lost by a stop."""
    try:
        with StopSignals(), Heartbeat(lambda: caution("the tables and the report are being made")):
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
            err.print(f"report:  {file}", soft_wrap=True)
    err.print(f"results: {directory}", soft_wrap=True)
    failures = result.summary().failures
    if failures:
        err.print(
            f"failures that no retry made good: {failures}; pentathlon results show {directory}",
            soft_wrap=True,
        )
    for what, error in faults:
        err.print(
            f"{what} could not be made; everything that was measured is kept in {directory}",
            soft_wrap=True,
        )
        raise error
    if failures:
        status = status or Exit.FAILURES
    raise typer.Exit(status)
