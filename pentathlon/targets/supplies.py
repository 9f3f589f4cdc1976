"""Files of the user that systems get, by their hashes: read when a study is loaded, copied when a
system is booted, and never changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine.errors import TargetError

MOST_FILES = 20_000
"""Of one workload, with those in its directories."""

FILES = "files"
"""The directory with them, in whatever directory of a session has room for it."""


class SupplyError(ValueError):
    """Files that cannot be given to a system; one sentence.

    Attributes:
        place: which of the names it is, from 0.
    """

    def __init__(self, text: str, place: int = 0) -> None:
        super().__init__(text)
        self.place = place


@dataclass(frozen=True)
class SuppliedFile:
    """One file.

    Attributes:
        path: where it lies in the folder of its workload, with slashes.
        source: the file on this machine.
        size: in bytes.
        changed_ns: when it was last changed, as it was read.
    """

    path: str
    source: Path
    sha256: str
    size: int
    executable: bool
    changed_ns: int


@dataclass(frozen=True)
class Supply:
    """The files of one workload."""

    workload: str
    files: tuple[SuppliedFile, ...]

    def record(self) -> dict[str, dict[str, str | int | bool]]:
        """The files for the plan: path -> what it is."""
        return {
            one.path: {"sha256": one.sha256, "bytes": one.size, "executable": one.executable}
            for one in self.files
        }


def collect(workload: str, names: Sequence[str], directory: Path) -> Supply:
    """Read files and directories that a workload names; links are followed.

    Args:
        directory: where relative names begin.

    Raises:
        SupplyError: one of them is not there, is no file, or two have one name.
    """
    found: dict[str, SuppliedFile] = {}
    for place, name in enumerate(names):
        source = directory / name
        top = os.path.basename(os.path.normpath(name))  # noqa: PTH119  "scenes/" is "scenes"
        if top in {"", ".", ".."}:
            raise SupplyError(f'"{name}" has no last name; name the directory itself', place)
        if any(path == top or path.startswith(f"{top}/") for path in found):
            raise SupplyError(f'two files are called "{top}"; a run finds them by that name', place)
        try:
            for path, file in _walk(source, top):
                found[path] = _read(path, file)
                if len(found) > MOST_FILES:
                    raise SupplyError(f'"{name}" makes more than {MOST_FILES:,} files', place)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SupplyError(f'"{name}" cannot be read: {reason}', place) from error
        except SupplyError as error:
            raise SupplyError(str(error), place) from error
    return Supply(workload, tuple(found.values()))


def _walk(source: Path, path: str) -> Iterator[tuple[str, Path]]:
    """The files of a directory in the order of their names, or the file itself."""
    state = source.stat()
    if stat.S_ISREG(state.st_mode):
        yield path, source
        return
    if not stat.S_ISDIR(state.st_mode):
        raise SupplyError(f'"{path}" is neither a file nor a directory')
    pending = [(source, path, frozenset({(state.st_dev, state.st_ino)}))]
    while pending:
        at, name, above = pending.pop()
        inner = []
        for one in sorted(at.iterdir()):
            own = f"{name}/{one.name}"
            state = one.stat()
            if stat.S_ISDIR(state.st_mode):
                if (state.st_dev, state.st_ino) in above:
                    raise SupplyError(f'"{own}" is a link to a directory that it lies in')
                inner.append((one, own, above | {(state.st_dev, state.st_ino)}))
            elif stat.S_ISREG(state.st_mode):
                yield own, one
            else:
                raise SupplyError(f'"{own}" is neither a file nor a directory')
        pending += reversed(inner)


def _read(path: str, source: Path) -> SuppliedFile:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SupplyError(f"the name {path!r} is no UTF-8") from error
    with source.open("rb") as file:
        state = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    executable = bool(state.st_mode & stat.S_IXUSR)
    return SuppliedFile(path, source, digest, state.st_size, executable, state.st_mtime_ns)


def stage(supplies: Sequence[Supply], directory: Path) -> Path | None:
    """Copy the files of all workloads into a new directory, each workload's into its own folder.

    Returns:
        The directory; None if there are no files.

    Raises:
        TargetError: a file is another one than when the study was read, or cannot be copied.
    """
    if not any(supply.files for supply in supplies):
        return None
    for supply in supplies:
        for one in supply.files:
            place = directory / supply.workload / one.path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                _copy(one, place)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise TargetError(
                    f'the file "{one.path}" of {supply.workload} cannot be copied: {reason}'
                ) from error
    return directory


def _copy(one: SuppliedFile, place: Path) -> None:
    state = one.source.stat()
    changed = (state.st_size, state.st_mtime_ns) != (one.size, one.changed_ns)
    if changed and _read(one.path, one.source).sha256 != one.sha256:
        raise TargetError(
            f'the file "{one.source}" was changed while the study runs; its plan has the SHA-256 '
            f"{one.sha256[:12]}..."
        )
    shutil.copyfile(one.source, place)
    place.chmod(0o555 if one.executable else 0o444)
