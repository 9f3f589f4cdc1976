"""The file tasks of one system: its grounds, its behaviours, and a place for its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pentathlon.experiments.file_services.behaviours import Behaviour
from pentathlon.experiments.file_services.disk import sentence
from pentathlon.experiments.file_services.driver import run_link
from pentathlon.experiments.file_services.testbed import Testbed, TestbedMaker
from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.events import Message
from pentathlon.testbed.link.calibrate import LinkRefused
from pentathlon.testbed.link.use import refused_event
from pentathlon.testbed.trial import Task


@dataclass(frozen=True)
class FileService:
    """What the tasks of a system need.

    Attributes:
        make: makes client and server with a link between them.
        ends: behaviours of client and server.
        state_dir: directory of the undo journal.
    """

    make: TestbedMaker
    ends: tuple[Behaviour, Behaviour]
    state_dir: Path

    def boot(self, timeout_s: float) -> FileServiceInUse:
        """For one boot of the system; nothing is made before it is needed."""
        return FileServiceInUse(self, timeout_s)


@dataclass
class FileServiceInUse:
    """The file tasks of one boot. Each link is made and measured once, and kept for all tasks.

    The files lie in a private directory, which is removed with the boot, and by the next start if
    this process is killed.
    """

    file_service: FileService
    timeout_s: float
    _grounds: dict[str, Testbed] = field(default_factory=dict)
    _files: tuple[UndoJournal, Path] | None = None

    def run(self, task: Task) -> Iterator[Message]:
        """Every event of a task. A link that is refused is tried once more after the others."""
        try:
            scratch = self._scratch()
        except TargetUnavailable as error:
            yield task.error("unsupported", error.reason)
            return
        except OSError as error:
            yield task.error("failed", sentence(error, Path(tempfile.gettempdir())))
            return
        refused: list[str] = []
        for link in task.parameters["links"]:
            try:
                testbed, new = self.testbed(link)
                if new:
                    yield from testbed.opening(task)
            except LinkRefused as error:
                # Something else has had the CPUs; by the end it may be over.
                yield task.of(refused_event(error))
                refused.append(link)
                continue
            except (TargetError, OSError):
                pass  # It is reported with the cases.
            yield from run_link(task, link, self, self.file_service.ends, scratch)
        for link in refused:
            yield from run_link(task, link, self, self.file_service.ends, scratch)

    def _scratch(self) -> Path:
        if self._files is None:
            launch.check_plain("the configurations of file servers")
            journal = UndoJournal(self.file_service.state_dir)
            with on_error(journal.undo):
                self._files = journal, launch.scratch_directory(None, journal)
        return self._files[1]

    def testbed(self, link: str) -> tuple[Testbed, bool]:
        """The ground of a link, and whether it is a new one.

        Raises:
            TargetError: as `TestbedMaker`.
        """
        known = self._grounds.get(link)
        if known is not None:
            return known, False
        self._grounds[link] = made = self.file_service.make(link, self.timeout_s, self._scratch())
        return made, True

    def give_up(self, link: str) -> None:
        """End the ground of a link; the next task gets a new one."""
        testbed = self._grounds.pop(link, None)
        if testbed is not None:
            testbed.stop()

    def stop(self) -> None:
        """End everything."""
        try:
            while self._grounds:
                self.give_up(next(iter(self._grounds)))
        finally:
            if self._files is not None:
                journal, self._files = self._files[0], None
                journal.undo()
