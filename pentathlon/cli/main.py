"""The command `pentathlon`."""

from __future__ import annotations

import typer

from pentathlon.cli import run

APP_HELP = """Which operating system, kernel, version or configuration is faster for this machine and
this work, by how much, and how sure are we?
"""

app = typer.Typer(
    name="pentathlon",
    help=APP_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def top() -> None:
    pass


app.command("run")(run.run)


def main() -> None:
    """Entry of the console script."""
    app()
