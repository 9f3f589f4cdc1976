"""`pentathlon tables`: the tables of the studies with one's own systems in the columns."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.archive import WhereOption
from pentathlon.cli.commands.work import done_by


class Format(StrEnum):
    """How the tables are written."""

    TERMINAL = "terminal"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


@done_by("tables")
def tables(
    result: shared.ResultOrArchive = None,
    *,
    where: WhereOption = None,
    study: Annotated[str | None, typer.Option(help="One study only.")] = None,
    table: Annotated[str | None, typer.Option(help="One table only, as table-3.")] = None,
    how: Annotated[Format, typer.Option("--format", "-f", help="How to write them.")] = (
        Format.TERMINAL
    ),
) -> None:
    """Print the tables of the published studies with your own systems in the columns.

    A table appears if at least one of its rows was measured. Of a factorial design the effects of
    its factors come first (`--table effects` prints them alone).

    Examples:

        pentathlon tables results/venkata2003-20260101T120000Z

        pentathlon tables --study martinovic2012 --table table-3 --format latex

        pentathlon tables --format markdown > tables.md

        pentathlon tables archive --where 'result like "3f2a91%"'
    """
    existing.result_or_archive(result)
