"""Run a plan: blocks of boots, each boot one request with its steps in order.

A failure is recorded and the study goes on. Every wait has a limit: the boot has the study's
`boot_timeout_s`, the agent ends a workload after `timeout_s`, and a session that stays silent for
longer than that is ended here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from pentathlon.machine.errors import TargetError
from pentathlon.procedure.admission import of_request
from pentathlon.procedure.executions import Executions
from pentathlon.procedure.preparation import Preparer
from pentathlon.procedure.records import (
    AgentEvent,
    BootEnd,
    BootStart,
    Record,
    RunEnd,
    Sink,
    StoppedEarly,
)
from pentathlon.procedure.state import BootState, Failure, RunState
from pentathlon.protocol.events import Inventory
from pentathlon.protocol.requests.session import Request
from pentathlon.study.catalog import Catalog
from pentathlon.study.plan import Plan, Step
from pentathlon.study.preparation import PlannedStep
from pentathlon.targets.contract import Session, Target

GRACE_S = 30.0
"""What a session may take beyond the limits of its workloads (clock calibration, inventory)."""

LOG_LINES = 40
"""Lines of a failed system's own text that go into the journal."""


Shield: TypeAlias = Callable[[], AbstractContextManager[None]]


Judge: TypeAlias = Callable[[int], str | None]
"""Number of blocks that are done -> why they are enough, or None if more are needed."""


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
    """

    def __init__(
        self,
        plan: Plan,
        targets: Mapping[str, Target],
        sink: Sink,
        *,
        catalog: Catalog,
        state: RunState,
        observer: Sink | None = None,
        shield: Shield = nullcontext,
        stopping_rule: Judge | None = None,
    ) -> None:
        self.plan = plan
        self.targets = targets
        self.catalog = catalog
        self.state = state
        self._sink = sink
        self._observer = observer
        self._shield = shield
        self._stopping_rule = stopping_rule

    def run(self) -> list[Failure]:
        """Run every boot that has steps left; returns the failures that nothing made good.

        An interruption (any exception that is no TargetError) stops the session, is recorded, and
        goes on to the caller.
        """
        try:
            requested = 0
            for boot in self.state.pending():
                if boot.block > requested and self._stops(boot.block):
                    break
                requested = boot.block
                self._prepare(boot.system, boot.block)
                while boot.pending():
                    self._attempt(boot)
        except BaseException:
            self._emit_end("interrupted")
            raise
        finally:
            with self._shield():
                for target in self.targets.values():
                    target.discard()
        self._emit_end("finished")
        return self.state.unresolved()

    def _prepare(self, system: str, block: int) -> None:
        """What is done once for each install of the system, before its first measured boot."""
        target = self.targets[system]
        preparer = Preparer(self.plan, self.catalog, self.state, self._emit, self._shield)
        preparer.prepare(system, target, self.plan.install_of(block))

    def _stops(self, block: int) -> bool:
        """Whether the study ends before this block; a block that has begun is measured whole."""
        boots = (boot for (number, _), boot in self.state.boots.items() if number == block)
        if self._stopping_rule is None or any(boot.attempts for boot in boots):
            return False
        reason = self._stopping_rule(block)
        if reason is not None:
            self._emit(StoppedEarly(blocks=block, reason=reason))
        return reason is not None

    def _emit_end(self, outcome: str) -> None:
        self._emit(RunEnd(outcome=outcome, failures=len(self.state.unresolved())))

    def _emit(self, record: Record) -> None:
        self._sink(record)
        self.state.apply(record)
        if self._observer is not None:
            self._observer(record)

    def _attempt(self, boot: BootState) -> None:
        """One boot of the system for the steps that are left."""
        target = self.targets[boot.system]
        numbers = boot.pending()
        attempt = boot.attempts
        session_id = secrets.token_hex(8)
        self._emit(
            BootStart(
                block=boot.block,
                order=boot.order,
                system=boot.system,
                attempt=attempt,
                target=target.kind,
                layer=target.layer,
                session=session_id,
                steps=numbers,
                settings=[{**change} for change in target.settings_to_change()],
                install=self.state.install_name(boot.system, self.plan.install_of(boot.block)),
            )
        )
        session: Session | None = None
        outcome, reason = "failed", None
        try:
            with self._shield():
                session = target.boot(self.plan.study.procedure.boot_timeout_s)
            self._serve(session, boot, attempt, session_id, numbers)
            outcome, reason = self._verdict(boot, numbers)
        except TargetError as error:
            reason = str(error)
        except BaseException as error:
            outcome, reason = "interrupted", str(error) or type(error).__name__
            raise
        finally:
            with self._shield():
                reason = _stopped(session, reason)
                self._emit(
                    BootEnd(
                        block=boot.block,
                        system=boot.system,
                        attempt=attempt,
                        outcome=outcome,
                        reason=reason,
                        boot_seconds=None if session is None else session.boot_seconds,
                        log=_tail(session) if outcome == "failed" else [],
                    )
                )

    def _serve(
        self, session: Session, boot: BootState, attempt: int, session_id: str, numbers: list[int]
    ) -> None:
        steps = [self.plan.steps[boot.system][number] for number in numbers]
        prepare = [s for s in self.plan.preparation.get(boot.system, ()) if not s.once]
        request = make_request(self.plan, steps, session_id, prepare)
        restarts = self.targets[boot.system].restarts
        admission = of_request(steps, self.catalog, session_id, prepare, self.plan.commands.keys())
        answers = session.run(request, *limits(steps, prepare))
        expanded = Executions(self.plan.study, steps).expanded(answers)
        for message in admission.admit(expanded):
            wrong = None
            if isinstance(message.event, Inventory):
                wrong = self.state.wrong_boot(boot.system, message.event, restarts=restarts)
            with self._shield():
                self._emit(
                    AgentEvent(block=boot.block, system=boot.system, attempt=attempt, event=message)
                )
            if wrong is not None:
                raise TargetError(f'system "{boot.system}": {wrong}')

    def _verdict(self, boot: BootState, numbers: list[int]) -> tuple[str, str | None]:
        """Whether the agent, which states that it is done, ran everything that it was requested."""
        missed = [
            number
            for number in numbers
            if number in boot.pending() and number not in boot.tried_in_attempt()
        ]
        if not missed:
            return "ok", None
        names = ", ".join(self.plan.steps[boot.system][number].workload for number in missed)
        return "failed", f"the agent reported that it was done, but did not run {names}"


def make_request(
    plan: Plan, steps: Sequence[Step], session_id: str, prepare: Sequence[PlannedStep] = ()
) -> Request:
    """The agent's request; placement and scratch are left to the target.

    Every boot gets the study's seed: a workload then works on the same data in every system, and
    its checksum must be the same.
    """
    return Request(
        session=session_id,
        seed=plan.study.seed,
        inventory=True,
        prepare=[step.task() for step in prepare],
        workloads=[plan.task(step) for step in steps],
    )


def limits(steps: Sequence[Step], prepare: Sequence[PlannedStep] = ()) -> tuple[float, float]:
    """Longest silence and longest time of a request, in seconds."""
    # While it waits for quiet the agent reports it every ten seconds; its other steps are silent.
    silent = [step.most_s() for step in prepare if step.do != "settle"]
    idle = max([step.timeout_s for step in steps] + silent) + GRACE_S
    total = sum(step.timeout_s * step.processes for step in steps) + GRACE_S
    total += sum(step.most_s() for step in prepare)
    return idle, max(total, idle)


def _stopped(session: Session | None, reason: str | None) -> str | None:
    """Stop the session; what could not be put back is added to the reason."""
    if session is None:
        return reason
    try:
        session.stop()
    except (TargetError, OSError) as error:
        # The journal still gets the end of the boot.
        return f"{reason}; {error}" if reason else str(error)
    return reason


def _tail(session: Session | None) -> list[str]:
    return [] if session is None else [str(line) for line in list(session.boot_log)[-LOG_LINES:]]
