"""`pentathlon gate`: an exit status for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing

HELP = """Report by the exit status whether something is slower: 0 no, 4 yes, 5 unknown, 1 failed,
7 the run has not ended.

The result is judged against another result (--against DIRECTORY), or against another system of
its own (--against SYSTEM, else the study's reference).

Examples:

    pentathlon gate results/new --against results/baseline

    pentathlon gate results/new --delta 2 --only "process.*" --only memory.latency

    pentathlon gate results/two-kernels-20260101T120000Z --system uml-7.2 --json
"""


def gate(
    result: Annotated[
        Path | None, typer.Argument(help="Result directory.", show_default="the newest one")
    ] = None,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            help="Result directory, or system of the same result.", show_default="the reference"
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the judgement as JSON.")] = False,
) -> None:
    existing.result(result)
    from pentathlon.cli import gate as work

    work.gate(
        result,
        against=against,
        system=system,
        delta=delta,
        only=only,
        by_delta=by_delta,
        as_json=as_json,
    )
