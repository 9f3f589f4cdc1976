"""Debian's kernels for virtual machines: which ones there are, here and in Debian."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.machine.cache import RECORD, cache_dir, digest, is_recorded, locked, publish, sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.packages import ScratchApt, call, unpack
from pentathlon.targets.qemu import modules

SUITES: dict[str, str] = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "trixie",
    "newest": "sid",
}
"""Kernel series and the Debian suite that has it."""

FLAVOURS: dict[str, str] = {"": "amd64", "rt": "rt-amd64", "cloud": "cloud-amd64"}
"""Flavour in a study ("6.1-rt") and in the names of Debian's packages."""

DEFAULT = ("6.1-cloud", "6.12-cloud")
"""What `doctor --install` fetches where nothing is named: the small flavour, some 30 MB each."""

PARTS = (
    *modules.CHANNEL,
    *modules.DISK,
    *modules.NETWORK,
    *modules.GENERATOR,
    *modules.FILES,
)
"""Modules that are kept of a package's thousands."""

MODULES = "modules_sha256"
"""Key of a record: the digest of each module, by the name of its file."""

Log = Callable[[str], None]


@dataclass(frozen=True)
class Kernel:
    """One kernel.

    Attributes:
        release: what uname(2) states in the guest, such as "6.1.0-50-cloud-amd64"; the file's name
            for a kernel of the user's own.
        path: the file.
        modules: directory of its modules, or None.
        record: package, version, suite, digests and the modules that were looked for.
    """

    release: str
    path: Path
    modules: Path | None
    record: dict[str, Any]


def known() -> list[str]:
    """Every name that a study can use and Debian has: "6.1", "6.1-rt", "6.1-cloud", ..."""
    return [f"{series}-{f}" if f else series for series in SUITES for f in FLAVOURS]


def directory(name: str) -> Path:
    """Where the kernel of a name lies once it is fetched."""
    return cache_dir() / "kernels" / f"qemu-{name}"


def present(name: str) -> Kernel | None:
    """The fetched kernel of a name, if it is here and is the one that was fetched."""
    kernel = _fetched(name)
    return kernel if kernel is not None and differing(kernel) is None else None


def _fetched(name: str) -> Kernel | None:
    """The same, whether its files are still those that were fetched or not."""
    place = directory(name)
    try:
        record = json.loads((place / RECORD).read_text())
        return Kernel(str(record["release"]), place / "vmlinuz", place / "modules", record)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def differing(kernel: Kernel) -> Path | None:
    """The first file of a fetched kernel that is not the one that was fetched.

    A record that has no digests of the modules is an older one: these are taken as they lie.
    """
    if not is_recorded(kernel.path):
        return kernel.path
    if kernel.modules is None or MODULES not in kernel.record:
        return None
    recorded = kernel.record[MODULES]
    if not isinstance(recorded, dict):
        return kernel.modules
    try:
        lying = {path.name: path for path in kernel.modules.iterdir()}
        for name in sorted(recorded.keys() | lying.keys()):
            path = lying.get(name, kernel.modules / name)
            if name not in lying or recorded.get(name) != digest(path):
                return path
    except OSError:
        return kernel.modules
    return None


def lacks(kernel: Kernel, wanted: Iterable[str]) -> bool:
    """Whether the kernel was fetched when some of these modules were not kept yet.

    What a fetched kernel has none of is built in, or Debian's does not have it.
    """
    return kernel.modules is not None and not set(wanted) <= set(kernel.record.get("parts", ()))


def resolve(wanted: str) -> Kernel:
    """The kernel that a study means: a name such as "6.1-rt", or a file.

    Raises:
        TargetUnavailable: it is not here; the remedy fetches it.
    """
    if "/" in wanted:
        path = Path(wanted)
        if not path.is_file() or b"HdrS" not in path.open("rb").read(0x206):
            raise TargetUnavailable(f"{wanted} is no bootable kernel (bzImage)")
        return Kernel(path.name, path, None, {"path": str(path), "sha256": sha256(path)})
    if wanted not in known():
        raise TargetUnavailable(
            f'Debian has no kernel "{wanted}" for virtual machines; use one of '
            f"{', '.join(known())}, or the path of a kernel"
        )
    kernel = present(wanted)
    if kernel is None:
        found = _fetched(wanted)
        changed = directory(wanted) / "vmlinuz" if found is None else differing(found)
        why = (
            f"{changed} is not the file that was fetched: its record has another SHA-256"
            if changed is not None and directory(wanted).exists()
            else f"the kernel {wanted} has not been fetched"
        )
        raise TargetUnavailable(why, remedy(wanted))
    return kernel


def remedy(name: str) -> str:
    """The command that fetches the kernel of a name, or completes it."""
    return f'pentathlon doctor --install --only "qemu {name}"'


def fetch(name: str, log: Log) -> Kernel:
    """Fetch a kernel into the cache.

    Raises:
        TargetUnavailable: this machine cannot fetch packages, or Debian has no such kernel.
        TargetError: the download failed.
    """
    if name not in known():
        raise TargetUnavailable(f'Debian has no kernel "{name}"; use one of {", ".join(known())}')
    series, _, flavour = name.partition("-")
    suite, meta = SUITES[series], f"linux-image-{FLAVOURS[flavour]}"
    place = directory(name)
    with (
        locked(place.parent),
        tempfile.TemporaryDirectory(prefix=".fetch-", dir=place.parent) as scratch,
    ):
        log(f"reading the package list of {suite}")
        apt = ScratchApt(suite, Path(scratch) / "apt")
        image = _image(apt.download(meta).file)
        log(f"downloading {image} of {suite}")
        package = apt.download(image)
        unpacked = Path(scratch) / "package"
        unpack(package, unpacked)
        fresh = Path(scratch) / "kernel"
        (fresh / "modules").mkdir(parents=True)
        [kernel] = (unpacked / "boot").glob("vmlinuz-*")
        kept = modules.collect(unpacked, PARTS)
        for module, code in kept.items():
            (fresh / "modules" / f"{module}.ko").write_bytes(code)
        shutil.copy(kernel, fresh / "vmlinuz")
        record = package.record() | {
            "release": kernel.name.removeprefix("vmlinuz-"),
            "sha256": sha256(kernel),
            "parts": sorted(set(PARTS)),
            MODULES: {path.name: sha256(path) for path in sorted((fresh / "modules").iterdir())},
        }
        publish(fresh, place, record)
    found = present(name)
    if found is None:
        raise TargetError(f"the package {image} holds no kernel that can be used")
    log(f"kernel {found.release} lies in {place}")
    return found


def _image(meta: Path) -> str:
    """The package with the kernel itself, which the flavour's package depends on."""
    text = call(["dpkg-deb", "-f", str(meta), "Depends"], 30)
    found = re.search(r"\blinux-image-\S+", text)
    if found is None:
        raise TargetError(f"{meta.name} depends on no kernel: {text.strip()}")
    return found[0].rstrip(",")
