"""The command `pentathlon`."""

from __future__ import annotations

from typing import Annotated

import typer

from pentathlon import __version__
from pentathlon.cli.ondemand import Entry, group
from pentathlon.cli.screen import out
from pentathlon.protocol import agent

APP_HELP = """Which operating system, kernel, version or configuration is faster for this machine
and this work, by how much, and how sure are we?

A study file names systems, workloads and the procedure. `run` measures, judges and reports.

Examples:

    pentathlon doctor

    pentathlon examples --to examples

    pentathlon plan examples/two-kernels.toml

    pentathlon run examples/two-kernels.toml

    pentathlon run --resume

    pentathlon results list
"""

COMMANDS = {
    "try": Entry(
        "Measure a command of your own on one system or several, and print the answer.",
        "try_command",
        function="try_command",
    ),
    "run": Entry("Run a study: boot every system in every block, measure, judge and report."),
    "plan": Entry("Print what a study would do: systems, boots, order, time, privileges, changes."),
    "examples": Entry("List the study files that come with the program, or copy them."),
    "compare": Entry(
        "Print the judgement of a result: every system against the reference.", "report"
    ),
    "report": Entry("Write the report of a result: HTML with pictures, and exports."),
    "publish": Entry("Write a result as an RO-Crate for a data repository, or check one."),
    "import": Entry(
        "Import results of fio, iperf3, sysbench, hyperfine, pgbench, pts, bmf or CSV.",
        "importing",
        function="import_",
    ),
    "packets": Entry("Show the trials between two hosts, or export the packets of one."),
    "tables": Entry(
        "Print the tables of the published studies with your own systems in the columns."
    ),
    "calibrate": Entry(
        "Measure one system under two names: the noise floor of this machine and its false alarms."
    ),
    "history": Entry("Find since when a system is faster or slower, over several results."),
    "gate": Entry(
        "Report by the exit status whether something is slower: 0 no, 4 yes, 5 unknown, 1 failed."
    ),
    "catalog": Entry(
        "Show the workloads, or one workload with its parameters and metrics.", "machine"
    ),
    "inventory": Entry("Show what the agent finds out about this machine.", "machine"),
    "doctor": Entry(
        "Report what works on this machine, and the command that would make the rest work.",
        "machine",
    ),
    "boots": Entry("List what a machine can boot, as TOML to paste into a study."),
    "archive": Entry("Thousands of results in one place: add, sync, list, take out again."),
    "site": Entry("Write static pages of an archive, and report new changes of speed."),
    "campaign": Entry("One study on several machines, and what holds for all of them."),
    "settings": Entry("List what this machine lets be set, and which workloads can depend on it."),
    "results": Entry("List and show result directories."),
    "published": Entry(
        "The published studies as data: their tables, their audit, a result beside them."
    ),
    "trace": Entry("Recordings of file input and output, for the workload disk.trace."),
    "link": Entry("Emulated links: their profiles, and whether this machine can keep to them."),
}
"""In the order of their list. Each module is imported when the command is called or asked for help;
what does its work, which loads polars, pydantic and SciPy, only when it is called."""

app = typer.Typer(
    name="pentathlon",
    cls=group(COMMANDS),
    help=APP_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if not requested:
        return
    try:
        line = agent.version()
    except agent.AgentError as error:
        line = f"pentathlon-agent: {error}"
    out.print(f"pentathlon {__version__}\n{line}", soft_wrap=True)
    raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions."),
    ] = False,
) -> None:
    """Options that hold for every command."""
