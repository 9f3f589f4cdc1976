"""How another machine is reached (`[[system]]` `ssh`)."""

from __future__ import annotations

from pydantic import Field

from pentathlon.study.table import Table

SHELL = r"""\s'"`$;&<>|(){}\x00-\x1f\x7f"""
PLAIN = rf"^[^-{SHELL}][^{SHELL}]*$"
"""Names without characters of the shell: ssh(1) before version 9.6 hands them to one as they are,
where a ProxyCommand or a jump host is in use."""


class Ssh(Table):
    """How to reach another machine; what is left out is for the user's ssh_config(5) to say."""

    host: str = Field(pattern=PLAIN)
    """Name or address of the machine, or a `Host` alias of the configuration."""
    user: str | None = Field(default=None, pattern=PLAIN)
    port: int | None = Field(default=None, ge=1, le=65535)
    key: str | None = Field(default=None, min_length=1)
    """File of the private key."""
    jump: str | None = Field(default=None, pattern=PLAIN)
    """Jump hosts, as ssh(1) takes them with -J."""
    config: str | None = Field(default=None, min_length=1)
    """Configuration file instead of the user's."""
    reboot: bool = False
    """Whether each boot of the study starts the machine anew."""
    reboot_command: str | None = Field(default=None, min_length=1)
    """Shell command that does it; `reboot` as root or with sudo if None."""
