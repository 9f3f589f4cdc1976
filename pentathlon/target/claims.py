"""One measurement at a time on a CPU: locks that every run on this machine takes (flock(2)).

Two runs on one CPU share it, and each would measure the other. A lock is a file for each CPU in a
directory that all users share; the kernel gives it back when its holder ends, in whatever way. The
file names the holder for whoever finds it taken.
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
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from pentathlon.target.contract import TargetError

DIRECTORY = "PENTATHLON_LOCK_DIR"
"""Variable that names another directory, for containers that share the CPUs of one machine."""

SHARED = Path("/run/lock")
HOLDER_BYTES = 512
EVERYBODY = 0o666
"""Whoever takes the lock next may be another user, and writes its name there."""


class Busy(TargetError):
    """What a run is to measure on is taken by another run."""


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

    def take(self, study: str, names: Iterable[str]) -> None:
        """Take what is not held yet, such as "CPU 1"; all of it or nothing.

        Args:
            study: name of the study, for those who find something taken.

        Raises:
            Busy: something is taken by another run, which the sentence names.
            TargetError: the lock cannot be taken at all.
        """
        # One order for all: two runs that wait for each other would wait for ever.
        wanted = sorted(set(names) - self._held.keys())
        taken: dict[str, int] = {}
        try:
            for name in wanted:
                taken[name] = self._take(name, study)
        except BaseException:
            for file in taken.values():
                os.close(file)
            raise
        self._held |= taken

    def _take(self, name: str, study: str) -> int:
        path = self._directory / _file_name(name)
        try:
            file = _open(path)
        except OSError as error:
            raise TargetError(
                f"the lock {path} of {name} cannot be used: {error.strerror}; name another "
                f"directory in {DIRECTORY}"
            ) from error
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sentence = f"{name} is taken by {_holder(file)}"
                if self._waiting is None:
                    raise Busy(
                        f"{sentence}; two runs there would measure each other. Wait for its end "
                        "(run --wait does), or choose other CPUs"
                    ) from None
                self._waiting(f"{sentence}; waiting for its end")
                fcntl.flock(file, fcntl.LOCK_EX)
            # A file of another user that only he may write keeps the name of an earlier holder.
            with contextlib.suppress(OSError):
                os.ftruncate(file, 0)
                os.pwrite(file, _own_name(study), 0)
        except BaseException:
            os.close(file)
            raise
        return file

    def release(self) -> None:
        """Give everything back; may be called again."""
        while self._held:
            _, file = self._held.popitem()
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


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


def _own_name(study: str) -> bytes:
    return json.dumps({"study": study, "pid": os.getpid()}).encode()


def _holder(file: int) -> str:
    """Who holds a lock, in words. Anybody may have written the file: only plain text is taken."""
    try:
        told = json.loads(os.pread(file, HOLDER_BYTES, 0))
        study = "".join(c for c in str(told["study"]) if c.isprintable())[:80]
        return f'the run of study "{study}" (process {int(told["pid"])})'
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"
