"""`pentathlon plan`: what a study would do."""

from __future__ import annotations

import json
from pathlib import Path

from pentathlon.cli import planview
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.cli.setup import Ready, get_ready
from pentathlon.machine.claims import Busy, Claims


def plan(
    study: Path | None,
    *,
    blocks: int | None,
    no_pilot: bool,
    as_json: bool,
    allocate: Path | None,
    half_width: float,
) -> None:
    if allocate is not None:
        if study is not None:
            raise InputError("--allocate takes everything from the result; leave out STUDY")
        from pentathlon.cli import allocate as allocation  # noqa: PLC0415  loads SciPy
        from pentathlon.store.query import load_result  # noqa: PLC0415  loads Polars

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
