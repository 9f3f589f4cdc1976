"""`pentathlon try`: a command of one's own, measured and judged in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import shared
from pentathlon.cli.commands.work import done_by


@done_by("try_command")
def try_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND ARG...", help="The command.", show_default=False),
    ] = None,
    *,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on", metavar="SYSTEM", help="A system; may be repeated.", show_default="this machine"
        ),
    ] = None,
    limit: Annotated[
        str, typer.Option("--limit", metavar="TIME", help="Longest time: 90s, 2m or 1h.")
    ] = "2m",
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Pattern whose group is the value in the output; or cpu, peak_memory.",
            show_default="the wall time",
        ),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Its unit.", show_default=False)] = None,
    higher: Annotated[bool, typer.Option("--higher", help="More of it is better.")] = False,
    lower: Annotated[bool, typer.Option("--lower", help="Less of it is better.")] = False,
    same: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="Pattern that must match the same everywhere.", show_default=False
        ),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", help="A file that the command needs; may be repeated."),
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A ready definition instead of a command (pentathlon catalog --packs).",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the study too.")
    ] = None,
    out_directory: shared.NewResult = None,
) -> None:
    """Measure a command of your own on one system or several, and print the answer.

    What the command names of the present directory is copied to each system, into a fresh directory
    for each run. A shell runs the command only if it is one argument with a shell's characters; its
    standard input is empty, and what it starts ends with it. Systems are measured in turn, in
    blocks, until it is decided which is faster or the time is over.

    A system is local, local:SETTING=VALUE, netns, uml:KERNEL, qemu:KERNEL, gvisor, ssh:HOST, oci or
    wine; further parts follow with commas: uml:6.1,memory=1G. The first one is the reference.

    Several commands, with -- between them, are compared with each other.

    Examples:

        pentathlon try --on uml:6.1 --on uml:newest -- ./mybench --size 4

        pentathlon try --on local --on local:transparent_hugepage=never -- ./mybench

        pentathlon try --metric 'rate: ([0-9.]+)' --unit req/s --higher --on ssh:bench1 -- ./server-test

        pentathlon try -- 'gzip -9 -k data' -- 'zstd -19 data'

        pentathlon try --save study.toml -- make -C src

        pentathlon try --pack fio --on uml:6.1 --on uml:newest
    """  # noqa: E501  an example is one line
