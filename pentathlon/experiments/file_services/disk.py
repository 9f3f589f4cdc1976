"""What this machine's own files refuse, in one sentence.

A trial's documents, configurations and directories are written by this program. Its disk can be
full before that of any client is, and `write(2)` does not say of which file.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an error of the system name the file.

    Raises:
        OSError: the same, with the name.
    """
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def sentence(error: OSError, scratch: Path) -> str:
    """Which file, why, and where.

    Args:
        scratch: where the files of the trial lie.
    """
    file = str(error.filename or scratch)
    if error.errno not in FULL:
        return f"{file} on this machine cannot be used: {error.strerror or error}"
    text = f"this machine's disk is full ({error.strerror}): {file}"
    with contextlib.suppress(OSError):
        disk = os.statvfs(scratch)
        # By now they are removed again.
        text += f"; without the trial's files {disk.f_bavail * disk.f_frsize:,} bytes and "
        text += f"{disk.f_favail:,} files are free in {scratch}"
    return text
