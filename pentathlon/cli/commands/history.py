"""`pentathlon history`: one system over several results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing
from pentathlon.cli.commands.archive import WhereOption
from pentathlon.cli.commands.work import done_by


@done_by("history")
def history(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Result directories, or an archive.", show_default="those of the newest study"
        ),
    ] = None,
    *,
    system: Annotated[
        str | None, typer.Option(help="System.", show_default="the study's reference")
    ] = None,
    where: WhereOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="WORKLOAD, WORKLOAD.METRIC or pattern to look at; may be repeated."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with a line for each row.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """Find since when a system is faster or slower, over several results.

    Without results those of the newest study in ./results are taken; of an archive those that
    --where chooses. A change is named once three results lie after it. The exit status is 4 where
    the last change of a row is one to slower.

    Examples:

        pentathlon history

        pentathlon history results/nightly-* --system uml-6.1

        pentathlon history results/nightly-* --json

        pentathlon history archive --where 'study = "nightly" and machine = "bench3"'
    """
    for one in results or []:
        existing.result_or_archive(one)
