"""`pentathlon examples`: the study files that come with the program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by


@done_by("examples")
def examples(
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIRECTORY", help="Copy all of them into this directory."),
    ] = None,
) -> None:
    """List the study files that come with the program, or copy them into a directory.

    docs/examples.md states what each of them needs and how long it takes.

    Examples:

        pentathlon examples

        pentathlon examples --to examples

        pentathlon run examples/two-kernels.toml
    """
