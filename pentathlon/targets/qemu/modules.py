"""Kernel modules for a guest: which ones a feature needs, in which order, and out of what file.

The package of a kernel has its modules, but not the list of what needs what, which is made at its
installation. It is read here from the modules themselves: each has a section `.modinfo` with
`depends=a,b` (kernel documentation, kbuild/modules).
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pentathlon.machine.errors import TargetError

CHANNEL = ("virtio_pci", "virtio_console")
"""What requests and events go through."""

NETWORK = ("virtio_pci", "virtio_net")
"""A network card."""

GENERATOR = ("pktgen",)
"""The kernel's own generator of packets, a transmit backend of `network.traffic`."""

FILES = ("virtio_pci", "virtiofs")
"""Directories of the machine that the guest runs on."""

DISK = ("virtio_blk", "crc32c_generic", "ext4")
"""A disk, and its file system; ext4 loads crc32c by a name that only modprobe(8) resolves."""

_SUFFIX = re.compile(r"\.ko(\.xz)?$")


def name_of(path: Path) -> str | None:
    """The module in a file, or None if it is no module that can be read here."""
    name, found = _SUFFIX.subn("", path.name)
    return name.replace("-", "_") if found else None


def read(path: Path) -> bytes:
    """The module's object code."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def depends(module: bytes) -> list[str]:
    """The modules that one needs before it."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    names = found[1].decode() if found else ""
    return [name.replace("-", "_") for name in names.split(",") if name]


def order(wanted: Iterable[str], needs: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules in an order in which each comes after what it needs.

    Args:
        wanted: modules.
        needs: module -> modules that it needs; what is not in it is built into the kernel.

    Raises:
        TargetError: modules need each other.
    """
    done: list[str] = []
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in needs:
            return
        if name in open_:
            raise TargetError(f"kernel modules need each other: {', '.join([*open_, name])}")
        open_.append(name)
        for other in needs[name]:
            visit(other)
        open_.pop()
        done.append(name)

    for name in wanted:
        visit(name)
    return done


def collect(root: Path, wanted: Iterable[str]) -> dict[str, bytes]:
    """Modules with all that they need, from an unpacked package, in the order of loading.

    A module that the package does not have is built in, or the kernel lacks it; the guest reports
    it.
    """
    files = {name: path for path in root.rglob("*.ko*") if (name := name_of(path)) is not None}
    code: dict[str, bytes] = {}
    pending = [name for name in wanted if name in files]
    while pending:
        name = pending.pop()
        if name in code:
            continue
        code[name] = read(files[name])
        pending += [other for other in depends(code[name]) if other in files]
    return {name: code[name] for name in order(wanted, {n: depends(c) for n, c in code.items()})}
