"""Length and checksums of a journal: by them derived tables are known to be those of it."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

from pentathlon.store.files import open_regular
from pentathlon.store.names import JOURNAL


def journal_sums(directory: Path, *, with_digest: bool = True) -> tuple[int, int, str]:
    """Bytes of the journal, their CRC-32, which takes some tenths of a second for a GB, and their
    SHA-256, which takes a second; (-1, 0, "") if it cannot be read."""
    size = checksum = 0
    digest = hashlib.sha256()
    try:
        with open(open_regular(directory / JOURNAL, os.O_RDONLY), "rb") as file:  # noqa: PTH123
            while data := file.read(1 << 20):
                checksum = zlib.crc32(data, checksum)
                if with_digest:
                    digest.update(data)
                size += len(data)
    except OSError:
        return -1, 0, ""
    return size, checksum, digest.hexdigest()
