"""The command `pentathlon`."""

from __future__ import annotations

from typing import Annotated

import typer

from pentathlon import __version__, agent
from pentathlon.cli import (
    calibrate,
    gate,
    history,
    link,
    machine,
    packets,
    plan,
    published,
    report,
    results,
    run,
    tables,
    trace,
)
from pentathlon.cli.screen import out

APP_HELP = """Which operating system, kernel, version or configuration is faster for this machine
and this work, by how much, and how sure are we?

A study file names systems, workloads and the procedure. `run` measures, judges and reports.

Examples:

    pentathlon doctor

    pentathlon plan examples/two-kernels.toml

    pentathlon run examples/two-kernels.toml

    pentathlon run --resume

    pentathlon results list
"""

app = typer.Typer(
    name="pentathlon",
    help=APP_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if not asked:
        return
    try:
        line = agent.version()
    except agent.AgentError as error:
        line = f"pentathlon-agent: {error}"
    out.print(f"pentathlon {__version__}\n{line}", markup=False, soft_wrap=True)
    raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions."),
    ] = False,
) -> None:
    """Options that hold for every command."""


app.command("run", help=run.HELP)(run.run)
app.command("plan", help=plan.HELP)(plan.plan)
app.add_typer(results.app, name="results")
app.command("compare", help=report.COMPARE_HELP)(report.compare)
app.command("report", help=report.REPORT_HELP)(report.report)
app.command("packets", help=packets.HELP)(packets.packets)
app.command("tables", help=tables.HELP)(tables.tables)
app.command("calibrate", help=calibrate.HELP)(calibrate.calibrate)
app.command("history", help=history.HELP)(history.history)
app.command("gate", help=gate.HELP)(gate.gate)
app.add_typer(published.app, name="published")
app.add_typer(trace.app, name="trace")
app.add_typer(link.app, name="link")
app.command("catalog", help=machine.CATALOG_HELP)(machine.catalog)
app.command("inventory", help=machine.INVENTORY_HELP)(machine.inventory)
app.command("doctor", help=machine.DOCTOR_HELP)(machine.doctor)


def main() -> None:
    """Entry of the console script."""
    app(prog_name="pentathlon")
