"""`pentathlon publish`: a result as an RO-Crate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing
from pentathlon.cli.commands.work import done_by


@done_by("publish")
def publish(
    result: Annotated[
        Path | None,
        typer.Argument(
            help="Result directory; with --check a crate.", show_default="the newest one"
        ),
    ] = None,
    *,
    directory: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of the crate.", show_default="RESULT-crate"),
    ] = None,
    license_: Annotated[
        str, typer.Option("--license", help="SPDX identifier or address of the data's licence.")
    ] = "",
    authors: Annotated[
        list[str] | None,
        typer.Option("--author", help="Name, with <ORCID address>; may be repeated."),
    ] = None,
    organisation: Annotated[
        str,
        typer.Option(
            "--organisation",
            help="Publisher, and affiliation of the authors, with its <address>.",
        ),
    ] = "",
    date: Annotated[
        str, typer.Option("--date", help="Day of publication, YYYY-MM-DD.", show_default="today")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Compare a crate with what was published.")
    ] = False,
) -> None:
    """Write a result as an RO-Crate, for a repository of research data, or check one.

    The crate is a directory with the data, the plan, the report, the methods and the metadata
    (ro-crate-metadata.json, RO-Crate 1.1), which names the builds of the agent. It is a result
    directory too: `pentathlon compare CRATE` judges it anywhere.

    --check compares each file with its digest, judges the data again and compares the judgement
    with the published one. The exit status is 1 where something differs.

    The data hold what the inventory reports of the machines, such as names of devices and kernel
    command lines: look at it before you publish.

    Examples:

        pentathlon publish results/two-kernels-20260101T120000Z --license CC-BY-4.0

        pentathlon publish --author "Ada Example <https://orcid.org/0000-0002-1825-0097>" --out crate

        pentathlon publish --check crate
    """  # noqa: E501  an example is one line
    existing.result(result)
