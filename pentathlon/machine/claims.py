"""One measurement at a time on a CPU: locks that every run on this machine takes (flock(2)).

Two runs on one CPU share it, and each would measure the other. A lock is a file for each CPU in a
directory that all users share; the kernel gives it back when its holder ends, in whatever way. The
file names the holder for whoever finds it taken. A run that changes settings of the whole machine
takes all of it (`pentathlon.machine.whole_machine`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.machine.whole_machine import RIGHT, everything

DIRECTORY = "PENTATHLON_LOCK_DIR"
"""Variable that names another directory, for containers that share the CPUs of one machine."""

SHARED = Path("/run/lock")

_OURS: set[Path] = set()
"""Locks that this process holds."""
HOLDER_BYTES = 8192
EVERYBODY = 0o666
"""Whoever takes the lock next may be another user, and writes its name there."""


class Busy(TargetError):
    """What a run is to measure on is taken by another run.

    Attributes:
        who: what is taken, and by whom, without advice.
    """

    def __init__(self, text: str, who: str = "") -> None:
        super().__init__(text)
        self.who = who or text


@dataclass(frozen=True)
class _Holder:
    """Who holds a lock.

    Attributes:
        words: for people.
        whole: whether it may change settings of the whole machine.
    """

    words: str = "another run"
    whole: bool = False


class Claims:
    """What this process may measure on, until `release` or the end of its context.

    Args:
        directory: where the locks lie; that which all users share if None.
        waiting: is called with a sentence before each wait; without it nothing is waited for.
    """

    def __init__(
        self, directory: Path | None = None, waiting: Callable[[str], None] | None = None
    ) -> None:
        self._waiting = waiting
        self._directory = directory or lock_directory()
        self._held: dict[str, int] = {}
        self._study = ""

    def take(self, study: str, names: Iterable[str]) -> None:
        """Take what is not held yet, such as "CPU 1"; all of it or nothing.

        Args:
            study: name of the study, for those who find something taken.

        Raises:
            Busy: something is taken by another run, which the sentence names.
            TargetError: the lock cannot be taken at all.
        """
        # One order for all: two runs that wait for each other would wait for ever. CPUs come last,
        # because what else is taken states more.
        wanted = sorted(set(names) - self._held.keys(), key=lambda n: (n.startswith("CPU "), n))
        whole = RIGHT in wanted or RIGHT in self._held
        taken: dict[str, int] = {}
        try:
            for name in wanted:
                taken[name] = self._take(name, whole)
                _write(taken[name], _own_name(study, whole))
        except BaseException:
            for file in taken.values():
                os.close(file)
            raise
        self._held |= taken
        _OURS.update(self._directory / _file_name(name) for name in taken)
        self._study = study

    def work_in(self, directory: Path) -> None:
        """Add the directory of the result to what the other runs are shown."""
        for file in self._held.values():
            _write(file, _own_name(self._study, RIGHT in self._held, directory))

    def _take(self, name: str, whole: bool) -> int:
        path = self._directory / _file_name(name)
        try:
            file = _open(path)
        except OSError as error:
            raise TargetError(
                f"the lock {path} of {name} cannot be used: {error.strerror}; name another "
                f"directory in {DIRECTORY}"
            ) from error
        with on_error(os.close, file):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(file)
                sentence = f"{name} is taken by {holder.words}"
                if self._waiting is None:
                    raise Busy(f"{sentence}; {_advice(whole, holder)}", sentence) from None
                self._waiting(f"{sentence}; waiting for its end")
                fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def release(self) -> None:
        """Give everything back; may be called again."""
        for name in list(self._held):
            self._give_back(name)

    def change(self, study: str, names: Iterable[str]) -> None:
        """Take these, and give back what else is held.

        What is held and wanted again is kept, so that nobody who waits for it comes between.

        Raises:
            Busy, TargetError: as `take`; then nothing is held.
        """
        wanted = set(names)
        # Who holds a part and waits for the rest could wait for one who waits for this part.
        kept = wanted if wanted <= self._held.keys() else set()
        for name in self._held.keys() - kept:
            self._give_back(name)
        self.take(study, wanted)

    def _give_back(self, name: str) -> None:
        _OURS.discard(self._directory / _file_name(name))
        os.close(self._held.pop(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@contextlib.contextmanager
def right_to_put_back() -> Iterator[None]:
    """The right to change this machine's settings, for putting back what a crash left changed.

    A process that has it keeps it; any other one takes it, and every CPU that it does not have.

    Raises:
        Busy: a run measures on this machine, whose settings would change under it.
    """
    directory = lock_directory()
    missing = {n for n in everything() if directory / _file_name(n) not in _OURS}
    if RIGHT not in missing:
        yield
        return
    with Claims(directory) as claims:
        try:
            claims.take("settings that a crash left changed", missing)
        except Busy as error:
            raise Busy(
                f"{error.who}; settings that a crashed run left changed cannot be put back before "
                "its end"
            ) from error
        yield


def lock_directory() -> Path:
    """The directory that all users of this machine share for locks."""
    if named := os.environ.get(DIRECTORY):
        directory = Path(named)
        directory.mkdir(parents=True, exist_ok=True)
        return directory
    if os.access(SHARED, os.W_OK | os.X_OK):
        return SHARED
    # Not $TMPDIR: others may have another one.
    return Path("/tmp") if os.access("/tmp", os.W_OK) else Path(tempfile.gettempdir())


def _file_name(name: str) -> str:
    """ "CPU 1" is pentathlon-cpu-1.lock; a name with other characters has its digest too."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    exact = re.fullmatch(r"[A-Za-z0-9 ]+", name) is not None
    digest = "" if exact else f"-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"pentathlon-{plain[:64]}{digest}.lock"


