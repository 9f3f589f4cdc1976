"""`pentathlon gate`: an exit status for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.archive import WhereOption
from pentathlon.cli.commands.work import done_by


@done_by("gate")
def gate(
    result: shared.ResultOrArchive = None,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            help="Result directory, archive, or system of the same result.",
            show_default="the reference",
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="System to judge.", show_default="all others")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="Differences within this many percent pass.", show_default="the study's"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="WORKLOAD, WORKLOAD.METRIC or pattern to judge; may be repeated."),
    ] = None,
    by_delta: Annotated[
        bool, typer.Option("--by-delta", help="Only slowdowns of at least delta fail.")
    ] = False,
    where: WhereOption = None,
    last: Annotated[
        int, typer.Option(help="So many good results of an archive are the baseline.")
    ] = 5,
    shape: Annotated[
        str, typer.Option("--format", help="terminal, json, junit, github or markdown.")
    ] = "terminal",
    directory: Annotated[
        Path | None,
        typer.Option("--out", help="Write gate.xml (JUnit), gate.md and gate.json there too."),
    ] = None,
    quarantine: Annotated[
        Path | None,
        typer.Option(help="File with rows that are known to be unstable and close no gate."),
    ] = None,
    remeasure: Annotated[
        str | None,
        typer.Option(
            metavar="BUDGET",
            help="Measure again while it is not known well enough: for so long (30m), or so many "
            "blocks (40).",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before what --remeasure starts.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Report by the exit status whether something is slower: 0 no, 4 yes, 5 unknown, 1 failed,
    7 the run has not ended.

    The result is judged against another result (--against DIRECTORY), against the last good results
    of an archive (--against ARCHIVE), or against another system of its own (--against SYSTEM, else
    the study's reference). Of an archive as RESULT the newest that --where chooses is judged
    against those before it.

    Examples:

        pentathlon gate results/new --against results/baseline

        pentathlon gate results/new --delta 2 --only "process.*" --only memory.latency

        pentathlon gate results/two-kernels-20260101T120000Z --system uml-7.2 --json

        pentathlon gate results/new --against archive --where 'study = "nightly"' --format junit

        pentathlon gate results/two-kernels-20260101T120000Z --remeasure 30m
    """
    existing.result_or_archive(result)
