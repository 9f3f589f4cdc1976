"""This machine itself, in one configuration."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import ClassVar

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.settings import Change, MachineSettings
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.machine.whole_machine import everything
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets import options
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.local.descriptor import KIND
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.targets.supplies import FILES, stage


class LocalTarget(PlacedTarget):
    """The host with the settings of the study; they are put back when the session stops."""

    kind = KIND.name
    layer = KIND.layers[0]
    own_network: ClassVar[bool] = False
    """Whether its systems have network namespaces of their own."""

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        options.refuse(system, self.kind, "kernel", "memory")
        self.settings = MachineSettings(system, own_network=self.own_network)

    def describe(self) -> Description:
        return self.description(platform.release(), self.settings.describe(), self.notes())

    def notes(self) -> list[str]:
        """What a reader of the results has to know about this kind of target."""
        return ["runs on the machine itself; one boot is one start of the agent"]

    def occupies(self) -> frozenset[str]:
        own = super().occupies()
        return own | everything() if self.settings.whole_machine else own

    def alone(self) -> str | None:
        if self.settings.whole_machine:
            return "it has settings that hold for the whole machine"
        return super().alone()

    def privileges(self) -> list[str]:
        return self.settings.privileges()

    def settings_to_change(self) -> list[Change]:
        return self.settings.changes()

    def prepare(self) -> None:
        if not os.access(self.agent_path, os.X_OK):
            raise TargetUnavailable(f"the agent {self.agent_path} cannot be executed")
        launch.check_scratch(self.system.scratch)
        self.settings.check()

    def command(self) -> list[str]:
        """The command that runs the agent."""
        return [str(self.agent_path), "run"]

    def boot(self, timeout_s: float) -> Session:
        self.prepare()
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            scratch = launch.scratch_directory(self.system.scratch, journal)
            supplied = stage(self.supplies, scratch / FILES)
            group = self.settings.apply(journal)
            return ProcessSession(
                self.name,
                Launch(
                    command=launch.wrap(self.command(), group=group, nice=self.settings.nice),
                    placement=Placement(**self.settings.placement()),
                    scratch=str(scratch),
                    supplied=None if supplied is None else str(supplied),
                ),
                journal,
            )
