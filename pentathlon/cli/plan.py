"""`pentathlon plan`: what a study would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli import planview
from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.screen import out
from pentathlon.cli.setup import Ready, get_ready
from pentathlon.machine.claims import Busy, Claims
from pentathlon.store.query import load_result

HELP = """Print what a study would do: systems, boots, order, time, privileges, changes.

Every system is booted once, shortly, to estimate the time (the pilot); nothing of that is counted.
Nothing is started that the study names itself, such as commands and kernel files: these are listed.

Examples:

    pentathlon plan examples/two-kernels.toml

    pentathlon plan examples/two-kernels.toml --no-pilot --blocks 20

    pentathlon plan examples/two-kernels.toml --no-pilot --json | jq .plan.blocks

    pentathlon plan --allocate results/two-kernels-20260101T120000Z --half-width 0.5
"""


def plan(
    study: Annotated[Path | None, typer.Argument(help="Study file.", show_default=False)] = None,
    *,
    blocks: Annotated[
        int | None, typer.Option(min=1, help="Number of blocks instead of the study's.")
    ] = None,
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
    with domain_errors():
        if allocate is not None:
            if study is not None:
                raise InputError("--allocate takes everything from the result; leave out STUDY")
            from pentathlon.cli import allocate as allocation  # noqa: PLC0415  loads SciPy

            allocation.show(load_result(allocate), half_width)
            return
        if study is None:
            raise InputError("name a study file, such as: pentathlon plan examples/NAME.toml")
        ready = _ready(study, blocks, with_pilot=not no_pilot)
        if as_json:
            document = {
                "hash": ready.hash,
                "notes": ready.notes,
                "starts": [one.text for one in ready.named],
                "plan": json.loads(ready.plan.canonical()),
            }
            out.print_json(data=document)
        else:
            planview.show(out, ready)


def _ready(study: Path, blocks: int | None, *, with_pilot: bool) -> Ready:
    """The plan; a pilot boots systems, which would disturb a run on the same CPUs."""
    if not with_pilot:
        return get_ready(study, blocks, with_pilot=False)
    try:
        with Claims() as claims:
            return get_ready(study, blocks, with_pilot=True, claims=claims)
    except Busy as error:
        raise Busy(f"{error}; with --no-pilot nothing is booted") from error
