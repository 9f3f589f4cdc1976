"""`pentathlon calibrate`: one system under two names, and what this machine makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by


@done_by("calibrate")
def calibrate(
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="STUDY",
            help="Study file, for its system and workloads.",
            show_default="some workloads on this machine",
        ),
    ] = None,
    *,
    system: Annotated[
        str | None, typer.Option(help="System of the study.", show_default="its reference")
    ] = None,
    blocks: Annotated[int, typer.Option(min=2, help="Number of blocks.")] = 10,
    out_directory: shared.NewResult = None,
    from_result: Annotated[
        Path | None,
        typer.Option(
            "--result", help="Calibrate from a result that has one system under two names."
        ),
    ] = None,
    yes: shared.Agreed = False,
) -> None:
    """Measure one system under two names: the noise floor of this machine and its false alarms.

    What differs between the two names is made by the machine, not by a system. The calibration is
    kept in the state directory; later runs on this machine with the same catalog claim nothing
    below it.

    Examples:

        pentathlon calibrate

        pentathlon calibrate examples/two-kernels.toml --system uml-6.1 --blocks 20

        pentathlon calibrate --result results/calibrate-machine-20260101T120000Z
    """
    existing.study(study)
    if study is None:
        existing.result(from_result)
