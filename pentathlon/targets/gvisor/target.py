"""gVisor: a kernel written in Go that runs as a process and serves the agent's system calls."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from pentathlon.machine import cpus, launch
from pentathlon.machine.errors import if_available
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets import guest, options, userland
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.gvisor.descriptor import KIND
from pentathlon.targets.installs import KeepingTarget
from pentathlon.targets.session import Launch, ProcessSession

NOTES = [
    "system calls are served by gVisor's own kernel (platform systrap); it reports itself as "
    "Linux 4.4.0 in every version",
    "CPU affinity is set from outside on the whole sandbox; inside, gVisor accepts any and "
    "ignores it",
    "a new sandbox with an own root directory in each boot, without network",
]


ENTER = """\
set -e
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
cp "$2" run/pentathlon-agent
if [ -n "$3" ]; then
    mkdir "./$4"
    mount --bind "$3" "./$4"
fi
exec chroot . /run/pentathlon-agent run
"""
"""What makes a directory the root of the agent in a sandbox, whose own root stays this machine's:
runsc shows a sandbox one directory, and the agent lies in another one. Nothing of it happens
outside of the sandbox."""


def entering(land: Path, agent: Path, files: Path | None) -> list[str]:
    """The command that starts the agent with a root directory of its own, in a sandbox.

    Args:
        files: of commands; the agent finds them at `userland.FILES`.
    """
    return [
        *["/bin/sh", "-c", ENTER, "sh", str(land), str(agent)],
        *[str(files or ""), userland.FILES.lstrip("/")],
    ]


class GvisorTarget(KeepingTarget):
    """A sandbox of gVisor with the agent as its only program."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        self.userland = userland.of(system)
        self.scratch = guest.scratch(system)
        options.refuse_settings(system)
        options.refuse(system, self.kind, "kernel", "memory")

    def describe(self) -> Description:
        program = if_available(runsc.find)
        found: dict[str, Any] = {
            "platform": "systrap",
            **userland.described(self.userland),
            "host_cpus": list(self.cpus) if self.cpus is not None else None,
            "program": program.record() if program else None,
            "host_kernel": platform.release(),
        }
        return self.description(
            f"gVisor {program.version if program else '(not on this machine)'}", found, NOTES
        )

    def privileges(self) -> list[str]:
        root = os.geteuid() == 0
        return [] if root else ["user namespaces for ordinary users (the kernel's setting)"]

    def bytes_written(self) -> int | None:
        return self.agent_path.stat().st_size

    def prepare(self) -> None:
        self._check()
        runsc.trial(runsc.find())

    def _check(self) -> None:
        guest.check_agent(self.agent_path)
        userland.check(self.userland)
        cpus.check(self.cpus)

    def make_files(self, own: Path) -> None:
        guest.build_root(own / "root", self.agent_path)

    def boot(self, timeout_s: float) -> Session:
        self._check()
        program = runsc.find()
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(None, journal)
            root = self.files(own) / "root"
            land = userland.check(self.userland)
            staged, supplied = guest.supply(self.supplies, land, own, root)
            command = [f"/{guest.AGENT}", "run"]
            if land is not None:
                # The sandbox sees this machine's root, with an overlay in memory.
                command, root = [f"{root}/{guest.AGENT}", "run"], Path("/")
                if land == root:
                    supplied = None if staged is None else str(staged)
                else:
                    command = entering(land, Path(command[0]), staged)
            words = ["--quiet", f"--root={root}", "--cwd=/", *command]
            return ProcessSession(
                self.name,
                Launch(
                    guest=True,
                    command=launch.wrap(runsc.sandbox(program.path, *words), cpus=self.cpus),
                    # runsc keeps its own state in a temporary directory, which a crash leaves.
                    environment={"TMPDIR": str(own)},
                    scratch=self.scratch,
                    supplied=supplied,
                ),
                journal,
            )
