"""Where an archive lies: a directory, or any store that fsspec opens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from pentathlon.safeio.clipping import clip
from pentathlon.store.files import open_regular, write_whole
from pentathlon.store.problems import StoreError


class Place(Protocol):
    """A tree of files; names are relative, with slashes. A file is there whole or not at all."""

    text: str

    def read(self, name: str) -> bytes:
        """The bytes of a file.

        Raises:
            OSError: it cannot be read.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write a file.

        Raises:
            OSError: it cannot be written, and is not there.
        """

    def sizes(self, folder: str) -> dict[str, int]:
        """Names and sizes of the files in a folder; {} if there is none."""

    def size(self, name: str) -> int | None:
        """Size of a file; None if there is none."""

    def delete(self, name: str) -> None:
        """Delete a file that may be there."""

    def url(self, name: str) -> str:
        """What an engine reads the file by."""

    def lock(self) -> Any:
        """A context in which nobody else compacts, where the place can do that."""


class Folder:
    """A directory of a file system."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = str(path)
        self._known: set[Path] = set()

    def read(self, name: str) -> bytes:
        with open(open_regular(self.path / name, os.O_RDONLY), "rb") as file:  # noqa: PTH123
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        path = self.path / name
        if path.parent not in self._known:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._known.add(path.parent)
        write_whole(path, data, sync=True)

    def sizes(self, folder: str) -> dict[str, int]:
        try:
            with os.scandir(self.path / folder) as found:
                return {
                    f"{folder}/{one.name}": one.stat().st_size for one in found if one.is_file()
                }
        except FileNotFoundError:
            return {}

    def size(self, name: str) -> int | None:
        try:
            return (self.path / name).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def url(self, name: str) -> str:
        return str(self.path.absolute() / name)

    @contextmanager
    def lock(self) -> Iterator[None]:
        import fcntl  # noqa: PLC0415  where an archive is compacted

        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class Remote:
    """A store of fsspec, such as `s3://bucket/archive` or `memory://archive`."""

    def __init__(self, text: str) -> None:
        try:
            import fsspec  # noqa: PLC0415  an extra
        except ImportError as error:
            raise StoreError(
                f"{text} needs the Python package fsspec, which is not installed: "
                "pip install 'pentathlon[stores]'"
            ) from error
        self.text = text.rstrip("/")
        try:
            self.system, self._root = fsspec.core.url_to_fs(self.text)
        except Exception as error:  # whatever the store's own package raises
            raise StoreError(f"{text} cannot be opened: {clip(str(error))}") from error
        self.scheme = self.text.partition("://")[0]

    def read(self, name: str) -> bytes:
        with self._errors(name):
            return bytes(self.system.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, data: bytes) -> None:
        with self._errors(name):
            self.system.pipe_file(f"{self._root}/{name}", data)

    def sizes(self, folder: str) -> dict[str, int]:
        with self._errors(folder):
            try:
                self.system.invalidate_cache()
                found = self.system.ls(f"{self._root}/{folder}", detail=True)
            except FileNotFoundError:
                return {}
        return {
            f"{folder}/{one['name'].rpartition('/')[2]}": int(one["size"])
            for one in found
            if one["type"] == "file"
        }

    def size(self, name: str) -> int | None:
        with self._errors(name):
            try:
                return int(self.system.info(f"{self._root}/{name}")["size"])
            except FileNotFoundError:
                return None

    def delete(self, name: str) -> None:
        with self._errors(name):
            try:
                self.system.rm_file(f"{self._root}/{name}")
            except FileNotFoundError:
                return

    def url(self, name: str) -> str:
        return f"{self.text}/{name}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        yield  # Of two compactions at once the log of commits takes the first.

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        """Errors of the store's own package as errors of files."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            raise OSError(5, clip(str(error) or type(error).__name__), self.url(name)) from error


def open_place(text: str) -> Place:
    """The place that a text names: a URL with a scheme, or a directory.

    Raises:
        StoreError: no package opens it.
    """
    return Remote(text) if "://" in text else Folder(Path(text))
