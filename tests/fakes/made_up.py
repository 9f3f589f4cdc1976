"""A kind of target as somebody would add one: a description, and the class that it names.

It starts the agent as a program of this machine. No module of pentathlon knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.finding import Finding
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets import options
from pentathlon.targets.capabilities import LoopbackTarget
from pentathlon.targets.contract import Session
from pentathlon.targets.descriptor import Doctor, End, Install, Kind, Log, Program
from pentathlon.targets.session import Launch, ProcessSession

KIND = Kind(
    name="made-up",
    target="tests.fakes.made_up:MadeUpTarget",
    layers=("imagined",),
    place="guest",
    renews="the agent's process",
    needs="anybody",
    own_keys={"flavour": str},
    forgets=True,
    end=End(pair="loopback"),
    programs=(Program("made-up-program", "made-up-package"), Program("ip", "iproute2")),
    doctor="tests.fakes.made_up:MadeUpDoctor",
)


class MadeUpTarget(LoopbackTarget):
    """The agent as a program, with a flavour."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        options.refuse_settings(system)
        self.flavour = getattr(system, "flavour", "plain")

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "layer": self.layer,
            "kernel": "imagined 1.0",
            "options": {"flavour": self.flavour},
            "notes": [],
        }

    def prepare(self) -> None:
        if self.flavour == "none":
            raise TargetUnavailable("there is no such flavour here", "choose another one")

    def boot(self, timeout_s: float) -> Session:
        return self._start("run", self.cpus)

    def start_endpoint(self, where: tuple[int, ...] | None) -> ProcessSession:
        return self._start("endpoint", where)

    def _start(self, verb: str, where: tuple[int, ...] | None) -> ProcessSession:
        journal = UndoJournal(self.state_dir)
        try:
            scratch = launch.scratch_directory(None, journal)
            command = launch.wrap([str(self.agent_path), verb], cpus=where)
            return ProcessSession(self.name, Launch(command=command, scratch=str(scratch)), journal)
        except BaseException:
            journal.undo()
            raise


class MadeUpDoctor(Doctor):
    """Something to look at, and something to get."""

    def helpers(self) -> Iterator[Finding]:
        yield Finding("helper", "imagination", True, "unlimited")

    def installs(self) -> Iterator[Install]:
        yield Install("made-up world", _get)


def _get(log: Log) -> str:
    log("made up a world")
    return "a world"
