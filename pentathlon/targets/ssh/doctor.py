"""What is put back on other machines after a crash."""

from __future__ import annotations

from pathlib import Path

from pentathlon.targets.descriptor import Doctor
from pentathlon.targets.ssh.boots.stay import restore_machines


class SshDoctor(Doctor):
    """Machines that a crashed run left in another entry than their default."""

    def put_back(self, state_dir: Path) -> list[str]:
        return restore_machines(state_dir)
