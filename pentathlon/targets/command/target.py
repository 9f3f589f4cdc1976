"""A system that a program of the user's own starts the agent in: a container, a chroot, a machine.

The program holds the agent's standard input and output; what it does besides is the user's. The
agent's guard (`targets/guarded.py`) ends everything and removes its directory there, also where
the program cannot.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pentathlon.machine import launch, processes
from pentathlon.machine.cpus import AVAILABLE, cpu_names
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.tools import last_line, on_path, run
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets import guarded, options
from pentathlon.targets.command.descriptor import KIND
from pentathlon.targets.contract import Description, Session, Target
from pentathlon.targets.session import Launch
from pentathlon.targets.supplies import FILES, stage

AGENT = "{agent}"
PLACED = "{placed}"
COPY_S = 300.0
"""Longest time for the copy command, in seconds."""


class CommandTarget(Target):
    """A system that `command` starts the agent in."""

    kind = KIND.name
    layer = KIND.layers[0]

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        named: str | None = getattr(system, "agent", None)
        super().__init__(system, Path(named) if named else agent_path, state_dir)
        options.refuse_settings(system)
        options.refuse(system, self.kind, "kernel", "memory")
        self.command: list[str] = list(getattr(system, "command", None) or ())
        self.copy_command: list[str] | None = getattr(system, "copy_command", None)
        self.placed: str | None = getattr(system, "placed", None)
        self._check_words()

    def _check_words(self) -> None:
        name = self.system.name
        if not self.command or not any(AGENT in word for word in self.command):
            raise TargetError(
                f'system "{name}" has a command that does not start the agent; name it in the '
                'command, such as command = ["incus", "exec", "box", "--", "{agent}"]'
            )
        copies = self.copy_command
        if copies is None and self.placed is not None:
            raise TargetError(
                f'system "{name}" has "placed" without a "copy_command", so nothing is placed '
                "there; add the command, or leave the key out"
            )
        if copies is not None and not (
            any(AGENT in word for word in copies) and any(PLACED in word for word in copies)
        ):
            raise TargetError(
                f'system "{name}" has a copy command that does not copy the agent; name its file '
                'here and there, such as copy_command = ["podman", "cp", "{agent}", "box:{placed}"]'
            )

    def describe(self) -> Description:
        found: dict[str, Any] = {
            "command": self.command,
            "copy_command": self.copy_command,
            "placed": self.placed,
            "cpus": list(self.cpus) if self.cpus is not None else None,
            "host_kernel": platform.release(),
        }
        return self.description(
            "(that of what the command starts)",
            found,
            [
                f"the agent is started by `{shlex.join(self.command)}`; what lies between this "
                "machine and the system is known to the command only",
                "one boot is one start of the command",
            ],
        )

    def occupies(self) -> frozenset[str]:
        # Where the command leads is not known: this machine's CPUs, if nothing else.
        return cpu_names(AVAILABLE)

    def prepare(self) -> None:
        if not os.access(self.agent_path, os.X_OK):
            raise TargetUnavailable(f"the agent {self.agent_path} cannot be executed")
        for words in (self.command, self.copy_command or ()):
            if words:
                _find(words[0])

    def boot(self, timeout_s: float) -> Session:
        self.prepare()
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(None, journal)
            staged = stage(self.supplies, own / FILES)
            place = str(self.agent_path)
            if self.copy_command is not None:
                place = self.placed or f"/tmp/pentathlon-there-{journal.token}"
                self._copy(self.copy_command, place, journal.token)
            guard = guarded.words(
                below=self.system.scratch,
                files=staged is not None,
                placed=self.copy_command is not None,
            )
            session = guarded.GuardedSession(
                self.name,
                Launch(
                    command=launch.wrap(starting(self.command, [place, *guard])),
                    placement=Placement(cpus=list(self.cpus) if self.cpus is not None else None),
                ),
                journal,
            )
        try:
            files = None if staged is None else guarded.packed(self.supplies, staged)
            session.open(files, timeout_s)
        except TargetError as error:
            session.stop()
            raise TargetError(
                f'system "{self.name}": `{shlex.join(self.command)}` does not start the agent: '
                f"{error}"
            ) from error
        return session

    def _copy(self, words: Sequence[str], place: str, token: str) -> None:
        command = filled(words, {AGENT: str(self.agent_path), PLACED: place})
        shown = shlex.join(words)
        try:
            done = run(command, COPY_S, env=os.environ | {processes.TOKEN: token})
        except OSError as error:
            raise TargetError(
                f'system "{self.name}": `{shown}` does not start: {error.strerror}'
            ) from error
        except subprocess.TimeoutExpired as error:
            raise TargetError(
                f'system "{self.name}": `{shown}` did not end within {COPY_S:g} s'
            ) from error
        if done.returncode:
            last = last_line(done.stderr)
            raise TargetError(
                f'system "{self.name}": `{shown}` ended with {done.returncode}: {last}'
            )


def starting(words: Sequence[str], agent: Sequence[str]) -> list[str]:
    """The user's command with the agent's command in the place of `{agent}`.

    A word that is nothing else becomes several; in a longer word, such as a script for a shell, it
    stands as a POSIX shell takes it.
    """
    whole: list[str] = []
    for word in words:
        whole += agent if word == AGENT else [word.replace(AGENT, shlex.join(agent))]
    return whole


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Words with names in braces replaced."""
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    return list(words)


def _find(program: str) -> None:
    """That a command's program is there.

    Raises:
        TargetUnavailable: it is not.
    """
    if AGENT in program:
        return
    found = Path(program) if "/" in program else on_path(program)
    if found is None or not os.access(found, os.X_OK):
        raise TargetUnavailable(f"the program {program}, which starts the agent, is not there")
