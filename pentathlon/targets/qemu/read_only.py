"""Start a program to which every file of this machine is read-only: run as a program of its own.

It uses the standard library alone, so that it needs no more than an interpreter:

    read_only.py PROGRAM ARGUMENT...

The program gets mounts of its own, all of them read-only, with one call for the whole tree:
mount_setattr(2), Linux 5.12.
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWNS = 0x00020000
MS_PRIVATE = 1 << 18
MOUNT_SETATTR = 442
"""Number of the system call, the same on every architecture."""
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY = 0x00000001


def protect() -> None:
    """Leave the mounts of the others, and make one's own read-only.

    Raises:
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    # struct mount_attr: set, clear, propagation, user namespace. Nothing of it reaches the others.
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, MS_PRIVATE, 0)
    _checked(libc.unshare(CLONE_NEWNS), "unshare")
    _checked(
        libc.syscall(
            ctypes.c_long(MOUNT_SETATTR), ctypes.c_int(AT_FDCWD), b"/",
            ctypes.c_uint(AT_RECURSIVE), ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        ),
        "mount_setattr",
    )  # fmt: skip


def _checked(result: int, call: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)


if __name__ == "__main__":
    try:
        protect()
        os.execv(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"files cannot be made read-only: {error}")
