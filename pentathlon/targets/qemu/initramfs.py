"""The guest's first and only file system: a cpio archive in the format "newc".

Kernel documentation, driver-api/early-userspace/buffer-format: a header of hexadecimal numbers, the
name, the data, each padded to four bytes.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from pentathlon.targets.guest import AGENT, DIRECTORIES
from pentathlon.targets.qemu import modules as kernel_modules
from pentathlon.targets.qemu.kernels import Kernel
from pentathlon.targets.userland import OWN_FILES

MODULES = "modules"
ORDER = "order"
"""File that lists the modules to load, in order (agent/crates/session/src/guest.rs)."""

CONSOLE = (5, 1)
"""Device number of /dev/console, which the kernel opens before anything is mounted."""


def build(kernel: Kernel, agent: Path, wanted: Iterable[str], files: Path | None = None) -> bytes:
    """The archive with the agent, empty mount points and the modules that are wanted.

    Args:
        kernel: whose modules.
        agent: the agent's file.
        wanted: names of modules; those that the kernel has built in are left out.
        files: a directory with the files of commands.
    """
    archive = _Archive()
    for name in DIRECTORIES:
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=CONSOLE)
    archive.add(AGENT, stat.S_IFREG | 0o755, agent.read_bytes())
    if kernel.modules is not None:
        code = kernel_modules.collect(kernel.modules, wanted)
        archive.add(MODULES, stat.S_IFDIR | 0o755)
        for name, data in code.items():
            archive.add(f"{MODULES}/{name}.ko", stat.S_IFREG | 0o644, data)
        listed = "".join(f"/{MODULES}/{name}.ko\n" for name in code)
        archive.add(f"{MODULES}/{ORDER}", stat.S_IFREG | 0o644, listed.encode())
    if files is not None:
        _add_files(archive, files)
    return archive.finish()


def _add_files(archive: _Archive, files: Path) -> None:
    top = OWN_FILES.strip("/")
    archive.add(top, stat.S_IFDIR | 0o755)
    for path in sorted(files.rglob("*")):
        name = f"{top}/{path.relative_to(files)}"
        if path.is_dir():
            archive.add(name, stat.S_IFDIR | 0o755)
        else:
            archive.add(name, path.stat().st_mode, path.read_bytes())


class _Archive:
    def __init__(self) -> None:
        self._data = bytearray()
        self._count = 0

    def add(
        self, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self._count += 1
        links = 2 if stat.S_ISDIR(mode) else 1
        path = name.encode() + b"\0"
        fields = (self._count, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(path), 0)
        self._data += b"070701" + b"".join(b"%08x" % field for field in fields) + path
        self._pad()
        self._data += data
        self._pad()

    def _pad(self) -> None:
        self._data += b"\0" * (-len(self._data) % 4)

    def finish(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return bytes(self._data)
