"""A command of the user's own chooses the next start: PXE, a management controller, another
loader."""

from __future__ import annotations

import os

from pentathlon.targets.ssh.boots.loader import Entry, Loader
from pentathlon.targets.ssh.boots.running import Running
from pentathlon.targets.user_command import run_command

COMMAND_S = 120.0


class Own(Loader):
    """The command runs on this machine; it has the machine and the entry in its environment."""

    name = "command"
    STATE = "echo 'what a command has chosen is not known'"

    def entries(self) -> list[Entry]:
        return []

    def check(self) -> Entry:
        return Entry(id=self.boot.entry or "", title=self.boot.command or "")

    def arm(self, home: Running) -> str:
        run(self.boot.command or "", self.host, self.boot.entry or "")
        return ":"


def run(command: str, host: str, entry: str = "") -> None:
    """Run a command of the study on this machine.

    Raises:
        TargetError: it failed.
    """
    environment = os.environ | {"PENTATHLON_HOST": host, "PENTATHLON_ENTRY": entry}
    run_command(command, COMMAND_S, environment)
