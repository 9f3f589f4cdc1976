"""`pentathlon plan`: what a study would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli import planview
from pentathlon.cli.exits import domain_errors
from pentathlon.cli.screen import out
from pentathlon.cli.setup import get_ready

HELP = """Print what a study would do: systems, boots, order, time, privileges, changes.

Every system is booted once, shortly, to estimate the time (the pilot); nothing of that is counted.

Examples:

    pentathlon plan examples/two-kernels.toml

    pentathlon plan examples/two-kernels.toml --no-pilot --blocks 20

    pentathlon plan examples/two-kernels.toml --no-pilot --json | jq .plan.blocks
"""


def plan(
    study: Annotated[Path, typer.Argument(help="Study file.")],
    *,
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks instead of the study's.")
    ] = None,
    no_pilot: Annotated[
        bool, typer.Option("--no-pilot", help="Boot nothing; the time is then not estimated.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    with domain_errors():
        ready = get_ready(study, blocks, with_pilot=not no_pilot)
        if as_json:
            document = {
                "hash": ready.plan.hash(),
                "notes": ready.notes,
                "plan": json.loads(ready.plan.canonical()),
            }
            out.print_json(data=document)
        else:
            planview.show(out, ready)
