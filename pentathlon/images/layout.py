"""An OCI image layout (image-spec, "Image Layout"): a directory, or a tar archive of one."""

from __future__ import annotations

import io
import os
import stat
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, Final

from pentathlon.images.stream import MOST_READ, DamagedError, entries, opened
from pentathlon.images.tree import RefusedError, parts_of
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.on_error import on_error

MOST_FILES: Final = 100_000
"""Files of an archive of a layout."""


class Layout(ABC):
    """The files of a layout."""

    @abstractmethod
    def open(self, name: str) -> IO[bytes] | None:
        """A regular file, by its name with slashes; None if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Give its files back."""


class _Directory(Layout):
    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, name: str) -> IO[bytes] | None:
        try:
            # A pipe would wait for its writer.
            file = os.open(self._path / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            return None
        return os.fdopen(file, "rb")

    def close(self) -> None:
        pass


class _Archive(Layout):
    """Where each file lies in the archive is read once; its compression is that of its parts."""

    def __init__(self, path: Path) -> None:
        self._file = opened(path)
        with on_error(self._file.close):
            self._places = _places(self._file)

    def open(self, name: str) -> IO[bytes] | None:
        found = self._places.get(name)
        if found is None:
            return None
        return io.BufferedReader(_Region(self._file, *found), MOST_READ)

    def close(self) -> None:
        self._file.close()


def _places(file: IO[bytes]) -> dict[str, tuple[int, int]]:
    """Where the regular files of an archive begin, and their sizes, in bytes."""
    found: dict[str, tuple[int, int]] = {}
    kind = "neither a directory nor a tar archive without compression"
    for _, entry in entries(_Careful(file), kind):
        if entry.isreg() and not entry.issparse():
            found["/".join(parts_of(entry.name))] = (entry.offset_data, entry.size)
        if len(found) > MOST_FILES:
            raise RefusedError(f"holds more than {MOST_FILES:,} files")
    return found


class _Careful:
    """A file of which nothing large is read at once (`Stream`)."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.tell, self.seek = file.tell, file.seek

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MOST_READ:
            raise DamagedError(f"has a header of {size:,} bytes, and the most is {MOST_READ:,}")
        return self._file.read(size)


class _Region(io.RawIOBase):
    """A part of a file."""

    def __init__(self, file: IO[bytes], begin: int, size: int) -> None:
        self._file, self._begin, self._size, self._at = file, begin, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + place)
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._begin + self._at)
        data = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def layout(path: Path) -> Layout:
    """The layout at a path.

    Raises:
        TargetUnavailable: nothing is there, or it cannot be read.
        DamagedError, RefusedError: it is no layout.
    """
    if not path.exists():
        raise TargetUnavailable(
            f"the image {path} is not there; write it as oci:PATH or oci:PATH:TAG"
        )
    return _Directory(path) if path.is_dir() else _Archive(path)
