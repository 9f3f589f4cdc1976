"""The place of an end that is another machine: a private directory over there.

Files go there before what is measured, and are looked at after it, over the machine's own
connection. The directory lies in the session's, so the guard removes it after a crash too.
"""

from __future__ import annotations

import contextlib
import hashlib
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pentathlon.experiments.file_services.content import Content
from pentathlon.experiments.file_services.disk import named
from pentathlon.experiments.file_services.programs import SYSTEM_PYTHON, Programs, missing_library
from pentathlon.experiments.file_services.workdir import End, LocalPlace, Place
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.safeio.clipping import clip
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.remote_host import RemoteEndpoint

IMPORT_S = 60.0
LONGEST_COUNT = 20
"""Digits of a number of bytes."""

WRITE = 'umask "$2"; cat >"$1"'
UNPACK = 'tar -x -o -f - -C "$1"'

# Words: a directory. Reads the names of files and prints one digest over each name, length and
# content (`content.digest`), and one over the names that there are.
DIGEST = r"""
cd "$1" || exit 1
while IFS= read -r name; do
    [ -f "$name" ] || exit 1
    printf '%s\000%s\000' "$name" "$(wc -c <"$name" | tr -d ' ')"
    cat -- "$name"
done | sha256sum | cut -d' ' -f1
find . -type f | sed 's|^\./||' | LC_ALL=C sort | sha256sum | cut -d' ' -f1
"""

# dd(1) of coreutils gives up what the cache holds, posix_fadvise(2), of a file that it copies none
# of.
FORGET = r"""
find "$1" -type f -exec sh -c '
    for file; do
        dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none || exit 1
    done' sh {} +
"""

EMPTY = 'find "$1" -mindepth 1 -delete'
# Bytes that have blocks, as of this machine's own (`LocalPlace.came`); stat(1).
CAME = r"""
find "$1" -type f -exec stat -c '%s %b %B' {} + |
    awk '{ blocks = $2 * $3; sum += $1 < blocks ? $1 : blocks } END { printf "%.0f\n", sum }'
"""


class RemotePrograms(Programs):
    """What is installed on another machine."""

    def __init__(self, host: RemoteEndpoint) -> None:
        self._host = host

    def need(self, program: str, package: str) -> str:
        return self._host.need(program, package)

    def python(self, module: str, remedy: str) -> str:
        first = self.need("python3", "python3")
        # Debian's packages are for the system's interpreter, whatever comes first in $PATH.
        for python in dict.fromkeys((first, SYSTEM_PYTHON)):
            with contextlib.suppress(TargetError):
                self._run(python, f"import {module}")
                return python
        raise TargetUnavailable(
            f"the Python module {module.partition('.')[0]} is not installed on {self._host.name}",
            f"{remedy.format(python=first)} on {self._host.name}",
        )

    def library(self, names: Sequence[str], package: str) -> None:
        python = self.need("python3", "python3")
        for name in names:
            try:
                self._run(python, f"import ctypes; ctypes.CDLL({name!r})")
            except TargetError:
                continue
            return
        raise missing_library(names, package, f" on {self._host.name}")

    def _run(self, python: str, code: str) -> None:
        self._host.shell('"$1" -I -c "$2"', python, code, timeout_s=IMPORT_S)

    def find(self, patterns: Sequence[str]) -> Path | None:
        # A pattern that names nothing stays as it is.
        script = 'for file in $1; do [ ! -e "$file" ] || echo "$file"; done'
        found = self._host.shell(script, " ".join(patterns)).splitlines()
        return Path(found[0]) if found else None

    @property
    def user(self) -> str:
        return self._host.shell("id -un").strip()


class RemotePlace(Place):
    """A directory on another machine."""

    def __init__(self, host: RemoteEndpoint, name: str, end: End) -> None:
        root = Path(host.far.scratch) / name
        super().__init__(host, RemotePrograms(host), root, end)
        self._far, self._root = host, root
        host.shell('mkdir -p "$@"', *map(str, (self.own, self.shared, self.into)))

    def remove(self) -> None:
        """Remove all of it."""
        self._far.shell('rm -rf -- "$1"', str(self._root))

    def write(self, name: str, data: str, *, secret: bool = False) -> Path:
        path = self.own / name
        self._far.shell(WRITE, str(path), "077" if secret else "022", input=data)
        return path

    def read(self, name: str) -> str:
        return self._far.shell('cat "$1"', str(self.own / name))

    def make(self, *names: str) -> None:
        self._far.shell('mkdir -p "$@"', *(str(self.own / name) for name in names))

    def program(self, path: Path, *others: Path) -> Path:
        for one in (*others, path):
            self.write(one.name, one.read_text())
        return self.own / path.name

    def take(self, held: Content) -> None:
        with named(Path(tempfile.gettempdir())), tempfile.TemporaryFile() as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name in held.names:
                    archive.add(held.directory / name, name)
            file.seek(0)
            self._far.far.send(UNPACK, str(self.shared), file=file)
        if not self._same(self.shared, held):
            raise TargetError(f"the task's files did not arrive whole on {self._far.name}")

    def forget(self) -> None:
        self._far.shell(FORGET, str(self.shared), timeout_s=IMPORT_S)

    def empty(self) -> None:
        self._far.shell(EMPTY, str(self.into))

    def has(self, held: Content) -> bool:
        return self._same(self.into, held)

    def _same(self, directory: Path, held: Content) -> bool:
        names = "".join(f"{name}\n" for name in held.names)
        output = self._far.shell(DIGEST, str(directory), input=names, timeout_s=IMPORT_S)
        return output.split() == [held.digest, hashlib.sha256(names.encode()).hexdigest()]

    def came(self) -> int:
        output = self._far.shell(CAME, str(self.into), timeout_s=IMPORT_S).strip()
        if not (output.isascii() and output.isdigit() and len(output) < LONGEST_COUNT):
            raise TargetError(f"{self._far.name}: {clip(repr(output), 60)} is no number of bytes")
        return int(output)


@contextlib.contextmanager
def place_of(host: Endpoint, base: Path, end: End) -> Iterator[Place]:
    """The place of an end, for one trial; removed with all that is in it.

    Args:
        base: the trial's directory on this machine, which its owner removes.
    """
    if not isinstance(host, RemoteEndpoint):
        yield LocalPlace(host, base, end)
        return
    place = RemotePlace(host, base.name, end)
    try:
        yield place
    finally:
        # What cannot be removed now goes with the session.
        with contextlib.suppress(TargetError):
            place.remove()
