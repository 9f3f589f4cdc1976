"""How long a guest's processes were ready to run and had no CPU, by this machine's scheduler.

A guest counts what its own kernel took away from a program, not what its host did: to it, a host
that runs something else is a clock that jumps. The host's scheduler knows: the second number of
`/proc/PID/task/TID/schedstat` is the time that a thread has waited on a run queue, in nanoseconds
(proc(5)). It is read whenever events of the agent arrive. The agent hands over the samples of a
case together, so each gets its share, by its own length, of what the time since the last arrival
cost.
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
MOST_OPEN = 64
"""Threads whose files stay open: a turn waits until they are read."""


class _Thread:
    """The file that states how long one thread has waited, and what it stated last."""

    def __init__(self, path: str, *, keep: bool) -> None:
        self.before: int | None = None
        self._path = path
        self._keep = keep
        self._file = -1

    def total(self) -> int | None:
        """Nanoseconds since it began; None if they cannot be read."""
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._file, 100, 0).split()[1])
        except (OSError, IndexError, ValueError):
            return None
        finally:
            if not self._keep:
                self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class RunDelay:
    """The time that a process and all its descendants have waited for a CPU."""

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        self._pid = pid
        self._proc = proc
        self._known: dict[str, _Thread] = {}
        self._looked = -REFRESH_S
        self._read = time.monotonic()
        self._able = True

    def share(self) -> float | None:
        """The mean number of threads that waited for a CPU since the last call; None if unknown."""
        before, self._read = self._read, time.monotonic()
        waited = self.since_last()
        span_ns = (self._read - before) * 1e9
        return waited / span_ns if waited is not None and span_ns > 0.0 else None

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
                self.close()
                return None
            self._follow(threads)
        waited, seen = 0, False
        for thread in self._known.values():
            total = thread.total()
            if total is None:
                continue
            seen = True
            waited += 0 if thread.before is None else total - thread.before
            thread.before = total
        return waited if seen else None

    def close(self) -> None:
        """Close what is open; nothing is known from then on."""
        self._able = False
        self._follow([])

    def _follow(self, threads: list[str]) -> None:
        """Read these from now on."""
        for path in self._known.keys() - set(threads):
            self._known.pop(path).close()
        for path in threads:
            if path not in self._known:
                self._known[path] = _Thread(path, keep=len(self._known) < MOST_OPEN)

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
