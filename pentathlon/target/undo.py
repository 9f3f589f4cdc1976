"""The undo journal: what a session changes on the machine, written down before it is changed.

One file per session, one JSON line per change, each flushed to disk (fsync(2)) before the change is
made. The owner holds a lock (flock(2)) on its file; the kernel drops the lock when the owner dies,
however it dies. A file that can be locked is therefore the leftover of a crash, and the next start
puts its changes back.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pentathlon.target import putback
from pentathlon.target.contract import TargetError
from pentathlon.target.homes import user_dir

Entry = dict[str, Any]


def default_state_dir() -> Path:
    """$XDG_STATE_HOME/pentathlon, as the XDG base directory specification says."""
    return user_dir("XDG_STATE_HOME", ".local", "state")


def boot_id() -> str:
    """The kernel's id of this boot of the machine, random(4)."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


class UndoJournal:
    """The changes of one session, and the way back.

    Args:
        state_dir: the state directory; the file lies in its `undo` directory.

    Raises:
        TargetError: the directory cannot be written, or leftovers could not be put back.
    """

    def __init__(self, state_dir: Path) -> None:
        self.token = secrets.token_hex(8)
        self._entries: list[Entry] = []
        self._path = state_dir / "undo" / f"{self.token}.jsonl"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            restore_leftovers(state_dir)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            # It gets its name once it is locked: before that it would look like a leftover.
            fresh = self._path.with_suffix(".new")
            self._file: int | None = os.open(fresh, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._append({"token": self.token, "boot_id": boot_id()})
            fresh.rename(self._path)
            _sync_directory(self._path.parent)
        except OSError as error:
            raise TargetError(
                f"the undo journal {self._path} cannot be written: {error.strerror}"
            ) from error

    def note(self, entry: Entry) -> None:
        """Write one change down; make the change only after this returns."""
        self._append(entry)
        self._entries.append(entry)

    def _append(self, entry: Entry) -> None:
        if self._file is None:
            raise TargetError("the undo journal is closed; nothing more may be changed")
        os.write(self._file, json.dumps(entry, sort_keys=True).encode() + b"\n")
        os.fsync(self._file)

    def keep(self) -> None:
        """Leave the changes as they are until somebody asks for them back (`kept` below)."""
        if self._file is None:
            return
        if not self._entries:
            self.undo()
            return
        self._append({"keep": True})
        os.close(self._file)
        self._file = None

    def undo(self) -> list[str]:
        """Put every change back, the last one first, and remove the file. May be called again.

        Returns:
            One sentence for each change that somebody else has changed since, and that was left.

        Raises:
            TargetError: something could not be put back; its file stays, and the next start or
                another call tries again.
        """
        if self._file is None:
            return []
        said = _put_back(self._entries, self.token, same_boot=True)
        self._path.unlink(missing_ok=True)
        _sync_directory(self._path.parent)
        os.close(self._file)
        self._file = None
        return said


def leftovers(state_dir: Path) -> list[Entry]:
    """Changes that a crashed session left behind; nothing is put back."""
    found: list[Entry] = []
    _each_leftover(state_dir, lambda _, entries: found.extend(entries))
    return found


def restore_leftovers(state_dir: Path, kept: bool = False) -> list[str]:
    """Put back what crashed sessions left changed.

    Args:
        state_dir: the state directory.
        kept: put back too what was changed to stay (`UndoJournal.keep`).

    Returns:
        One sentence for each change that was put back or found changed by somebody else.

    Raises:
        TargetError: something could not be put back; it stays in the journal.
    """
    said: list[str] = []

    def put_back(path: Path, entries: list[Entry]) -> None:
        head, *changes = (entry for entry in entries if "keep" not in entry)
        same_boot = head.get("boot_id") == boot_id()
        notes = _put_back(changes, str(head.get("token", "")), same_boot=same_boot)
        how = "put back" if _is_kept(entries) else "put back after a crash"
        said.extend(f"{how}: {putback.text(change)}" for change in changes)
        said.extend(notes)
        path.unlink(missing_ok=True)
        _sync_directory(path.parent)

    _each_leftover(state_dir, put_back, whole=True, kept=kept)
    return said


def _is_kept(entries: list[Entry]) -> bool:
    return any("keep" in entry for entry in entries)


def _each_leftover(
    state_dir: Path,
    use: Callable[[Path, list[Entry]], None],
    whole: bool = False,
    kept: bool = False,
) -> None:
    for path in sorted((state_dir / "undo").glob("*.jsonl")):
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            entries = _read(path)
            if not entries:
                # Killed before the first line was whole: nothing had been changed.
                path.unlink(missing_ok=True)
                continue
            if _is_kept(entries) and not kept and entries[0].get("boot_id") == boot_id():
                continue
            use(path, entries if whole else entries[1:])
        finally:
            os.close(file)


def _read(path: Path) -> list[Entry]:
    entries: list[Entry] = []
    with contextlib.suppress(FileNotFoundError):
        for line in path.read_text(errors="replace").split("\n"):
            # A torn last line was never synced, so its change was never made.
            with contextlib.suppress(ValueError):
                entries.append(json.loads(line))
    return entries


def _put_back(entries: list[Entry], token: str, same_boot: bool) -> list[str]:
    said: list[str] = []
    failed: list[str] = []
    for entry in reversed(entries):
        try:
            note = putback.put_back(entry, token, same_boot)
        except OSError as error:
            failed.append(f"{putback.text(entry)} ({error.strerror or error})")
        else:
            if note:
                said.append(note)
    if failed:
        raise TargetError(
            f"could not put back: {'; '.join(failed)}; start again as the user who ran the study"
        )
    return said


def _sync_directory(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
