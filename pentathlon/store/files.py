"""Files of a result directory: read as they lie, written whole, and never through a link.

A result may come from anybody. What is read must be a regular file of a bounded size: a named pipe
or a device would hold the reader for ever. What is written goes into a new file beside the old one,
which then takes its name: a symbolic link that lies there is replaced and what it points to is left
alone, and whoever reads meets the old file or the new one, never half of one.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 64 << 20
"""Bytes of a plan, a catalog or a note beside the tables; the largest known is below 10 MB."""

DRAFT: Final = ".part"
"""Ending of a file that is being written."""


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file; returns its descriptor.

    Args:
        flags: of open(2); O_NOFOLLOW among them refuses a symbolic link.

    Raises:
        OSError: there is none, it is a link that must not be followed, or no regular file.
    """
    # A named pipe would wait for its other end; the flag means nothing to a regular file.
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            text = "it is a symbolic link, which is not followed"
            raise OSError(errno.ELOOP, text, str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return descriptor


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file; the name is taken as it is, wildcards mean nothing.

    Args:
        most: bytes that it may have.

    Raises:
        OSError: it cannot be read, is no regular file or is longer.
    """
    with open(open_regular(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            text = f"it has {size} bytes, more than the {most} that it may have"
            raise OSError(errno.EFBIG, text, str(path))
        return file.read(most)


def write_whole(path: Path, data: bytes | str, *, sync: bool = False) -> None:
    """Write a file so that it is there whole or not at all; a text as UTF-8, its line ends kept.

    Args:
        sync: wait until the disk has it, so that a power cut leaves the old file or the new one.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    draft = path.with_name(f".{secrets.token_hex(6)}{DRAFT}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(draft, flags, 0o666)
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            if sync:
                os.fsync(descriptor)
        draft.replace(path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
