"""A place: what an end has of its own for one trial, its files and its programs.

Namespaces and guests see the directories of this machine, another machine does not
(`remote_workdir.RemotePlace`). What makes a server's configuration or checks a client's files uses
the place.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Literal

from pentathlon.experiments.file_services import content
from pentathlon.experiments.file_services.content import Content
from pentathlon.experiments.file_services.disk import named
from pentathlon.experiments.file_services.programs import HERE, Programs
from pentathlon.testbed.endpoint import Endpoint

End = Literal["client", "server"]


class Place(ABC):
    """What an end has of its own.

    Attributes:
        host: the end.
        programs: what can be started there.
        own: what the end keeps for itself: configuration, keys, logs.
        shared: what the server is to hand out.
        into: where the client's files are to come, under the names that the server has for them.
        borrowed: these are directories of this machine that the end's kernel sees through another
            one, without all that a file system of its own can do.
    """

    def __init__(self, host: Endpoint, programs: Programs, root: Path, end: End) -> None:
        self.host = host
        self.programs = programs
        self.own, self.shared, self.into = root / end, root / "shared", root / "into"
        self.borrowed = False

    @abstractmethod
    def write(self, name: str, data: str, *, secret: bool = False) -> Path:
        """A file of the end's own with this text; its path.

        Args:
            secret: nobody else may read it.

        Raises:
            OSError, TargetError: it cannot be written.
        """

    @abstractmethod
    def read(self, name: str) -> str:
        """The text of a file of the end's own.

        Raises:
            OSError, TargetError: it cannot be read.
        """

    @abstractmethod
    def make(self, *names: str) -> None:
        """Directories of the end's own, where they are not there yet."""

    @abstractmethod
    def program(self, path: Path, *others: Path) -> Path:
        """Where a program of this package lies for the end, with files beside it that it reads."""

    @abstractmethod
    def take(self, held: Content) -> None:
        """Put what the server is to hand out where it finds it.

        Raises:
            TargetError: it did not arrive whole.
        """

    @abstractmethod
    def forget(self) -> None:
        """Give up what the page cache of the end holds of `shared`."""

    @abstractmethod
    def empty(self) -> None:
        """Remove what lies in `into`."""

    @abstractmethod
    def has(self, held: Content) -> bool:
        """Whether `into` has these files with these bytes, and no others."""

    @abstractmethod
    def came(self) -> int:
        """How many bytes lie in `into`."""


class LocalPlace(Place):
    """Directories of this machine."""

    def __init__(self, host: Endpoint, base: Path, end: End) -> None:
        super().__init__(host, HERE, base, end)
        self.borrowed = host.apart

    def write(self, name: str, data: str, *, secret: bool = False) -> Path:
        path = self.own / name
        with named(path):
            path.touch(mode=0o600 if secret else 0o644)
            path.write_text(data)
        return path

    def read(self, name: str) -> str:
        return (self.own / name).read_text(errors="replace")

    def make(self, *names: str) -> None:
        for name in names:
            (self.own / name).mkdir(exist_ok=True)

    def program(self, path: Path, *others: Path) -> Path:
        return path

    def take(self, held: Content) -> None:
        """They were made there."""

    def forget(self) -> None:
        """By posix_fadvise(2), file by file."""
        for path in self.shared.rglob("*"):
            if path.is_file():
                with named(path), path.open("rb") as file:
                    os.fdatasync(file)
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def empty(self) -> None:
        for path in self.into.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def has(self, held: Content) -> bool:
        with contextlib.suppress(OSError):
            same = content.digest(self.into, held.names) == held.digest
            return same and sorted(content.found(self.into)) == list(held.names)
        return False

    def came(self) -> int:
        every = [(self.into / name).stat() for name in content.found(self.into)]
        # An open writes a document's end before its middle, which has no blocks then (inode(7)).
        return sum(min(one.st_size, 512 * one.st_blocks) for one in every)
