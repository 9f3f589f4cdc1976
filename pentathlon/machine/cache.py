"""The directory for kernels and programs that were fetched, and its records."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pentathlon.machine.directories import user_dir

RECORD = "record.json"
"""Name of the file beside something fetched: its package, version and digest."""


def cache_dir() -> Path:
    """$XDG_CACHE_HOME/pentathlon, as the XDG base directory specification states."""
    return user_dir("XDG_CACHE_HOME", ".cache")


@contextmanager
def locked(directory: Path, part: str = "") -> Iterator[None]:
    """Hold a directory of the cache, or a part of it: no two fill it at the same time.

    Args:
        directory: is made if it is missing.
        part: a name of what is filled; parts with different names are filled side by side.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f".lock{'-' if part else ''}{part}").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def publish(fresh: Path, place: Path, record: Mapping[str, Any]) -> None:
    """Move a directory that is whole to its place in the cache, with its record in it; what was
    there before is removed."""
    (fresh / RECORD).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    if place.exists():
        shutil.rmtree(place)
    fresh.rename(place)


def is_recorded(path: Path) -> bool:
    """Whether a fetched file is still the one whose digest stands in the record beside it."""
    try:
        record = json.loads((path.parent / RECORD).read_text())
        return bool(record["sha256"] == digest(path))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def digest(path: Path) -> str:
    """SHA-256 of a file; what has the same time and size as before is not read again."""
    state = path.stat()
    return _sha256(path, state.st_mtime_ns, state.st_size)


@functools.cache
def _sha256(path: Path, _changed_ns: int, _size: int) -> str:
    return sha256(path)


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
