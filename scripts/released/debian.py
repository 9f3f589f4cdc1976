"""The Debian package."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from common import Entry, Source, run
from installed import PYTHON

ARCHITECTURE = "amd64"


def name(source: Source) -> str:
    return f"pentathlon_{source.version}_{ARCHITECTURE}.deb"


def control(source: Source, size: int) -> str:
    """The control file; the compiled packages fix the version of Python."""
    return f"""\
Package: pentathlon
Version: {source.version}
Architecture: {ARCHITECTURE}
Maintainer: The Pentathlon contributors <pentathlon@localhost>
Section: utils
Priority: optional
Installed-Size: {size // 1024}
Depends: python{PYTHON}, libc6 (>= 2.34), libgcc-s1, libstdc++6
Suggests: user-mode-linux, qemu-system-x86, runc, iproute2
Description: which operating system, kernel or configuration is faster, and how sure
 Pentathlon boots systems in random order, measures them with one static agent, and
 judges every difference with its interval. The Python packages that it needs are
 inside, in a virtual environment of their own.
"""


def write(source: Source, entries: list[Entry]) -> bytes:
    """The package; `dpkg-deb` takes the times of its archives from SOURCE_DATE_EPOCH."""
    notice = "usr/share/doc/pentathlon/copyright"
    text = (source.tree / "LICENSE").read_bytes() + (source.tree / "NOTICES.txt").read_bytes()
    entries = [*entries, Entry(notice, text)]
    with tempfile.TemporaryDirectory() as folder:
        top, made = Path(folder) / "root", Path(folder) / "made.deb"
        top.mkdir()
        top.chmod(0o755)
        for entry in entries:
            place(top, entry)
        sums = [
            f"{hashlib.md5(entry.data, usedforsecurity=False).hexdigest()}  {entry.name}\n"
            for entry in sorted(entries, key=lambda entry: entry.name)
            if entry.link is None
        ]
        size = sum(len(entry.data) for entry in entries)
        place(top, Entry("DEBIAN/control", control(source, size).encode()))
        place(top, Entry("DEBIAN/md5sums", "".join(sums).encode()))
        for path in top.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
            os.utime(path, (source.epoch, source.epoch), follow_symlinks=False)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch)}
        # One thread: with several, xz cuts the data into as many pieces as there are CPUs.
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--threads-max=1"]
        run([*command, "--build", str(top), str(made)], env=environment)
        return made.read_bytes()


def place(top: Path, entry: Entry) -> None:
    path = top / entry.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.link is not None:
        path.symlink_to(entry.link)
        return
    path.write_bytes(entry.data)
    path.chmod(0o755 if entry.executable else 0o644)
