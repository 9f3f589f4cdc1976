"""A line about what goes on wherever nothing else was printed for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self

QUIET_S = 15.0
"""Seconds without a line after which one is printed, as `scripts/step` does."""


class Heartbeat:
    """Calls a function from a thread of its own while its context is open.

    Args:
        beat: prints the line; it is called from another thread.
        quiet_s: seconds without `heard` after which it is called, and between two calls.
    """

    def __init__(self, beat: Callable[[], None], quiet_s: float = QUIET_S) -> None:
        self._beat = beat
        self._quiet_s = quiet_s
        self._heard = time.monotonic()
        self._end = threading.Event()
        # A daemon: a process that is killed by an exception in mid-run need not wait for it.
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self.heard()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def heard(self) -> None:
        """Something else was printed now."""
        self._heard = time.monotonic()

    def _run(self) -> None:
        while not self._end.wait(max(self._heard + self._quiet_s - time.monotonic(), 0)):
            if time.monotonic() >= self._heard + self._quiet_s:
                self._beat()
                self.heard()
