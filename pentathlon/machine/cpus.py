"""CPUs of this machine: which there are, and keeping this program off those that measure."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from pentathlon.machine.errors import TargetUnavailable

AVAILABLE: frozenset[int] = frozenset(os.sched_getaffinity(0))
"""CPUs that this program was started on (sched_getaffinity(2))."""


@overload
def resolve(cpus: None) -> None: ...
@overload
def resolve(cpus: Sequence[int]) -> tuple[int, ...]: ...
@overload
def resolve(cpus: Sequence[int] | None) -> tuple[int, ...] | None: ...
def resolve(cpus: Sequence[int] | None) -> tuple[int, ...] | None:
    """The CPUs with negative numbers counted from the last available one, as Python counts.

    A number that this machine does not have stays as it is; the target's check names it.
    """
    if cpus is None:
        return None
    known = sorted(AVAILABLE)
    return tuple(known[cpu] if -len(known) <= cpu < 0 else cpu for cpu in cpus)


def check(cpus: Iterable[int] | None) -> None:
    """That this program may use these CPUs; None: no certain ones.

    Raises:
        TargetUnavailable: one of them is not there, or is not for this program.
    """
    for cpu in cpus or ():
        if cpu not in AVAILABLE:
            raise TargetUnavailable(
                f"CPU {cpu} is not available here (available: {sorted(AVAILABLE)})"
            )


def cpu_names(cpus: Iterable[int]) -> frozenset[str]:
    """Names of CPUs of this machine, as `Target.occupies` gives them."""
    return frozenset(f"CPU {cpu}" for cpu in cpus)


@contextlib.contextmanager
def kept_off(measuring: Iterable[int]) -> Iterator[None]:
    """Move every thread of this program off the CPUs that measure, as far as others are left.

    The program that reads events and writes the journal would otherwise take turns with what is
    timed. Children get their CPUs from `pentathlon.machine.launch.wrap`.
    """
    rest = AVAILABLE - set(measuring)
    if not rest:
        yield
        return
    _move(rest)
    try:
        yield
    finally:
        _move(AVAILABLE)


def _move(cpus: Iterable[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        # A thread can end between the listing and the call.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread.name), cpus)
