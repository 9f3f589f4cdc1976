"""What `pentathlon doctor` gets for gVisor."""

from __future__ import annotations

from collections.abc import Iterator

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.descriptor import Doctor, Install, Log
from pentathlon.targets.gvisor import runsc


class GvisorDoctor(Doctor):
    """Its program."""

    def installs(self) -> Iterator[Install]:
        yield Install(self.kind.name, get_program)


def get_program(log: Log) -> str:
    """Fetch gVisor's program, if none works here."""
    try:
        program = runsc.find()
        runsc.trial(program)
    except TargetUnavailable:
        program = runsc.fetch(log)
    return f"runsc {program.version} in {program.path}"
