"""`pentathlon boots`: what a machine can boot, as TOML to paste into a study."""

from __future__ import annotations

from typing import Annotated

import typer

from pentathlon.cli.commands.work import done_by


@done_by("boots")
def boots(
    host: Annotated[str, typer.Argument(help="The machine, as ssh(1) knows it.")],
    *,
    method: Annotated[
        str | None, typer.Option(help="Only this one: grub, bootctl, efi or kexec.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="User over there.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of its server.")] = None,
    key: Annotated[str | None, typer.Option(help="File of the private key.")] = None,
    jump: Annotated[str | None, typer.Option(help="Jump hosts, as for ssh -J.")] = None,
    config: Annotated[
        str | None, typer.Option(help="Configuration file instead of the user's.")
    ] = None,
) -> None:
    """List what a machine can boot, as TOML to paste into a study.

    Every loader that the machine has is asked: GRUB, systemd-boot, the firmware, kexec. Nothing is
    changed. What it has not is a comment with the reason. Root's rights, or sudo -n, are needed
    there where only root may read the loader's configuration.

    Examples:

        pentathlon boots bench1

        pentathlon boots guest --config ~/.cache/pentathlon/guest/ssh.conf

        pentathlon boots bench1 --method grub >> study.toml
    """
