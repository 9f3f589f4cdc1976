"""The agent's Windows build on Wine: the Win32 interface, served by this machine's kernel."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import Any

from pentathlon.machine import cpus, launch, restore
from pentathlon.machine.errors import if_available
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets import options, windows_build
from pentathlon.targets.capabilities import LoopbackTarget
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.targets.supplies import FILES, stage
from pentathlon.targets.wine import prefix, program
from pentathlon.targets.wine.descriptor import KIND

LABEL = "Win32 API on Linux"

NOTES = [
    "this is not Windows: Wine translates the calls of Windows programs into those of this "
    "machine's kernel, and results include the cost of the translation",
    "files, processes and most objects to wait for are kept by the process wineserver, which runs "
    "on the same CPUs",
    "the agent is another build than that of the other systems: another compiler and C library",
    "CPU affinity is set from outside on everything; inside, all CPUs are shown",
    "where the system permits it, addresses are not randomised: Wine needs a fixed one, which a "
    "randomised heap may take",
    "a new prefix and a new wineserver in each boot",
]


class WineTarget(LoopbackTarget):
    """A prefix of Wine with the agent as its program."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        self.named: str | None = getattr(system, "agent", None)
        options.refuse_settings(system)
        options.refuse(system, self.kind, "kernel", "memory")

    def describe(self) -> Description:
        wine = if_available(program.find)
        agent = if_available(windows_build.agent, self.named, self.agent_path)
        found: dict[str, Any] = {
            "host_cpus": list(self.cpus) if self.cpus is not None else None,
            "program": wine.record() if wine else None,
            "agent": program.record(agent) if agent else None,
            "host_kernel": platform.release(),
            "addresses_randomised": not program.fixed_addresses(),
        }
        return self.description(
            f"{LABEL} (Wine {wine.version if wine else 'is not on this machine'})", found, NOTES
        )

    def bytes_written(self) -> int | None:
        # The registry and the agent; Windows' own files are linked.
        return 8 << 20

    def prepare(self) -> None:
        wine = program.find()
        program.shim(wine, windows_build.agent(self.named, self.agent_path))
        cpus.check(self.cpus)

    def boot(self, timeout_s: float) -> Session:
        return self._boot("run", self.cpus)

    def start_endpoint(self, where: tuple[int, ...] | None) -> ProcessSession:
        return self._boot("endpoint", where)

    def _boot(self, mode: str, where: tuple[int, ...] | None) -> ProcessSession:
        self.prepare()
        wine = program.find()
        source = prefix.make(wine, lambda line: None)
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(self.system.scratch, journal)
            agent = self._install(wine, own)
            # Beside the one that it is linked to: links do not reach other file systems.
            home = prefix.directory() / f"{restore.PREFIX}{journal.token}"
            journal.note(restore.directory(home))
            prefix.copy(source, home)
            scratch = own / "scratch"
            scratch.mkdir()
            supplied = stage(self.supplies, own / FILES)
            command = wine.command(prefix.windows_path(agent), mode)
            return ProcessSession(
                self.name,
                Launch(
                    command=launch.wrap(command, cpus=where),
                    environment=prefix.environment(home, own),
                    scratch=prefix.windows_path(scratch),
                    supplied=None if supplied is None else prefix.windows_path(supplied),
                ),
                journal,
            )

    def _install(self, wine: program.Wine, own: Path) -> Path:
        """A copy of the agent with what this Wine lacks beside it."""
        file = windows_build.agent(self.named, self.agent_path)
        place = own / "agent"
        place.mkdir()
        shutil.copy(file, place / windows_build.AGENT)
        if (shim := program.shim(wine, file)) is not None:
            shutil.copy(shim, place / program.SHIM)
        return place / windows_build.AGENT
