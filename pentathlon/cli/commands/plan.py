"""`pentathlon plan`: what a study would do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by


@done_by("plan")
def plan(
    study: Annotated[Path | None, typer.Argument(help="Study file.", show_default=False)] = None,
    *,
    blocks: shared.Blocks = None,
    no_pilot: Annotated[
        bool, typer.Option("--no-pilot", help="Boot nothing; the time is then not estimated.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    allocate: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULT",
            help="Recommend iterations, processes and boots, with a result as the pilot.",
            show_default=False,
        ),
    ] = None,
    half_width: Annotated[
        float,
        typer.Option(min=0.001, max=99.0, help="With --allocate: wanted half width, in percent."),
    ] = 1.0,
) -> None:
    """Print what a study would do: systems, boots, order, time, privileges, changes.

    Every system is booted once, shortly, to estimate the time (the pilot); nothing of that is
    counted. Nothing is started that the study names itself, such as commands and kernel files:
    these are listed.

    Examples:

        pentathlon plan examples/two-kernels.toml

        pentathlon plan examples/two-kernels.toml --no-pilot --blocks 20

        pentathlon plan examples/two-kernels.toml --no-pilot --json | jq .plan.blocks

        pentathlon plan --allocate results/two-kernels-20260101T120000Z --half-width 0.5
    """
    existing.study(study)
    if study is None:
        existing.result(allocate)
