"""`pentathlon trace import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by

HELP = "Recordings of file input and output, for the workload disk.trace."

app = typer.Typer(name="trace", help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def top() -> None:
    """Keeps `import` a command of its own while it is the only one."""


@app.command("import")
@done_by("trace")
def import_(
    recording: Annotated[Path, typer.Argument(metavar="FILE", help="What strace -o wrote.")],
    target: Annotated[
        Path | None, typer.Option("--out", help="File to write; FILE with the ending .trace.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the trace; that of FILE without ending.")
    ] = None,
) -> None:
    """Turn a recording of strace into a trace that disk.trace replays.

    Record with: strace -f -ttt -T -y -e trace=file,desc,process -o FILE PROGRAM

    Examples:

        pentathlon trace import compile.strace

        pentathlon trace import compile.strace --out compile.trace --name compile
    """
