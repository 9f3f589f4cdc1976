"""What `pentathlon doctor` looks at and gets for virtual machines."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from pentathlon.machine.finding import Finding
from pentathlon.targets.descriptor import Doctor, Install, Log
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.qemu import kernels
from pentathlon.targets.qemu.target import PACKAGE, version


class QemuDoctor(Doctor):
    """Every kernel that was fetched, and where there is none, the first that could be."""

    def trials(self) -> Iterator[PlainSystem | Finding]:
        if version() is None:
            why = "QEMU is not installed"
            yield Finding("target", self.kind.name, False, why, f"sudo apt-get install {PACKAGE}")
            return
        here = [name for name in kernels.known() if kernels.present(name)]
        for name in here or kernels.DEFAULT[:1]:
            yield PlainSystem(f"qemu {name}", self.kind.name, kernel=name)

    def installs(self) -> Iterator[Install]:
        for name in kernels.known():
            get = functools.partial(get_kernel, name)
            yield Install(f"qemu {name}", get, functools.partial(_unasked, name))


def _unasked(name: str) -> bool:
    """The small kernels, and those only where QEMU is."""
    return version() is not None and name in kernels.DEFAULT


def get_kernel(name: str, log: Log) -> str:
    """Fetch a kernel with its modules, if it is not here."""
    kernel = kernels.present(name)
    if kernel is None or kernels.lacks(kernel, kernels.PARTS):
        kernel = kernels.fetch(name, log)
    return f"kernel {kernel.release} in {kernel.path}"
