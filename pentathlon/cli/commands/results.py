"""`pentathlon results list` and `pentathlon results show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by

HELP = "List and show result directories."

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
@done_by("results")
def list_command(
    root: Annotated[Path, typer.Argument(help="Directory of results.")] = Path("results"),
    *,
    as_json: shared.AsJson = False,
) -> None:
    """List the results in a directory, newest first.

    Examples:

        pentathlon results list

        pentathlon results list /data/results --json
    """


@app.command("show")
@done_by("results")
def show_command(
    result: shared.Result = None,
) -> None:
    """Show one result: its study, how far it is, what was measured, what failed.

    Examples:

        pentathlon results show results/two-kernels-20260101T120000Z

        pentathlon results show    (the newest one)
    """
    existing.result(result)