def _open(path: Path) -> int:
    """Open a lock, which any user may have made.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    for _ in range(2):
        # Without O_CREAT first: the kernel may refuse it for files of others (proc_sys_fs(5),
        # protected_regular), although they may be opened.
        for mode in (os.O_RDWR, os.O_RDONLY):
            try:
                file = os.open(path, mode | flags)
            except FileNotFoundError:
                break
            except PermissionError:
                if mode == os.O_RDONLY:
                    raise
            else:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    os.close(file)
                    raise OSError(0, "it is no regular file")
                return file
        with contextlib.suppress(FileExistsError):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, EVERYBODY)
            os.fchmod(file, EVERYBODY)
            return file
    raise OSError(0, "it comes and goes")


def _write(file: int, text: bytes) -> None:
    # A file of another user that only he may write keeps the name of an earlier holder.
    with contextlib.suppress(OSError):
        os.ftruncate(file, 0)
        os.pwrite(file, text, 0)


def _own_name(study: str, whole: bool, directory: Path | None = None) -> bytes:
    values: dict[str, Any] = {"study": study, "pid": os.getpid()}
    if whole:
        values["whole"] = True
    if directory is not None:
        values["directory"] = os.fsencode(directory.absolute()).decode(errors="replace")
    return json.dumps(values).encode()


def _advice(whole: bool, holder: _Holder) -> str:
    if whole or holder.whole:
        who = "that run" if holder.whole else "this run"
        return (
            f"{who} may change settings of the whole machine, which then is for it alone. Wait for "
            "the other's end (run --wait does)"
        )
    return (
        "two runs there would measure each other. Wait for its end (run --wait does), or choose "
        "other CPUs"
    )


def _holder(file: int) -> _Holder:
    """Who holds a lock. Anybody may have written the file: only plain text is taken."""
    try:
        document = json.loads(os.pread(file, HOLDER_BYTES, 0))
        study, process = _plain(document["study"], 80), _plain(int(document["pid"]), 20)
        words = f'the run of study "{study}" (process {process}'
        if "directory" in document:
            words += f", {_plain(document['directory'], 200)}"
        return _Holder(f"{words})", document.get("whole") is True)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return _Holder()


def _plain(text: Any, longest: int) -> str:
    return "".join(c for c in str(text) if c.isprintable())[:longest]
