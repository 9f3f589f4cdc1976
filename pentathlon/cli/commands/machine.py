"""`pentathlon catalog`, `inventory`, `doctor`: what can be measured, and what this machine is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import shared
from pentathlon.cli.commands.work import done_by


@done_by("machine")
def catalog(
    workload: Annotated[str | None, typer.Argument(help="Workload id.")] = None,
    *,
    as_json: shared.AsJson = False,
    packs: Annotated[
        bool,
        typer.Option("--packs", help="Show the ready definitions of well-known programs instead."),
    ] = False,
) -> None:
    """Show the workloads, or one workload with its parameters and metrics.

    Examples:

        pentathlon catalog

        pentathlon catalog memory.read

        pentathlon catalog --json

        pentathlon catalog --packs    (ready definitions of fio, sysbench and others)

        pentathlon catalog --packs fio
    """


@done_by("machine")
def inventory(*, as_json: shared.AsJson = False) -> None:
    """Show what the agent finds out about this machine.

    What the system does not report is shown as unsupported, with the reason.

    Examples:

        pentathlon inventory

        pentathlon inventory --json | jq .system.cpu
    """


@done_by("machine")
def doctor(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only look; boot nothing.")] = False,
    install: Annotated[
        bool, typer.Option("--install", help="Fetch what is missing and needs no root.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help='With --install: fetch this alone, such as "qemu 6.1-rt".'),
    ] = None,
    restore: Annotated[
        bool,
        typer.Option("--restore", help="Put back what a crashed run or --apply left changed."),
    ] = False,
    quiet_check: Annotated[
        bool, typer.Option("--quiet-check", help="Report what would disturb a measurement now.")
    ] = False,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="With --quiet-check: set governor, turbo, ASLR, huge pages, interrupts.",
        ),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="SYSTEM", help="Report on this system, as for `try`."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --on: write the report to this new file."),
    ] = None,
) -> None:
    """Report what works on this machine, and the command that would make the rest work.

    Examples:

        pentathlon doctor

        pentathlon doctor --quick      (boots nothing)

        pentathlon doctor --install    (fetches kernels and gVisor, without root)

        pentathlon doctor --install --only "qemu 6.1-rt"

        pentathlon doctor --quiet-check            (what would disturb a measurement)

        pentathlon doctor --quiet-check --apply    (sets what can be set; --restore puts it back)

        pentathlon doctor --restore    (puts back what a crashed run left changed)

        pentathlon doctor --on ssh:bench1 --report bench1.txt    (what works on one system, as a file)
    """  # noqa: E501  an example is one line
