"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Result = Annotated[
    Path | None, typer.Argument(help="Result directory.", show_default="the newest one")
]
ResultOrArchive = Annotated[
    Path | None,
    typer.Argument(help="Result directory, or an archive.", show_default="the newest one"),
]
NewResult = Annotated[
    Path | None,
    typer.Option("--out", help="Result directory.", show_default="a new one in ./results"),
]
Blocks = Annotated[int | None, typer.Option(min=1, help="Number of blocks instead of the study's.")]
Agreed = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask before what the study starts.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
