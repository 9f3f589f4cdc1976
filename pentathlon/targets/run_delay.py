"""How long a guest's processes were ready to run and had no CPU, by this machine's scheduler.

A guest counts what its own kernel took away from a program, not what its host did: to it, a host
that runs something else is a clock that jumps. The host's scheduler knows: the second number of
`/proc/PID/task/TID/schedstat` is the time that a thread has waited on a run queue, in nanoseconds
(proc(5)). It is read with every event of the agent, so that each sample has what its own time cost.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

PROC = Path("/proc")
REFRESH_S = 0.25
"""Processes are looked up again after so long: a guest starts and ends some with its programs."""
MOST_THREADS = 256
"""A guest with more is not read: it would take longer than a sample."""


class RunDelay:
    """The time that a process and all its descendants have waited for a CPU."""

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        self._pid = pid
        self._proc = proc
        self._known: dict[str, int] = {}
        self._looked = -REFRESH_S
        self._able = True

    def since_last(self) -> int | None:
        """Nanoseconds since the last call, all threads together; None if they cannot be known.

        A thread counts from the first time that it is seen, and no more once it has ended.
        """
        if not self._able:
            return None
        now = time.monotonic()
        if now >= self._looked + REFRESH_S:
            self._looked = now
            threads = self._threads()
            if len(threads) > MOST_THREADS:
                self._able = False
                return None
            self._known = {thread: self._known.get(thread, -1) for thread in threads}
        waited, seen = 0, False
        for thread, before in self._known.items():
            total = _waited(thread)
            if total is None:
                continue
            seen = True
            waited += total - before if before >= 0 else 0
            self._known[thread] = total
        return waited if seen else None

    def _threads(self) -> list[str]:
        found: list[str] = []
        ahead = [str(self._pid)]
        while ahead and len(found) <= MOST_THREADS:
            tasks = self._proc / ahead.pop() / "task"
            try:
                threads = list(tasks.iterdir())
            except OSError:
                continue
            for thread in threads:
                found.append(f"{thread}/schedstat")
                try:
                    ahead += (thread / "children").read_text(encoding="ascii").split()
                except OSError:
                    continue
        return found


def _waited(file: str) -> int | None:
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.read(descriptor, 100).split()[1])
    except (OSError, IndexError, ValueError):
        return None
    finally:
        os.close(descriptor)
