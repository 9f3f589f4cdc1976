"""`pentathlon report` and `pentathlon compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, judging, shared
from pentathlon.cli.commands.archive import WhereOption
from pentathlon.cli.commands.work import done_by


@done_by("report")
def report(
    result: shared.Result = None,
    *,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="Formats with commas: html, csv, markdown, latex, siunitx, json, hyperfine, "
            "bmf, benchstat, methods, svg, pdf.",
        ),
    ] = "html",
    directory: Annotated[
        Path | None, typer.Option("--out", help="Directory.", show_default="the result's own")
    ] = None,
    columns: Annotated[
        int, typer.Option(help="Columns of a page that svg and pdf go over: 1 or 2.")
    ] = 2,
    open_it: Annotated[
        str, typer.Option("--open", metavar="yes|no", help="Open the HTML in a browser.")
    ] = "no",
    delta: judging.DeltaOption = None,
    confidence: judging.ConfidenceOption = None,
    declared: judging.DeclaredOption = None,
    weights: judging.WeightsOption = None,
    only: judging.OnlyOption = None,
    where: WhereOption = None,
) -> None:
    """Write the report of a result: HTML with pictures, and exports.

    Examples:

        pentathlon report results/two-kernels-20260101T120000Z

        pentathlon report results/two-kernels-20260101T120000Z --format html,csv,latex

        pentathlon report --format svg,pdf,siunitx,methods --columns 1    (for a paper)

        pentathlon report --open no

        pentathlon report --delta 2 --weights process=2,memory=1

        pentathlon report archive --where 'result like "3f2a91%"' --out report
    """
    existing.result_or_archive(result)


@done_by("report")
def compare(
    result: shared.Result = None,
    a: Annotated[
        str | None,
        typer.Argument(help="System to compare with, or a result.", show_default="the reference"),
    ] = None,
    b: Annotated[
        str | None, typer.Argument(help="System to judge.", show_default="all others")
    ] = None,
    c: Annotated[
        str | None,
        typer.Argument(help="With two results: system of the second.", show_default="the same"),
    ] = None,
    *,
    tables: Annotated[
        bool, typer.Option("--tables", help="The tables too, with a line for each curve.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="The tables with every case.")] = False,
    delta: judging.DeltaOption = None,
    confidence: judging.ConfidenceOption = None,
    declared: judging.DeclaredOption = None,
    weights: judging.WeightsOption = None,
    only: judging.OnlyOption = None,
    where: WhereOption = None,
) -> None:
    """Print the judgement of a result: every system against the reference.

    The answer in a line for each area comes first, then the strongest differences, what is open
    with the command that would decide it, and what was not measured. --tables prints the tables
    behind it.

    Name two systems to compare the second with the first, whichever is the study's reference. Name
    a second result to compare a system of it with the first result's: unpaired, so more cautious.

    What the study planned is judged; --delta, --confidence, --declared, --weights and --only choose
    otherwise, and every output is then marked "post hoc".

    Examples:

        pentathlon compare results/two-kernels-20260101T120000Z

        pentathlon compare --tables

        pentathlon compare --only "process.*" --delta 2

        pentathlon compare results/before results/after

        pentathlon compare results/before results/after uml-6.1 uml-7.2

        pentathlon compare archive --where 'result like "3f2a91%"'

        pentathlon compare results/two-kernels-20260101T120000Z uml-6.1 uml-7.2
    """
    existing.result_or_archive(result)
