"""The undo journal: what a session changes on the machine, written down before it is changed.

One file per session, one JSON line per change, each flushed to disk (fsync(2)) before the change is
made. The owner holds a lock (flock(2)) on its file; the kernel drops the lock when the owner dies,
however it dies. A file that can be locked is therefore the leftover of a crash, and the next start
puts its changes back.

A journal is read only where it and its directory belong to the effective user and nobody else may
write them, because it states what to write into the kernel's files. Every line has a checksum. What
is damaged, or cannot be of this program, is renamed to `.damaged` and reported, and keeps nothing
from being put back or started.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pentathlon.machine import restore
from pentathlon.machine.claims import right_to_put_back
from pentathlon.machine.directories import user_dir
from pentathlon.machine.errors import TargetError
from pentathlon.safeio import checksum

Entry = dict[str, Any]

DAMAGED = ".damaged"
MOST_BYTES = 16 << 20
"""Of one journal; a session makes some hundred changes of 200 bytes each."""


@dataclass
class Leftover:
    """The journal of a session that has ended.

    Attributes:
        token: the session's token.
        same_boot: whether the machine has not been started anew since.
        changes: those of its lines that are whole and of this program, in their order.
        kept: whether they were to stay (`UndoJournal.keep`).
        damage: a clause for each line that is not; and why nothing of the file was read.
    """

    path: Path
    token: str
    same_boot: bool = False
    changes: list[Entry] = field(default_factory=list)
    kept: bool = False
    damage: list[str] = field(default_factory=list)

    @property
    def stays(self) -> bool:
        """Whether its changes are to stay until `restore` is called for them."""
        return self.kept and self.same_boot

    def sentence(self) -> str:
        """What is damaged, and where it is kept."""
        aside = self.path.with_suffix(DAMAGED)
        return (
            f"the undo journal {self.path.name} is damaged ({'; '.join(self.damage)}); it is kept "
            f"as {aside}, and what these lines changed is not put back"
        )


def default_state_dir() -> Path:
    """$XDG_STATE_HOME/pentathlon, as the XDG base directory specification states."""
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
        self._path = directory(state_dir) / f"{self.token}.jsonl"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            restore_leftovers(state_dir)
            flags = (
                os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            )
            # It gets its name once it is locked: before that it would look like a leftover.
            fresh = self._path.with_suffix(".new")
            self._file: int | None = os.open(fresh, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._append({"token": self.token})
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
        # On every line, so that each can be put back without the others.
        os.write(self._file, checksum.sealed({**entry, "boot_id": boot_id()}))
        os.fsync(self._file)

    def keep(self) -> None:
        """Leave the changes as they are until `restore` is called for them (`kept` below)."""
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
        sentences = [note for note in _put_back(self._entries, self.token, same_boot=True) if note]
        self._path.unlink(missing_ok=True)
        _sync_directory(self._path.parent)
        os.close(self._file)
        self._file = None
        return sentences


def directory(state_dir: Path) -> Path:
    """Where the journals of the effective user lie below a state directory.

    It is `undo`, unless that belongs to another user, as below the state directory of a user who
    called sudo(8) with its environment kept.
    """
    usual = state_dir / "undo"
    return usual if _is_private(usual) else state_dir / f"undo-{os.geteuid()}"


def _is_private(path: Path) -> bool:
    """Whether a directory, or a name that is free, is the effective user's alone to write."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(found.st_mode) and _foreign(found) is None


def _foreign(found: os.stat_result) -> str | None:
    """Why somebody else may have written a file or directory, as a clause."""
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}"
    if found.st_mode & 0o022:
        return "other users may write it"
    return None


def leftovers(state_dir: Path) -> list[Entry]:
    """Changes that a crashed session left behind; nothing is put back."""
    return [change for one in _leftovers(state_dir) if not one.stays for change in one.changes]


def away(state_dir: Path) -> Iterator[Leftover]:
    """Journals of crashed sessions on machines that may not be in their default entry.

    Each is locked while it is used. Whoever has taken the way back removes its file; such journals
    are put back by nobody else, because a machine that does not answer must not keep others
    waiting.
    """
    return (one for one in _leftovers(state_dir) if _elsewhere(one))


