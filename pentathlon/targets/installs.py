"""Guests that keep what they are made of between the boots of one install.

Without installs each boot of a guest has everything new. With them the files that the guest starts
from are made once for each install, so what depends on where they came to lie on the disk and in
the page cache is the same in the boots of one install, and drawn anew for the next. Where the guest
also writes into them, it finds in a boot what it wrote in the one before: it can be trained.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from pentathlon.machine import launch
from pentathlon.machine.on_error import on_error
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.contract import Target


class KeepingTarget(Target):
    """A guest whose install is a directory on this machine."""

    written: ClassVar[bool] = False
    """Whether the guest writes into these files, so that they keep what it learns."""

    _held: tuple[UndoJournal, Path] | None = None

    @abstractmethod
    def make_files(self, own: Path) -> None:
        """Make what the guest starts from in a new, empty directory."""

    def files(self, own: Path) -> Path:
        """The directory with what the guest starts from: that of the install, or the boot's own.

        Args:
            own: the boot's own directory.
        """
        if self._held is not None:
            return self._held[1]
        self.make_files(own)
        return own

    def forgets(self) -> str | None:
        if not self.written:
            return super().forgets()
        if self._held is not None:
            return None
        return (
            f"{super().forgets()}; with 2 installs or more, the boots of one install share the "
            "guest's files"
        )

    def _keep(self, install: int) -> tuple[str, str | None]:
        self.discard()
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(None, journal)
            self.make_files(own)
        self._held = (journal, own)
        self.install = install
        return "done", "new files of the guest, which its boots share until the next install"

    def discard(self) -> None:
        super().discard()
        if self._held is not None:
            journal, _ = self._held
            self._held = None
            journal.undo()
