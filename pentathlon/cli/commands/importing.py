"""`pentathlon import`: results of other tools, judged like those that were measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by

TOOL_HELP = "One of fio, iperf3, sysbench, hyperfine, pgbench, pts, bmf, csv."


@done_by("importing")
def import_(
    tool: Annotated[str, typer.Argument(help=TOOL_HELP)],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What the tool wrote.")],
    *,
    system: Annotated[str, typer.Option(help="System that was measured.")],
    into: Annotated[Path, typer.Option(help="Result directory to make, or to add to.")],
    boot: Annotated[
        int | None, typer.Option(help="Boot of all the files, from 1.", show_default="the next")
    ] = None,
    block: Annotated[
        int | None, typer.Option(help="Block of all the files, from 1: measured in blocks.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=UNIT,higher|lower",
            help="csv, bmf: a column or measure with its unit and better end; may be repeated.",
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN|NAME=VALUE",
            help="csv: a column that tells cases apart; any: a factor to add; may be repeated.",
        ),
    ] = None,
    boots: Annotated[str, typer.Option(metavar="COLUMN", help="csv: column of the boots.")] = "",
    blocks: Annotated[str, typer.Option(metavar="COLUMN", help="csv: column of the blocks.")] = "",
    entry: Annotated[str, typer.Option(help="pts: the system that is taken of the file.")] = "",
) -> None:
    """Import results of fio, iperf3, sysbench, hyperfine, pgbench, Phoronix Test Suite (pts),
    Bencher (bmf) or CSV, as a result that compare, gate, history and report judge.

    Each FILE is one boot of the system. Where --block says in which block it was measured, with one
    boot of every system, the systems are judged paired, else unpaired.

    Examples:

        pentathlon import fio old/1.json old/2.json --system old --into results/disks

        pentathlon import fio new/1.json new/2.json --system new --into results/disks

        pentathlon import iperf3 1.json --system new --block 1 --into results/net

        pentathlon import csv t.csv --system a --measure "time=ms,lower" --case size --into results/t
    """  # noqa: E501  an example is one line
