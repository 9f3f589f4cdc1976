"""`pentathlon published list|show|audit|compare`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by

HELP = "The published studies as data: their tables, their audit, a result beside them."

app = typer.Typer(name="published", help=HELP, no_args_is_help=True, rich_markup_mode=None)


class Format(StrEnum):
    """How a table is written."""

    TERMINAL = "terminal"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"
    HTML = "html"


class Level(StrEnum):
    """The least severity that is listed."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Short name of a study.")]

TableName = Annotated[str, typer.Argument(metavar="TABLE", help="Id or printed name.")]

FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write it.")]


@app.command("list")
@done_by("published")
def list_command(
    study: Annotated[str | None, typer.Argument(help="One study only.")] = None,
    *,
    as_json: shared.AsJson = False,
) -> None:
    """List the studies and their tables and figures.

    Examples:

        pentathlon published list

        pentathlon published list venkata2003
    """


@app.command("show")
@done_by("published")
def show_command(study: StudyName, table: TableName, how: FormatOption = Format.TERMINAL) -> None:
    """Show a table of a study as it is printed, or the numbers of a figure.

    TABLE is an id from the list, or a printed name such as "Table 3" or 3.

    Examples:

        pentathlon published show martinovic2012 3

        pentathlon published show venkata2003 fig-26 --format latex

        pentathlon published show venkata2003 figure-20 --format json
    """


@app.command("audit")
@done_by("published")
def audit_command(
    study: Annotated[str | None, typer.Argument(help="One study only.")] = None,
    *,
    severity: Annotated[Level, typer.Option(help="The least severity to list.")] = Level.NOTE,
    how: FormatOption = Format.TERMINAL,
) -> None:
    """Compute every printed number again that others determine, and list what cannot be.

    A printed number stands for every real that rounds to it. A finding is an error only if no such
    reals give what is printed.

    Examples:

        pentathlon published audit

        pentathlon published audit tolly2007 --severity error

        pentathlon published audit --format json > audit.json
    """


@app.command("compare")
@done_by("published")
def compare_command(
    study: StudyName,
    table: TableName,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result directory.")],
    how: FormatOption = Format.TERMINAL,
) -> None:
    """Put a result of your own beside a published table. It gives no verdict.

    Examples:

        pentathlon published compare venkata2003 fig-26 results/two-kernels-20260101T120000Z
    """
    existing.result(result)
