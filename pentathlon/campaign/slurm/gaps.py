"""What passes between two boots of a node: the queue, the reboot, and the start of the job.

A journal has only the boots themselves, so that the time left of a chain of jobs would leave out
most of it.
"""

from __future__ import annotations

from statistics import median

from pentathlon.procedure.records import BootEnd, BootStart, Record
from pentathlon.procedure.state import RunState


class Gaps:
    """Learns from the records of one node."""

    def __init__(self) -> None:
        self._took: list[float] = []
        self._ended: float | None = None

    def take(self, record: Record, at: float) -> None:
        """Learn from one record.

        Args:
            at: when it was written, in seconds.
        """
        if isinstance(record, BootEnd):
            self._ended = at
        elif isinstance(record, BootStart):
            if self._ended is not None:
                self._took.append(max(at - self._ended, 0.0))
            self._ended = None

    def left(self, state: RunState, now: float) -> float | None:
        """Seconds of all gaps that are still to come; None while none is known.

        The median: a node that was drained for a day makes no other gap longer.
        """
        count = sum(boot.attempt is None for boot in state.pending())
        if not count:
            return 0.0
        if not self._took:
            return None
        usual = median(self._took)
        gone = 0.0 if self._ended is None else min(max(now - self._ended, 0.0), usual)
        return count * usual - gone
