"""A result directory that is to be added: its id and what checks its tables, from one reading."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pentathlon.store.files import open_regular
from pentathlon.store.names import CATALOG, JOURNAL, PLAN

CHUNK: Final = 1 << 18
"""Bytes that are read at once: few enough to stay in a processor's cache."""


@dataclass(frozen=True)
class Source:
    """A result directory.

    Attributes:
        identity: the id of the result: SHA-256 over the plan, the catalog and the journal.
        journal: bytes of the journal as it was read, and their SHA-256.
        stats: sizes and times when they were read.
    """

    path: Path
    identity: str
    journal: tuple[int, str]
    stats: tuple[tuple[int, int], ...]

    @property
    def changed(self) -> bool:
        """Whether one of the files is another one by now."""
        found = [(self.path / name).stat() for name in (PLAN, CATALOG, JOURNAL)]
        return tuple((one.st_size, one.st_mtime_ns) for one in found) != self.stats


def look(path: Path) -> Source:
    """Read what states all of a result.

    Raises:
        OSError: it cannot be read.
    """
    whole = hashlib.sha256()
    stats = []
    buffer = memoryview(bytearray(CHUNK))
    size, digest = 0, hashlib.sha256()
    for name in (PLAN, CATALOG, JOURNAL):  # The last one's are kept.
        size, digest = 0, hashlib.sha256()
        with open(open_regular(path / name, os.O_RDONLY), "rb", buffering=0) as file:  # noqa: PTH123
            found = os.fstat(file.fileno())
            stats.append((found.st_size, found.st_mtime_ns))
            while count := file.readinto(buffer):
                digest.update(buffer[:count])
                size += count
        whole.update(digest.digest())
    return Source(path, whole.hexdigest(), (size, digest.hexdigest()), tuple(stats))
