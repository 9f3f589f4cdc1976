"""How long a run will still take.

Time left = what the pilot estimated for the steps and boots that are left, corrected by how the
steps that are done compare with their estimate. Without a pilot a step takes as long as that step
took on that system before, or as the steps so far on average; so does a boot.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import fmean

from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.state import BootState, RunState
from pentathlon.protocol.events import Progress


class TimeLeft:
    """Learns from the records of one run.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        state: RunState,
        estimates: Mapping[str, SystemEstimate] | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state = state
        self._estimates = estimates or {}
        self._now = now
        self._took: dict[tuple[str, int], list[float]] = defaultdict(list)
        self._boots: dict[str, list[float]] = defaultdict(list)
        self._since = self._boot_began = now()
        self._in_steps = 0.0

    def take(self, record: Record) -> None:
        """Learn from one record, which the run's state has already taken."""
        if isinstance(record, BootStart):
            self._since, self._in_steps = self._now(), 0.0
            self._boot_began = self._since
        elif isinstance(record, BootEnd):
            if record.outcome == "ok":
                whole = self._now() - self._boot_began
                self._boots[record.system].append(max(whole - self._in_steps, 0.0))
        elif isinstance(record, AgentEvent) and isinstance(record.message, Progress):
            step = self._state.step_of(record)
            if step is None:
                return
            if record.message.state == "start" and not record.message.process:
                self._since = self._now()
            elif record.message.state == "end":
                took = self._now() - self._since
                self._in_steps += took
                self._took[record.system, step].append(took)

    def seconds(self) -> float | None:
        """Seconds that are left, or None while nothing is known."""
        known = [value for values in self._took.values() for value in values]
        if not known and not self._estimates:
            return None
        total = 0.0
        for boot in self._state.pending():
            total += sum(self._step(boot.system, step, known) for step in boot.pending())
            if boot.attempt is None:
                total += self._boot(boot.system)
        running = [boot for boot in self._state.pending() if boot.attempt is not None]
        if running:
            total += self._rest_of(running[0], known)
        return max(total, 0.0)

    def _rest_of(self, boot: BootState, known: list[float]) -> float:
        """What is left of a boot beside its steps, less what the step that goes on has taken."""
        in_step = 0.0
        part = 0.0
        if boot.attempt is not None and boot.attempt.current is not None:
            in_step = self._now() - self._since
            # It is partly done, but never more than all of it.
            part = min(in_step, self._step(boot.system, boot.attempt.current, known))
        gone = self._now() - self._boot_began - self._in_steps - in_step
        return max(self._boot(boot.system) - gone, 0.0) - part

    def _step(self, system: str, step: int, known: list[float]) -> float:
        if own := self._took.get((system, step)):
            return fmean(own)
        estimate = self._estimates.get(system)
        if estimate is not None and step in estimate.steps_s:
            return estimate.steps_s[step] * self._correction()
        return fmean(known) if known else 0.0

    def _boot(self, system: str) -> float:
        if own := self._boots.get(system):
            return fmean(own)
        if (estimate := self._estimates.get(system)) is not None:
            return estimate.boot_s
        others = [value for values in self._boots.values() for value in values]
        return fmean(others) if others else 0.0

    def _correction(self) -> float:
        """How the steps so far compare with the pilot."""
        took = expected = 0.0
        for (system, step), values in self._took.items():
            estimate = self._estimates.get(system)
            if estimate is not None and step in estimate.steps_s:
                took += sum(values)
                expected += len(values) * estimate.steps_s[step]
        return took / expected if expected > 0 else 1.0
