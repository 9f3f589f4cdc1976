"""The journal: one JSON record per line, appended and synced; the only truth of a result.

Rules:

* Each record is one `write(2)` of one whole line, before anybody else hears of it. A process that
  is killed loses nothing that it wrote: the data is in the system's page cache.
* `fdatasync(2)` comes after the records that end something (a step, a boot, a run), and otherwise
  at the first record that is more than 200 ms after the last one. A power cut can lose at most the
  samples of the step that was going on, which is run again.
* A last line without its end is what a cut-off write left. It is set aside in `journal.torn` and
  taken off before anything is appended.
* Each line ends with a checksum of itself (`seal`), since format 2. Lines of older journals have
  none and stay readable; what was stated once by a `format` holds for every later line.
* The journal, what is set aside and the lock are never written through a symbolic link.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import BinaryIO, Self

from pentathlon.procedure.records import (
    AgentEvent,
    Record,
    Resume,
    RunStart,
    from_json,
    to_json,
)
from pentathlon.protocol.events import Progress
from pentathlon.safeio.checksum import SealError, parsed, sealed, unsealed
from pentathlon.store import older
from pentathlon.store.files import open_regular
from pentathlon.store.names import JOURNAL as JOURNAL  # noqa: PLC0414  for who reads a journal
from pentathlon.store.names import LOCK as LOCK  # noqa: PLC0414
from pentathlon.store.names import TORN as TORN  # noqa: PLC0414
from pentathlon.store.problems import StoreError as StoreError  # noqa: PLC0414  for who reads a journal
from pentathlon.store.problems import writing

SYNC_S = 0.2
LOCK_WAIT_S = 0.3
CHUNK = 1 << 16
FORMAT = 2
"""Of the journal, in the records that begin or continue a run; 1, or none, has no checksums, and
what 2 and 1 call otherwise stands in `older`."""
CHECKSUMS_SINCE = 2
STARTS = ("run-start", "resume")
LONGEST_LINE = 32 << 20
"""Bytes of a record; the longest event of the agent has half of it (`target.lines`)."""


class Lock:
    """The right to write a result directory, held by one process (flock(2)).

    The system gives it back when the process ends, in whatever way.

    Raises:
        StoreError: another process holds it, or it cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK
        try:
            self._file = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        except OSError as error:
            raise StoreError(f"{path} cannot be opened: {error.strerror}") from error
        try:
            self._take()
        except OSError as error:
            holder = os.read(self._file, 32).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise StoreError(
                f"{directory} is being written by another run (process {holder}); "
                "wait for it to end, or choose another directory with --out"
            ) from error
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def _take(self) -> None:
        # Whoever only asks whether a run is going on holds the lock for an instant.
        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    def release(self) -> None:
        """Give the right back."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_locked(directory: Path) -> bool:
    """Whether a run is writing the directory now."""
    try:
        descriptor = open_regular(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class JournalWriter:
    """Appends records to a journal; a torn last line is set aside first.

    Raises:
        StoreError: the file cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / JOURNAL
        with writing(path):
            set_torn_aside(directory)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._file = open_regular(path, flags)
            _sync_directory(directory)
        self._path = path
        self._synced = time.monotonic()

    def append(self, record: Record) -> None:
        """Write one record; when this returns, the end of this process cannot lose it.

        Raises:
            StoreError: the file system refuses (it is full, for example).
        """
        document = to_json(record)
        if isinstance(record, RunStart | Resume):
            document["format"] = FORMAT
        data = sealed(document)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if _ends_something(record) or time.monotonic() - self._synced >= SYNC_S:
                self.sync()
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error.strerror}") from error

    def sync(self) -> None:
        """Wait until the disk has everything."""
        os.fdatasync(self._file)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        os.close(self._file)


def _ends_something(record: Record) -> bool:
    if isinstance(record, AgentEvent):
        return isinstance(record.message, Progress) and record.message.state == "end"
    return True


def set_torn_aside(directory: Path) -> bytes:
    """Move a torn last line to `journal.torn`; returns its bytes, b"" if there was none."""
    path = directory / JOURNAL
    try:
        descriptor = open_regular(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with open(descriptor, "r+b") as journal:  # noqa: PTH123  a descriptor
        whole = whole_length(journal)
        journal.seek(whole)
        torn = journal.read()
        if torn:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            kept = open_regular(directory / TORN, flags)
            with open(kept, "ab") as aside:  # noqa: PTH123  a descriptor
                aside.write(torn + b"\n")
                aside.flush()
                os.fsync(aside.fileno())
            journal.truncate(whole)
            os.fsync(journal.fileno())
    return torn


def whole_length(journal: BinaryIO) -> int:
    """Bytes of a journal up to the end of its last whole record.

    A last line that has its end but is no JSON (zeros that a file system left after a power cut) is
    torn too. Only the end of the file is read.
    """
    size = journal.seek(0, os.SEEK_END)
    end = _after_newline(journal, size)
    start = _after_newline(journal, max(end - 1, 0))
    if not end or end - start > LONGEST_LINE:
        return end
    journal.seek(start)
    return start if parsed(journal.read(end - start)) is None else end


def _after_newline(journal: BinaryIO, before: int) -> int:
    """Where the last line that ends before a place ends; 0 if there is none."""
    while before > 0:
        start = max(before - CHUNK, 0)
        journal.seek(start)
        found = journal.read(before - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        before = start
    return 0


def read_journal(directory: Path) -> Iterator[Record]:
    """Every whole record, in order, one at a time; a torn last line is left out.

    Raises:
        StoreError: there is no journal, or a line is damaged that is not a torn last one.
    """
    path = directory / JOURNAL
    try:
        journal = open(open_regular(path, os.O_RDONLY), "rb")  # noqa: PTH123, SIM115
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise StoreError(f"{directory} is no result directory: {JOURNAL}: {reason}") from error
    with journal:
        left = whole_length(journal)
        journal.seek(0)
        form = 1
        for number in count(1):
            line = journal.readline(LONGEST_LINE + 1)
            # What a run appends while this reads, and a torn end, lie beyond.
            left -= len(line)
            if left < 0 or not line:
                return
            try:
                record, form = _record(line, form)
            except SealError as error:
                raise StoreError(f"{path}:{number}: this line is damaged; {error}") from error
            except ValueError as error:
                raise StoreError(f"{path}:{number}: {error}") from error
            yield record


def _record(line: bytes, form: int) -> tuple[Record, int]:
    """The record of a line, and the format of the lines from it on.

    Args:
        form: the format of the line, if it does not begin or continue a run.

    Raises:
        SealError: the line is not what was written.
        ValueError: it is no record.
    """
    if len(line) > LONGEST_LINE:
        raise SealError(f"it is longer than {LONGEST_LINE} bytes")
    document, has_checksum = unsealed(line)
    if document.get("record") in STARTS:
        stated = document.get("format", 1)
        if stated not in range(1, FORMAT + 1):
            raise ValueError(
                f"this journal has format {stated!r}, this pentathlon knows formats up to "
                f"{FORMAT}; read it with the version that wrote it"
            )
        # A run that went on with a newer format does not go back to one without checksums.
        form = max(form, stated)
    if form < older.METRIC_SINCE:
        document = older.upgraded(document)
    record = from_json(document)
    if has_checksum:
        form = max(form, CHECKSUMS_SINCE)
    elif form >= CHECKSUMS_SINCE:
        raise SealError("its checksum is missing")
    return record, form


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
