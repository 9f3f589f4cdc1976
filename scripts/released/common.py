"""What the parts share: the commit's files, and archives whose bytes follow from them."""

from __future__ import annotations

import gzip
import io
import stat
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path


class ReleaseError(Exception):
    """Why there is no release, in one sentence."""


@dataclass(frozen=True)
class Entry:
    """A file of an archive: its name there, its bytes, and whether it can be executed.

    A link has its target's name as `link`, and no bytes.
    """

    name: str
    data: bytes = b""
    executable: bool = False
    link: str | None = None


@dataclass(frozen=True)
class Source:
    """The commit that is released.

    Attributes:
        tree: a copy of its files, without anything else.
        epoch: the time of the commit, which every file of a release gets.
        version: of the project.
    """

    tree: Path
    epoch: int
    version: str

    def files(self, below: str = "") -> list[Entry]:
        """The commit's files under a folder, sorted by their names."""
        top = self.tree / below
        found = []
        for path in sorted(top.rglob("*")):
            name = path.relative_to(self.tree).as_posix()
            if path.is_symlink():
                found.append(Entry(name, link=str(path.readlink())))
            elif path.is_file():
                executable = bool(path.stat().st_mode & stat.S_IXUSR)
                found.append(Entry(name, path.read_bytes(), executable))
        return found


def commit(root: Path, tree: Path, *, changed: bool) -> Source:
    """Copy the commit that is checked out.

    Args:
        root: the checkout.
        tree: an empty folder for the copy.
        changed: whether a checkout may have changes; they are not in the release.

    Raises:
        ReleaseError: it is no checkout, or has changes that are not in the commit.
    """
    status = run(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    if status.strip() and not changed:
        first = status.decode().splitlines()[0]
        raise ReleaseError(
            f"the checkout has changes that are in no commit ({first.strip()}); commit or stash "
            "them, or leave them out of the release by --without-changes"
        )
    epoch = int(run(["git", "-C", str(root), "log", "-1", "--format=%ct"]))
    archive = run(["git", "-C", str(root), "archive", "--format=tar", "HEAD"])
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        opened.extractall(tree, filter="data")
    project = tomllib.loads((tree / "pyproject.toml").read_text())["project"]
    return Source(tree, epoch, project["version"])


def run(command: list[str], **options: object) -> bytes:
    """What a program prints.

    Raises:
        ReleaseError: it cannot be started, or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, check=False, **options)  # type: ignore[call-overload]
    except OSError as error:
        raise ReleaseError(f"{command[0]} cannot be started ({error.strerror})") from None
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stderr[-4000:])
        raise ReleaseError(f"`{' '.join(command[:4])}` failed with status {done.returncode}")
    return bytes(done.stdout)


def tar(entries: list[Entry], epoch: int) -> bytes:
    """A tar archive: sorted, of root's, with one time, and with the folders of its files."""
    folders = {
        "/".join(parts[:count])
        for parts in (entry.name.split("/") for entry in entries)
        for count in range(1, len(parts))
    }
    written = {entry.name: entry for entry in entries}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(folders | written.keys()):
            info = tarfile.TarInfo(name)
            info.mtime = epoch
            entry = written.get(name)
            if entry is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
            elif entry.link is not None:
                info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, entry.link
                archive.addfile(info)
            else:
                info.mode = 0o755 if entry.executable else 0o644
                info.size = len(entry.data)
                archive.addfile(info, io.BytesIO(entry.data))
    return out.getvalue()


def compressed(data: bytes) -> bytes:
    """By gzip, without a time or a name in its head."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def distribution() -> tuple[str, str]:
    """The id and the code name of this machine's distribution, such as "debian", "bookworm"."""
    words = dict(
        line.split("=", 1)
        for line in Path("/etc/os-release").read_text().splitlines()
        if "=" in line
    )
    return words.get("ID", "").strip('"'), words.get("VERSION_CODENAME", "").strip('"')