def _elsewhere(one: Leftover) -> bool:
    return any(map(restore.is_elsewhere, one.changes))


def damaged(state_dir: Path) -> list[str]:
    """A sentence for each journal that is damaged, also for those that were renamed for it."""
    sentences = [one.sentence() for one in _leftovers(state_dir) if one.damage]
    return sentences + [
        f"{path} is an undo journal that was damaged; look at what it names, then remove it"
        for path in sorted(directory(state_dir).glob(f"*{DAMAGED}"))
    ]


def restore_leftovers(state_dir: Path, kept: bool = False) -> list[str]:
    """Put back what crashed sessions left changed.

    Args:
        state_dir: the state directory.
        kept: put back too what was changed to stay (`UndoJournal.keep`).

    Returns:
        One sentence for each change that was put back or found changed by somebody else, and for
        each journal that is damaged.

    Raises:
        TargetError: something could not be put back, or another run measures on this machine, whose
            settings would change under it; it stays in the journal.
    """
    sentences: list[str] = []
    held = False
    with ExitStack() as right:
        for one in _leftovers(state_dir):
            if (one.stays and not kept) or _elsewhere(one):
                continue
            if not held and one.same_boot and any(map(restore.is_setting, one.changes)):
                right.enter_context(right_to_put_back())
                held = True
            notes = _put_back(one.changes, one.token, same_boot=one.same_boot)
            how = "put back" if one.kept else "put back after a crash"
            sentences += [
                note or f"{how}: {restore.text(change)}"
                for change, note in zip(one.changes, notes, strict=True)
            ]
            if one.damage:
                sentences.append(one.sentence())
                one.path.rename(one.path.with_suffix(DAMAGED))
            else:
                one.path.unlink(missing_ok=True)
            _sync_directory(one.path.parent)
    return sentences


def _leftovers(state_dir: Path) -> Iterator[Leftover]:
    """Journals whose sessions have ended, each locked while it is used."""
    place = directory(state_dir)
    if not _is_private(place):
        return
    for path in sorted(place.glob("*.jsonl")):
        # A pipe would wait for a writer; a link leads to what somebody else chose.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            file = os.open(path, flags)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Leftover(path, path.stem, damage=[f"it cannot be read: {error.strerror}"])
            continue
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield _read(path, file)
        finally:
            os.close(file)


def _read(path: Path, file: int) -> Leftover:
    one = Leftover(path, path.stem)
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        one.damage.append("it is no regular file")
    elif foreign := _foreign(found):
        one.damage.append(foreign)
    elif found.st_size > MOST_BYTES:
        one.damage.append(f"it has {found.st_size:,} bytes")
    if one.damage:
        return one
    with open(file, "rb", closefd=False) as text:
        lines = text.read(MOST_BYTES).split(b"\n")
    # A torn last line was never synced, so its change was never made.
    lines.pop()
    entries: list[tuple[int, Entry, bool]] = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append((number, *checksum.unsealed(line)))
        except checksum.SealError as error:
            one.damage.append(f"line {number}: {error}")
    # Versions before checksums wrote none at all.
    sealed = any(checked for _, _, checked in entries)
    now = boot_id()
    for number, entry, checked in entries:
        if sealed and not checked:
            one.damage.append(f"line {number}: it has no checksum")
            continue
        one.same_boot |= entry.pop("boot_id", None) == now
        if entry.get("keep") is True:
            one.kept = True
        elif "token" not in entry:
            try:
                restore.check(entry)
            except restore.NotOurs as error:
                one.damage.append(f"line {number}: {error.strerror}")
            else:
                one.changes.append(entry)
    return one


def _put_back(entries: list[Entry], token: str, same_boot: bool) -> list[str | None]:
    """Put changes back, the last one first; a sentence or None for each, in their order."""
    sentences: list[str | None] = []
    failed: list[str] = []
    for entry in reversed(entries):
        try:
            sentences.append(restore.put_back(entry, token, same_boot))
        except OSError as error:
            failed.append(f"{restore.text(entry)} ({error.strerror or error})")
    if failed:
        raise TargetError(
            f"could not put back: {'; '.join(failed)}; start again as the user who ran the study"
        )
    return sentences[::-1]


def _sync_directory(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
