"""A root directory that archives fill: every name stays within it, whatever links lie in it.

Nothing else writes to the directory meanwhile, so what was looked at is still so when it is used.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

MOST_ENTRIES: Final = 1_000_000
"""Files, directories and links of one image."""
MOST_BYTES: Final = 64 << 30
"""Bytes of its files."""
MOST_DEPTH: Final = 200
"""Directories above one another."""
MOST_LINKS: Final = 40
"""Links on one way, as the kernel has it (path_resolution(7))."""
KEPT_FREE: Final = 256 << 20
"""Bytes that an image leaves on the disk."""
LOOK_EVERY: Final = 64 << 20

CHUNK: Final = 1 << 20


class RefusedError(Exception):
    """An entry that is not unpacked; a clause whose subject is the image."""


def parts_of(name: str) -> list[str]:
    """The parts of a name in an archive.

    Raises:
        RefusedError: it is absolute, or leads upwards.
    """
    if name.startswith("/"):
        raise RefusedError(f'holds the absolute name "{name}"')
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise RefusedError(f'holds the name "{name}", which leads out of a directory')
    if "\0" in name or len(name) > 4096:
        raise RefusedError("holds a name that no file can have")
    return parts


class Tree:
    """The directory, and how much was put there.

    Attributes:
        entries: files, directories and links.
        size: bytes of the files.
        left_out: devices and pipes, which a guest has itself.
    """

    def __init__(self, root: Path) -> None:
        self.root = os.fspath(root)
        self.entries = 0
        self.size = 0
        self.left_out = 0
        self._owner = os.geteuid() == 0
        self._looked_at = 0

    def at(self, parts: Sequence[str]) -> str:
        """The path of parts that hold no link."""
        return "/".join((self.root, *parts))

    def directory(self, parts: Sequence[str], *, make: bool) -> list[str]:
        """The real parts of a directory, the links on its way followed within the tree.

        Args:
            make: make what is missing.

        Raises:
            RefusedError: it is missing, lies in a file, or the links go round.
        """
        real: list[str] = []
        pending = list(reversed(parts))
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":  # Of a link; above the root is the root.
                real = real[:-1]
            if part in {"", ".", ".."}:
                continue
            place = self.at([*real, part])
            try:
                mode = os.lstat(place).st_mode
            except FileNotFoundError:
                if not make:
                    raise RefusedError(f'lacks "{"/".join([*real, part])}"') from None
                if len(real) >= MOST_DEPTH:
                    raise RefusedError(f"is deeper than {MOST_DEPTH} directories") from None
                self.count()
                os.mkdir(place, 0o755)  # noqa: PTH102  as fast as it can be
                real.append(part)
                continue
            if stat.S_ISLNK(mode):
                links += 1
                if links > MOST_LINKS:
                    raise RefusedError(f'has links in "{"/".join(parts)}" that go round')
                target = os.readlink(place)  # noqa: PTH115
                real = [] if target.startswith("/") else real
                pending += reversed(target.split("/"))
            elif stat.S_ISDIR(mode):
                real.append(part)
            else:
                raise RefusedError(
                    f'holds "{"/".join(parts)}", but "{"/".join([*real, part])}" is no directory'
                )
        return real

    def count(self, size: int = 0) -> None:
        """Count an entry, or bytes of a file.

        Raises:
            RefusedError: these are too many.
        """
        self.entries += not size
        self.size += size
        if self.entries > MOST_ENTRIES:
            raise RefusedError(f"holds more than {MOST_ENTRIES:,} files")
        if self.size > MOST_BYTES:
            raise RefusedError(f"holds more than {MOST_BYTES >> 30} GiB")
        if self.size - self._looked_at >= LOOK_EVERY:
            self._looked_at = self.size
            state = os.statvfs(self.root)
            if state.f_bavail * state.f_frsize < KEPT_FREE:
                raise RefusedError(
                    f"has no room: the disk of {self.root} has less than {KEPT_FREE >> 20} MiB free"
                )

    def remove(self, parts: Sequence[str]) -> None:
        """Remove what lies there, if anything does."""
        place = self.at(parts)
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISDIR(mode):
            shutil.rmtree(place)
        else:
            os.unlink(place)  # noqa: PTH108

    def names(self, parts: Sequence[str]) -> list[str]:
        """What lies in a directory; nothing if there is none."""
        try:
            return sorted(os.listdir(self.at(parts)))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_directory(self, parts: Sequence[str]) -> bool:
        """Whether a real directory lies there."""
        try:
            return stat.S_ISDIR(os.lstat(self.at(parts)).st_mode)
        except FileNotFoundError:
            return False

    def is_file(self, parts: Sequence[str]) -> bool:
        """Whether a regular file lies there."""
        try:
            return stat.S_ISREG(os.lstat(self.at(parts)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def put_directory(self, parts: Sequence[str], mode: int, owner: tuple[int, int]) -> None:
        """Make a directory, or give one its mode; its user may always remove what is in it."""
        if not self.is_directory(parts):
            self.remove(parts)
            self.count()
            os.mkdir(self.at(parts), 0o700)  # noqa: PTH102
        os.chmod(self.at(parts), mode & 0o1777 | 0o700)  # noqa: PTH101
        self._own(parts, owner)

    def put_file(
        self,
        parts: Sequence[str],
        chunks: Iterable[bytes],
        mode: int,
        owner: tuple[int, int],
        changed_s: float,
    ) -> None:
        """Make a file. Nothing runs with another user's rights by a file of an image."""
        self.remove(parts)
        self.count()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self.at(parts), flags, 0o600), "wb", buffering=0) as file:
            for chunk in chunks:
                self.count(len(chunk))
                file.write(chunk)
            if 0 <= changed_s < 1 << 40:
                os.utime(file.fileno(), (changed_s, changed_s))
            self._own(parts, owner)
            os.fchmod(file.fileno(), mode & 0o777 | 0o400)

    def put_link(self, parts: Sequence[str], target: str, owner: tuple[int, int]) -> None:
        """Make a symbolic link. Where it leads counts in the guest, whose root this becomes."""
        if not target or "\0" in target:
            raise RefusedError(f'holds the link "{"/".join(parts)}" to no name')
        self.remove(parts)
        self.count()
        os.symlink(target, self.at(parts))  # noqa: PTH211
        self._own(parts, owner)

    def put_hard_link(self, parts: Sequence[str], target: Sequence[str]) -> None:
        """Give a file of the tree one more name.

        Raises:
            RefusedError: there is no such file.
        """
        said = f'"{"/".join(parts)}", a link to "{"/".join(target)}"'
        if not target:
            raise RefusedError(f"holds {said}, which is no file of it")
        above = self.directory(target[:-1], make=False)
        source = [*above, target[-1]]
        try:
            mode = os.lstat(self.at(source)).st_mode
        except FileNotFoundError:
            raise RefusedError(f"holds {said}, which it lacks") from None
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise RefusedError(f"holds {said}, which is no file")
        if source == list(parts):
            return
        if source[: len(parts)] == list(parts):
            raise RefusedError(f"holds {said}, which lies in it")
        self.remove(parts)
        self.count()
        os.link(self.at(source), self.at(parts), follow_symlinks=False)

    def leave_out(self, parts: Sequence[str]) -> None:
        """Have nothing where a device or a pipe would be."""
        self.remove(parts)
        self.left_out += 1

    def _own(self, parts: Sequence[str], owner: tuple[int, int]) -> None:
        """Give it to its user, as far as this one may."""
        if self._owner and all(0 <= one < 2**32 - 1 for one in owner):
            try:
                os.lchown(self.at(parts), *owner)
            except OSError:
                self._owner = False  # Not in this user namespace, say.
