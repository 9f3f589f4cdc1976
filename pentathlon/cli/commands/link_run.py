"""`pentathlon link run`: a link between two interfaces that are there."""

from __future__ import annotations

from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by


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
