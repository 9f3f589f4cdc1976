"""A session on a Windows machine: files by SFTP, the agent held by its own guard.

The guard makes a private directory, puts the agent proper into a job object, and when its input
ends, for whatever reason, ends the job, puts back what was changed and removes the directory. The
shell that started it then removes the program itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from pathlib import Path

from pentathlon.machine import launch
from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets import guarded
from pentathlon.targets.session import Launch
from pentathlon.targets.ssh.client import BROKEN
from pentathlon.targets.ssh.occupancy import owner, taken
from pentathlon.targets.ssh.windows.files import Files
from pentathlon.targets.ssh.windows.machine import UNDO, WindowsMachine
from pentathlon.targets.ssh.windows.settings import WindowsSettings
from pentathlon.targets.supplies import FILES, Supply, stage
from pentathlon.targets.windows_build import GRAPHICS


class WindowsSession(guarded.GuardedSession):
    """A session whose system is a Windows machine: it ends when nothing of it is left there."""

    def __init__(
        self,
        name: str,
        launch: Launch,
        journal: UndoJournal,
        *,
        files: Files,
        host: str,
        place: str,
    ) -> None:
        self._files = files
        self._host = host
        self._place = place
        self._left = False
        super().__init__(name, launch, journal)

    @property
    def place(self) -> str:
        """The session's directory over there, in which the agent lies."""
        return self._place

    def change(self, settings: WindowsSettings) -> None:
        """Change settings of the machine; what puts each of them back is written there before."""

        def note(words: list[str]) -> None:
            self._files.append(f"{self._place}\\{UNDO}", json.dumps(words) + "\n")

        settings.apply(self._place, note)

    def _how_it_ended(self) -> str:
        output = super()._how_it_ended()
        if self._wait(0) != BROKEN:
            return output
        return f'the connection to {self._host} broke before "done"{self._last_words()}'

    def _end_guard(self) -> None:
        super()._end_guard()
        if self._left:
            return
        self._left = True
        try:
            if self._files.broken:
                self.boot_log.append(
                    "the connection broke; what is left over there is removed when the other side "
                    "notices it"
                )
            elif self._files.exists(self._place):
                self._files.remove_tree(self._place)
        except TargetError as error:
            self.boot_log.append(f"{error}; the next session there removes what is left")
        finally:
            self._files.close()


def start(
    name: str,
    machine: WindowsMachine,
    agent: Path,
    state_dir: Path,
    *,
    began: float,
    timeout_s: float,
    placement: Placement,
    scratch: str | None,
    settings: WindowsSettings,
    supplies: tuple[Supply, ...],
) -> WindowsSession:
    """Copy the agent to the machine, start its guard and make the settings.

    Args:
        agent: the agent's Windows build.
        began: when the boot began, as time.monotonic() counts.
        scratch: directory there below which the private one is made; None: the user's temporary
            directory.

    Raises:
        TargetUnavailable: the machine cannot be reached, or a setting cannot be made there.
        TargetError: it does not work within the time limit.
    """
    journal = UndoJournal(state_dir)
    files: Files | None = None
    session: WindowsSession | None = None
    place: str | None = None
    deadline = began + timeout_s
    try:
        local = launch.scratch_directory(None, journal)
        files = Files(machine.address, local, journal, max(deadline - time.monotonic(), 1.0))
        place = machine.directory(files, journal.token)
        path = machine.copy(files, agent, place, sha256(agent))
        drawing = agent.with_name(GRAPHICS)
        if drawing.is_file():
            files.put(drawing, f"{place}\\{GRAPHICS}")
        staged = stage(supplies, local / FILES)
        words = guarded.words(
            below=scratch,
            files=staged is not None,
            home=place,
            # The shells of Windows take more characters for something else than names need.
            owner=re.sub(r"[^\w .-]", "_", " ".join(owner())),
        )
        line = machine.shell.line_and_remove([path, *words], place)
        session = WindowsSession(
            name,
            Launch(
                command=launch.wrap(machine.address.over(local, line)),
                placement=placement,
            ),
            journal,
            files=files,
            host=machine.address.host,
            place=place,
        )
        packed = None if staged is None else guarded.packed(supplies, staged)
        session.open(packed, max(deadline - time.monotonic(), 1.0))
        session.change(settings)
        session.boot_seconds = time.monotonic() - began
        return session
    except BaseException as error:
        with contextlib.suppress(TargetError):
            if session is not None:
                session.stop()
            elif files is not None:
                if place is not None:
                    files.remove_tree(place)
                files.close()
        journal.undo()
        if isinstance(error, guarded.Taken):
            raise TargetError(taken(machine.address.host, error.who)) from error
        raise
