"""`pentathlon archive`: thousands of results in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing
from pentathlon.cli.commands.work import done_by

HELP = """Thousands of results in one place: Parquet with an index, and each result as it was.

The archive is a directory or a store that fsspec opens. `history`, `gate`, `compare` and `report`
take it in place of a result, with --where to choose.

Examples:

    pentathlon archive sync results

    pentathlon archive add results/nightly-20260101T120000Z --machine bench3

    pentathlon archive list --where 'study = "nightly" and machine like "bench%"'

    pentathlon archive take 3f2a91 taken
"""

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

ArchiveOption = Annotated[
    str,
    typer.Option(
        "--archive", metavar="PLACE", envvar="PENTATHLON_ARCHIVE",
        help="Directory or URL of the archive.",
    ),
]  # fmt: skip
MachineOption = Annotated[
    str | None,
    typer.Option(help="Machine that measured the results.", show_default="this one's name"),
]
BranchOption = Annotated[
    str, typer.Option(help="Branch that was measured, for --where 'branch = \"main\"'.")
]
WhereOption = Annotated[
    str | None, typer.Option(help="Choose by the index, as 'study = \"nightly\"'.")
]

PagesOption = Annotated[Path, typer.Option("--out", help="Directory of the pages.")]
AlertOption = Annotated[
    str | None,
    typer.Option("--alert", help="Command that gets new changes as JSON on its standard input."),
]


@app.command(no_args_is_help=True)
@done_by("archive")
def add(
    results: Annotated[list[Path], typer.Argument(help="Result directories.")],
    *,
    archive: ArchiveOption = "archive",
    machine: MachineOption = None,
    branch: BranchOption = "",
) -> None:
    """Add results; an archive is made where there is none."""
    for one in results:
        existing.result(one)


@app.command(no_args_is_help=True)
@done_by("archive")
def sync(
    directory: Annotated[Path, typer.Argument(help="Directory of result directories.")],
    *,
    archive: ArchiveOption = "archive",
    machine: MachineOption = None,
    branch: BranchOption = "",
) -> None:
    """Add every ended result of a directory that the archive has not."""


@app.command("list")
@done_by("archive")
def list_command(
    *,
    archive: ArchiveOption = "archive",
    where: WhereOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the index as JSON.")] = False,
) -> None:
    """List the results of an archive."""


@app.command(no_args_is_help=True)
@done_by("archive")
def take(
    result: Annotated[str, typer.Argument(help="First digits of its id, or its name.")],
    out: Annotated[Path, typer.Argument(help="New directory.")],
    *,
    archive: ArchiveOption = "archive",
) -> None:
    """Take a result out again, every file as it was."""


@app.command()
@done_by("archive")
def compact(*, archive: ArchiveOption = "archive") -> None:
    """Merge small files into few; unasked, an addition does it from 64 commits on."""


@app.command()
@done_by("archive")
def site(
    *,
    archive: ArchiveOption = "archive",
    to: PagesOption = Path("public"),
    where: WhereOption = None,
    alert: AlertOption = None,
) -> None:
    """Write static pages with a line for each row; ends with 4 on a new slowdown."""
