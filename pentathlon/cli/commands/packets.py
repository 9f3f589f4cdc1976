"""`pentathlon packets`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing
from pentathlon.cli.commands.work import done_by


class Format(StrEnum):
    """What the packets are written as."""

    CSV = "csv"
    PCAPNG = "pcapng"
    HDR = "hdr"


@done_by("packets")
def packets(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result directory.")],
    trial: Annotated[
        int | None, typer.Option("--trial", min=1, help="Number of a trial in the list.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Tables, a capture, or histograms of delays.")
    ] = Format.CSV,
    target: Annotated[Path | None, typer.Option("--out", help="File to write.")] = None,
) -> None:
    """Show the trials between two hosts, or export the packets of one.

    Without --trial every trial is listed: what was sent and came, how far the generator was from
    the models of gaps and sizes, the bound of the clocks, and the jitter of RFC 3550 over the time
    of the flow: its bars reach up to the value beside them. With it the packets of that trial are
    written.

    Examples:

        pentathlon packets results/STUDY

        pentathlon packets results/STUDY --trial 3 --format pcapng --out trial.pcapng
    """
    existing.result(result)
