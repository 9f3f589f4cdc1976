"""`pentathlon link`: emulated links."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from pentathlon.cli.commands import shared
from pentathlon.cli.commands.work import done_by

Engine: TypeAlias = Literal["agent", "netem", "netem-uml"]
"""As `testbed/link/testbed.py` has it."""

HELP = "Emulated links: their profiles, and whether this machine can keep to them."

app = typer.Typer(name="link", help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.command("run")
@done_by("link_run")
def run(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="Name or file of a profile.")],
    first: Annotated[
        str, typer.Argument(metavar="IF1", help="INTERFACE or NAMESPACE/INTERFACE; up is from it.")
    ],
    second: Annotated[str, typer.Argument(metavar="IF2", help="Likewise; up is to it.")],
    *,
    duration: Annotated[
        float | None, typer.Option("--seconds", help="End after so many seconds.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides what is lost, delayed and so on.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Emulate a link between two network interfaces of this machine until Ctrl-C.

    The interfaces are there already: Ethernet cards, ends of veth pairs, TAP or TUN devices. They
    are up, have no address, and what is to talk over the link is at their other ends. IF1 is the
    client's end. NAMESPACE/INTERFACE names one in a network namespace with a name. Needs root.

    Examples:

        pentathlon link run wan-10m-50ms eth1 eth2

        pentathlon link run mine.toml tap0 office/veth1 --seconds 60 --json
    """


@app.command("profiles")
@done_by("link")
def profiles(*, as_json: shared.AsJson = False) -> None:
    """List the link profiles.

    Examples:

        pentathlon link profiles

        pentathlon link profiles --json
    """


@app.command("calibrate")
@done_by("link")
def calibrate(
    profile: Annotated[
        str, typer.Argument(metavar="PROFILE", help="Name or file of a profile, or all.")
    ],
    *,
    seed: Annotated[int, typer.Option(help="Decides what is lost, delayed and so on.")] = 1,
    engine: Annotated[
        Engine, typer.Option(help="What emulates it: the agent, or the kernel's netem.")
    ] = "agent",
    attempts: Annotated[int, typer.Option(min=1, help="Attempts before it is refused.")] = 3,
    as_json: shared.AsJson = False,
) -> None:
    """Emulate links between two namespaces of this machine and measure them.

    Rate and loss must be within 1 percent of the profile, the median delay within 0.2 ms.

    Examples:

        pentathlon link calibrate wan-10m-50ms

        pentathlon link calibrate mine.toml --json

        pentathlon link calibrate all

        pentathlon link calibrate wan-10m-50ms --engine netem
    """
