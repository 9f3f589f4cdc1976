"""`pentathlon settings`: what this machine lets be set."""

from __future__ import annotations

from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by


@done_by("settings")
def settings(
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="SYSTEM", help="A system, as for `try`.", show_default="this machine"
        ),
    ] = None,
    *,
    formats: Annotated[
        str, typer.Option("--format", metavar="table|json", help="How it is printed.")
    ] = "table",
) -> None:
    """List what this machine lets be set for a system of a study, and what can depend on it.

    Each setting stands with its present value, the values that it may have, the rights that it
    takes and the workloads that can depend on it. Nothing is changed. Settings are the factors of a
    study with design = "factorial", which finds out which of them matter.

    Examples:

        pentathlon settings

        pentathlon settings --format json

        pentathlon settings --on uml
    """
