"""Fetches files from an NFS server by libnfs; a program of its own.

It reads from its standard input, line by line: task, URL of the export, document or tree, directory
where the files go, bytes of a READ, READs in flight. *copy* reads one document; *open* takes the
trace of an office program (`open_smb.py`), without its lock, for which libnfs has no call;
*roaming* walks a tree and reads each file.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("libnfs.so.13", "libnfs.so.14")
"""The library by the names under which it has the interface that is used here."""

DIRECTORY = 2
"""Type of a directory (RFC 7530, nfs_ftype4)."""

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

STAT_FIELDS = (
    "dev", "ino", "mode", "nlink", "uid", "gid", "rdev", "size", "blksize", "blocks", "atime",
    "mtime", "ctime", "atime_nsec", "mtime_nsec", "ctime_nsec", "used",
)  # fmt: skip


class Stat(ctypes.Structure):
    """struct nfs_stat_64 of nfsc/libnfs.h."""

    _fields_ = [(name, ctypes.c_uint64) for name in STAT_FIELDS]


class Entry(ctypes.Structure):
    """The beginning of struct nfsdirent of nfsc/libnfs.h."""

    _fields_ = [
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("inode", ctypes.c_uint64),
        ("type", ctypes.c_uint32),
    ]


class Url(ctypes.Structure):
    """struct nfs_url of nfsc/libnfs.h."""

    _fields_ = [(name, ctypes.c_char_p) for name in ("server", "path", "file")]


def library() -> Any:
    """The library with the types of its functions."""
    for name in NAMES:
        try:
            found = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        sys.exit(f"there is no {' or '.join(NAMES)}; install libnfs13 (Debian)")
    pointer, text, number, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64
    for name, result, arguments in (
        ("init_context", pointer, []),
        ("destroy_context", None, [pointer]),
        ("set_autoreconnect", None, [pointer, number]),
        ("get_error", text, [pointer]),
        ("parse_url_dir", ctypes.POINTER(Url), [pointer, text]),
        ("destroy_url", None, [ctypes.POINTER(Url)]),
        ("mount", number, [pointer, text, text]),
        ("stat64", number, [pointer, text, pointer]),
        ("open", number, [pointer, text, number, pointer]),
        ("close", number, [pointer, pointer]),
        ("opendir", number, [pointer, text, pointer]),
        ("readdir", ctypes.POINTER(Entry), [pointer, pointer]),
        ("closedir", None, [pointer, pointer]),
        ("pread_async", number, [pointer, pointer, size, size, CALLBACK, pointer]),
        ("get_fd", number, [pointer]),
        ("which_events", number, [pointer]),
        ("service", number, [pointer, number]),
    ):
        function = getattr(found, f"nfs_{name}")
        function.restype, function.argtypes = result, arguments
    return found


class Export:
    """A mounted export. Every method ends the program with the library's words if it fails."""

    def __init__(self, url: str) -> None:
        self.nfs = library()
        self.context = self.nfs.nfs_init_context()
        self.nfs.nfs_set_autoreconnect(self.context, 0)
        place = self.nfs.nfs_parse_url_dir(self.context, url.encode())
        if not place:
            self._give_up("the URL")
        self._check(
            self.nfs.nfs_mount(self.context, place.contents.server, place.contents.path), "mount"
        )
        self.nfs.nfs_destroy_url(place)

    def _check(self, result: int, what: str) -> None:
        if result < 0:
            self._give_up(what)

    def _give_up(self, what: str) -> None:
        output = self.nfs.nfs_get_error(self.context) or b"no reason given"
        sys.exit(f"libnfs: {what}: {output.decode(errors='replace')}")

    def leave(self) -> None:
        self.nfs.nfs_destroy_context(self.context)

    def size(self, path: str) -> int:
        """Length of a file in bytes."""
        found = Stat()
        status = self.nfs.nfs_stat64(self.context, path.encode(), ctypes.byref(found))
        self._check(status, f"stat of {path}")
        return int(found.size)

    def files(self, path: str) -> Iterator[str]:
        """Every file below a directory."""
        handle = ctypes.c_void_p()
        status = self.nfs.nfs_opendir(self.context, path.encode(), ctypes.byref(handle))
        self._check(status, f"list of {path}")
        found = []
        while entry := self.nfs.nfs_readdir(self.context, handle):
            name = entry.contents.name.decode()
            if name not in {".", ".."}:
                found.append((name, entry.contents.type == DIRECTORY))
        self.nfs.nfs_closedir(self.context, handle)
        for name, directory in sorted(found):
            if directory:
                yield from self.files(f"{path}/{name}")
            else:
                yield f"{path}/{name}"

    def read(self, path: str, pieces: list[tuple[int, int]], out: int, flight: int) -> None:
        """Read pieces (offset, length) of a file, `flight` at a time, into an open file."""
        handle = ctypes.c_void_p()
        status = self.nfs.nfs_open(self.context, path.encode(), os.O_RDONLY, ctypes.byref(handle))
        self._check(status, f"open of {path}")
        waiting = list(reversed(pieces))
        flying: dict[int, tuple[int, int]] = {}
        wrong: list[str] = []

        def came(count: int, _: Any, data: Any, token: Any) -> None:
            # An exception would be lost in the library, so it is kept.
            offset, length = flying.pop(token or 0)
            if count <= 0:
                wrong.append(f"{count} of {length} bytes at {offset}")
                return
            try:
                _write(out, ctypes.string_at(data, count), offset)
            except OSError as error:
                wrong.append(str(error))
            if count < length:
                waiting.append((offset + count, length - count))

        callback, token = CALLBACK(came), 0
        while (waiting or flying) and not wrong:
            while waiting and len(flying) < flight:
                token += 1
                flying[token] = waiting.pop()
                status = self.nfs.nfs_pread_async(
                    self.context, handle, *flying[token], callback, token
                )
                self._check(status, f"read of {path}")
            self._serve()
        if wrong:
            sys.exit(f"read of {path}: {wrong[0]}")
        self._check(self.nfs.nfs_close(self.context, handle), f"close of {path}")

    def _serve(self) -> None:
        """Wait for the connection, and let the library do what can be done."""
        poller = select.poll()
        poller.register(self.nfs.nfs_get_fd(self.context), self.nfs.nfs_which_events(self.context))
        ready = poller.poll(1000)
        done = self.nfs.nfs_service(self.context, ready[0][1] if ready else 0)
        self._check(done, "the connection")


def _write(out: int, data: bytes, offset: int) -> None:
    """Write all of it; a disk that becomes full takes a part without a word (pwrite(2))."""
    done = 0
    while done < len(data):
        done += os.pwrite(out, data[done:], offset + done)


def main() -> None:
    task, url, name, into, length, flight = sys.stdin.read().splitlines()
    export = Export(url)
    for path in export.files(f"/{name}") if task == "roaming" else [f"/{name}"]:
        size, block = export.size(path), int(length)
        pieces = [(at, min(block, size - at)) for at in range(0, size, block)]
        if task == "open":
            trace = runpy.run_path(str(Path(__file__).with_name("open_smb.py")))["reads"]
            pieces = [piece for piece in trace(size) if piece[1]]
        target = Path(into + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            export.read(path, pieces, out, 1 if task == "open" else int(flight))
        finally:
            os.close(out)
    export.leave()


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(str(error))
