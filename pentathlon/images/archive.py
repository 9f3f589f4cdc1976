"""The entries of a tar archive, put into a root directory."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Final

from pentathlon.images.stream import DamagedError, Stream, entries
from pentathlon.images.tree import CHUNK, RefusedError, Tree, parts_of

WHITEOUT: Final = ".wh."
"""What the name of an entry begins with that removes one of the layers below."""
OPAQUE: Final = ".wh..wh..opq"
"""An entry by which a directory loses what the layers below have in it."""


def unpack(stream: Stream, tree: Tree, *, layer: bool) -> None:
    """Put every entry of an archive into a tree.

    Args:
        layer: it is a layer of an OCI image (image-spec, "Image Layer Filesystem Changeset"): some
            of its entries remove entries of the layers below.

    Raises:
        RefusedError: an entry is not unpacked.
        DamagedError: the archive is damaged.
    """
    made = _Made()
    for entry, data in _entries(stream, closed=not layer):
        parts = parts_of(entry.name)
        if not parts:
            continue
        above = tree.directory(parts[:-1], make=True)
        last = parts[-1]
        if layer and last.startswith(WHITEOUT):
            _white_out(tree, above, last, made)
            continue
        place = [*above, last]
        made.add(place)
        owner = (entry.uid, entry.gid)
        if entry.isdir():
            tree.put_directory(place, entry.mode, owner)
        elif entry.issym():
            tree.put_link(place, entry.linkname, owner)
        elif entry.islnk():
            tree.put_hard_link(place, parts_of(entry.linkname))
        elif entry.isfile():
            tree.put_file(place, data, entry.mode, owner, float(entry.mtime))
        elif entry.isdev():
            tree.leave_out(place)
        else:
            raise RefusedError(f'holds "{entry.name}" of the unknown type {entry.type!r}')


def _entries(stream: Stream, *, closed: bool) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Each entry with its data, which are read before the next one."""
    for archive, entry in entries(stream, "no tar archive"):
        yield entry, _data(archive, entry)
    # tarfile takes a damaged header behind the first for the end, which is a block of zeros.
    if stream.last.strip(b"\0") or (closed and len(stream.last) != tarfile.BLOCKSIZE):
        raise DamagedError(f"is damaged or cut off near its byte {stream.tell():,}")


def _data(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(entry) if entry.isfile() else None
    left = entry.size
    while file is not None and left:
        try:
            chunk = file.read(min(CHUNK, left))
        except tarfile.TarError:
            chunk = b""
        if not chunk:
            raise DamagedError(f'is cut off in "{entry.name}"')
        left -= len(chunk)
        yield chunk


class _Made:
    """What the present layer has, with the directories above it."""

    def __init__(self) -> None:
        self._paths: set[str] = set()

    def add(self, parts: list[str]) -> None:
        for end in range(len(parts), 0, -1):
            path = "/".join(parts[:end])
            if path in self._paths:
                return
            self._paths.add(path)

    def __contains__(self, parts: list[str]) -> bool:
        return "/".join(parts) in self._paths


def _white_out(tree: Tree, above: list[str], name: str, made: _Made) -> None:
    """Remove what the layers below have: in a directory, or under one name."""
    if name == OPAQUE:
        _clear(tree, above, made)
        return
    hidden = name.removeprefix(WHITEOUT)
    if hidden in {"", ".", ".."}:
        raise RefusedError(f'holds the whiteout "{name}", which names no file')
    if not hidden.startswith(WHITEOUT):  # Notes of a file system that only its authors know.
        _hide(tree, [*above, hidden], made)


def _hide(tree: Tree, place: list[str], made: _Made) -> None:
    if place not in made:
        tree.remove(place)
    elif tree.is_directory(place):
        _clear(tree, place, made)


def _clear(tree: Tree, directory: list[str], made: _Made) -> None:
    for name in tree.names(directory):
        _hide(tree, [*directory, name], made)
