"""`pentathlon history`: one system over several results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands import existing

HELP = """Find since when a system is faster or slower, over several results.

Without results those of the newest study in ./results are taken. A change is named once three
results lie after it.

Examples:

    pentathlon history

    pentathlon history results/nightly-* --system uml-6.1

    pentathlon history results/nightly-* --json
"""


def history(
    results: Annotated[
        list[Path] | None,
        typer.Argument(help="Result directories.", show_default="those of the newest study"),
    ] = None,
    *,
    system: Annotated[
        str | None, typer.Option(help="System.", show_default="the study's reference")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    for one in results or []:
        existing.result(one)
    from pentathlon.cli import history as work

    work.history(results, system=system, as_json=as_json)
