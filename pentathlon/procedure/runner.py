"""Run a plan: blocks of boots, each boot one request with its steps in order.

In a plan of paired boots the systems of a block are alive at once, and each step, or each batch, is
taken by one after the other: what disturbs the machine then disturbs all alike.

A failure is recorded and the study goes on. Every wait has a limit: the boot has the study's
`boot_timeout_s`, the agent ends a workload after `timeout_s`, and a session that stays silent for
longer than that is ended here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from pentathlon.machine.cpu_latency import CpuLatency
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.procedure.attempt import Attempt, Part, Run, Shield
from pentathlon.procedure.preparation import Preparer
from pentathlon.procedure.records import Decided, Record, RunEnd, Sink, StoppedEarly
from pentathlon.procedure.state import BootState, Failure, RunState
from pentathlon.study.catalog import Catalog
from pentathlon.study.plan import Plan, StepKey
from pentathlon.study.turns import fits
from pentathlon.targets.contract import Target

Judge: TypeAlias = Callable[[int], str | None]
"""Number of blocks that are done -> why they are enough, or None if more are needed."""

DecidedWorkloads: TypeAlias = Callable[[int], Sequence[str]]
"""Number of blocks that are done -> workloads of which no more is needed."""


@dataclass(eq=False)
class Runner:
    """Runs what a state leaves to be run, and reports a sink everything.

    Args:
        plan: the plan.
        targets: system -> target, prepared.
        sink: takes every record; when it returns, the record is safe.
        catalog: what the agent can measure; events are checked against it.
        state: what earlier runs of the plan did; the runner keeps it up to date.
        observer: hears of every record once it is safe and in the state.
        shield: makes a context that no interruption cuts short: a system boots or stops in it.
        stopping_rule: it is evaluated before each block that has not begun, but the first.
        decided: likewise, where that rule is not met: their steps are left out from then on.
        only: block and system of the one boot to run, where somebody else orders the boots.
        cpu_latency: keeps the CPUs of this machine out of idle states in cases with turns.
    """

    plan: Plan
    targets: Mapping[str, Target]
    sink: Sink
    _: KW_ONLY
    catalog: Catalog
    state: RunState
    observer: Sink | None = None
    shield: Shield = nullcontext
    stopping_rule: Judge | None = None
    decided: DecidedWorkloads | None = None
    only: tuple[int, str] | None = None
    cpu_latency: CpuLatency | None = None

    @cached_property
    def _apart(self) -> bool:
        """Whether this program has a CPU on which no system measures."""
        measuring = {cpu for one in self.targets.values() for cpu in one.cpus or AVAILABLE}
        return bool(AVAILABLE - measuring)

    def run(self) -> list[Failure]:
        """Run every boot that has steps left; returns the failures that nothing made good.

        An interruption (any exception that is no TargetError) stops the session, is recorded, and
        goes on to the caller.
        """
        try:
            requested = 0
            for boots in self._groups():
                block = boots[0].block
                if block > requested and self._stops(block):
                    break
                requested = block
                for boot in boots:
                    self._prepare(boot.system, block)
                while left := [boot for boot in boots if boot.pending()]:
                    self._attempt(left)
        except BaseException:
            self._emit_end("interrupted")
            raise
        finally:
            # Each of them, also where an earlier one fails.
            with self.shield(), ExitStack() as last:
                for target in reversed([*self.targets.values()]):
                    last.callback(target.discard)
        self._emit_end("part" if self.only is not None and self.state.pending() else "finished")
        return self.state.unresolved()

    def _prepare(self, system: str, block: int) -> None:
        """What is done once for each install of the system, before its first measured boot."""
        target = self.targets[system]
        preparer = Preparer(self.plan, self.catalog, self.state, self._emit, self.shield)
        preparer.prepare(system, target, self.plan.install_of(block))

    def _stops(self, block: int) -> bool:
        """Whether the study ends before this block; a block that has begun is measured whole.

        Where it goes on, what is decided is left out of this block and of those after it.
        """
        boots = [boot for (number, _), boot in self.state.boots.items() if number == block]
        if any(boot.attempts for boot in boots):
            return False
        reason = None if self.stopping_rule is None else self.stopping_rule(block)
        if reason is not None:
            self._emit(StoppedEarly(blocks=block, reason=reason))
            return True
        if self.decided is not None:
            done = [one for one in self.decided(block) if one not in self.state.decided]
            if done:
                self._emit(Decided(blocks=block, workloads=done))
        return False

    def _emit_end(self, outcome: str) -> None:
        self._emit(RunEnd(outcome=outcome, failures=len(self.state.unresolved())))

    def _emit(self, record: Record) -> None:
        self.sink(record)
        self.state.apply(record)
        if self.observer is not None:
            self.observer(record)

    def _groups(self) -> Iterator[list[BootState]]:
        """Boots that are alive at once: those of a block, or each by itself."""
        pending = self.state.pending()
        if self.only is not None:
            yield from ([boot] for boot in pending if (boot.block, boot.system) == self.only)
            return
        if self.plan.pairing == "none":
            yield from ([boot] for boot in pending)
            return
        for _, boots in groupby(pending, key=lambda boot: boot.block):
            yield list(boots)

    def _attempt(self, boots: Sequence[BootState]) -> None:
        """One boot of each of the systems for the steps that are left, all alive at once."""
        gate = len(boots) > 1
        run = Run(self.plan, self.catalog, self.state, self._emit, self.shield)
        attempts = [Attempt(run, boot, self.targets[boot.system], gate=gate) for boot in boots]
        try:
            for one in attempts:
                one.start([other for other in attempts if other is not one])
            for one in attempts:
                one.advance()
            last: Attempt | None = None
            while waiting := [one for one in attempts if one.waits]:
                for one in self._turn(waiting):
                    self._limit_idling(one)
                    one.release()
                    # While it runs, mostly in its work that is not timed.
                    if last is not None:
                        last.record()
                    one.advance(hold=self._apart)
                    last = one
        except BaseException as error:
            with (
                ExitStack() as ends
            ):  # Each is stopped, also where the end of another is not recorded.
                for one in reversed(attempts):
                    ends.callback(one.end, "interrupted", str(error) or type(error).__name__)
            raise
        finally:
            self._limit_idling(None)

    def _limit_idling(self, one: Attempt | None) -> None:
        """Keep the CPUs out of idle states if a case goes on next whose batches take turns.

        Commands, and cases that are measured as a whole, find the CPUs as they are without turns.
        """
        if self.cpu_latency is None:
            return
        awake = False
        if one is not None:
            step = self.plan.steps[one.boot.system][one.waits_at]
            workload = self.catalog.workload(step.workload)
            case = {} if one.waits_for is None else json.loads(one.waits_for.case)
            awake = step.workload not in self.plan.commands and fits(self.plan, workload, case)
        self.cpu_latency.limit(0 if awake else None)

    def _turn(self, waiting: Sequence[Attempt]) -> list[Attempt]:
        """Those that go on next, in the order in which they do.

        All have the steps of the block in one order, of which one that lacks a step leaves it out:
        the next step is one that nobody takes later than the others. Within a step, those that wait
        for the same case take it one after the other; where one lacks cases, the others go on until
        they have come to its case, or to the end of the step.
        """
        left = {one: one.keys[one.numbers.index(one.waits_at) :] for one in waiting}
        for keys in left.values():
            key = keys[0]
            if all(key not in other[1:] for other in left.values()):
                break
        there = [one for one in waiting if left[one][0] == key]
        behind = [one for one in there if any(one.waits_for in other.passed for other in there)]
        part = (behind or there)[0].waits_for
        now = [one for one in there if one.waits_for == part]
        order = self._order(there[0], key, part)
        return sorted(now, key=lambda one: order.index(one.boot.system))

    def _order(self, one: Attempt, key: StepKey, part: Part | None) -> list[str]:
        block = one.boot.block
        if part is None:
            return self.plan.turns(block, (*key, ""))
        place = f"{part.process}/{part.case}"
        if part.iteration is None:
            return self.plan.turns(block, (*key, place))
        iterations = self.plan.steps[one.boot.system][one.waits_at].iterations
        return self.plan.turns(block * iterations + part.iteration, (*key, f"{place}/batches"))
