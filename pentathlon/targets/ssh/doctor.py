"""What is put back on other machines after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pentathlon.machine.choices import Choice
from pentathlon.machine.system import SystemSpec
from pentathlon.targets.descriptor import Doctor
from pentathlon.targets.ssh.boots.stay import restore_machines
from pentathlon.targets.ssh.client import Address, remote
from pentathlon.targets.ssh.survey import survey


class SshDoctor(Doctor):
    """Machines that a crashed run left in another entry than their default."""

    def settings(self, system: SystemSpec) -> list[Choice]:
        ssh: Any = getattr(system, "ssh", None)  # A study needs the key for this kind.
        address = Address(ssh.host, ssh.user, ssh.port, ssh.key, ssh.jump, ssh.config)
        return survey(lambda script, *words: address.ask_line(remote(script, *words)), ssh.host)

    def put_back(self, state_dir: Path) -> list[str]:
        return restore_machines(state_dir)
