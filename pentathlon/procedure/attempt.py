"""One boot of one system while it is alive: started, advanced from gate to gate, ended."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pentathlon.machine.errors import TargetError
from pentathlon.procedure.admission import Admission
from pentathlon.procedure.executions import Executions
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.state import BootState, RunState
from pentathlon.protocol.events import Inventory, Message, Ready
from pentathlon.protocol.requests.session import Gate, Release, Request, SizedBatch
from pentathlon.study.catalog import Catalog
from pentathlon.study.plan import Plan, Step, step_numbers
from pentathlon.study.preparation import PlannedStep
from pentathlon.targets.contract import Session, Target

GRACE_S = 30.0
"""What a session may take beyond the limits of its workloads (clock calibration, inventory)."""

LOG_LINES = 40
"""Lines of a failed system's own text that go into the journal."""

_TEXT = json.JSONEncoder(sort_keys=True)

Shield: TypeAlias = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Run:
    """What all boots of a run have in common.

    Attributes:
        emit: takes each record.
        shield: makes a context that no interruption cuts short.
    """

    plan: Plan
    catalog: Catalog
    state: RunState
    emit: Callable[[Record], None]
    shield: Shield


class Part(NamedTuple):
    """A case of a step, as text, in one of its processes, or one measured batch of it."""

    process: int
    case: str
    iteration: int | None


class Attempt:
    """A boot of the system for the steps that are left.

    Args:
        boot: its state; it has steps that are left.
        target: its target, prepared.
        gate: whether each step waits to be released.
    """

    def __init__(self, run: Run, boot: BootState, target: Target, *, gate: bool = False) -> None:
        self.boot = boot
        self.numbers = boot.pending()
        self.waits = False
        """Whether something waits for its release."""
        self.waits_at = -1
        """The plan's step that it is, or is a part of."""
        self.waits_for: Part | None = None
        """What of the step; None is the step itself."""
        self.passed: set[Part | None] = set()
        """Parts of that step that were released before."""
        keys = {n: key for key, n in step_numbers(run.plan.steps[boot.system]).items()}
        self.keys = [keys[number] for number in self.numbers]
        """Its steps, by what makes them the same ones as those of another system."""
        self._run = run
        self._target = target
        self._gate = gate
        self._number = boot.attempts
        self._id = secrets.token_hex(8)
        self._session: Session | None = None
        self._messages: Iterator[Message] | None = None
        self._held: list[Message] = []
        """What came and is not recorded yet."""
        self._begun = self._ended = False

    def start(self, others: Sequence[Attempt] = ()) -> None:
        """Boot the system and send the request, or record that it failed.

        Args:
            others: those that are alive at the same time, whose limits add to its own.
        """
        boot, target = self.boot, self._target
        self._run.emit(
            BootStart(
                block=boot.block,
                order=boot.order,
                system=boot.system,
                attempt=self._number,
                target=target.kind,
                layer=target.layer,
                session=self._id,
                steps=self.numbers,
                settings=[{**change} for change in target.settings_to_change()],
                install=self._run.state.install_name(
                    boot.system, self._run.plan.install_of(boot.block)
                ),
            )
        )
        self._begun = True
        try:
            with self._run.shield():
                self._session = target.boot(self._run.plan.study.procedure.boot_timeout_s)
        except TargetError as error:
            self.end("failed", str(error))
            return
        steps, prepare = self._request_parts()
        request = make_request(
            self._run.plan,
            steps,
            self._id,
            prepare,
            gate=self._gate,
            batches=[self._run.state.batches(boot.system, number) for number in self.numbers],
        )
        idle, total = limits(steps, prepare)
        total += sum(limits(*other._request_parts())[1] for other in others)
        self._messages = answers(
            self._run.plan, self._run.catalog, steps, request, self._session, limits_s=(idle, total)
        )

    def _request_parts(self) -> tuple[list[Step], list[PlannedStep]]:
        steps = [self._run.plan.steps[self.boot.system][number] for number in self.numbers]
        prepare = self._run.plan.preparation.get(self.boot.system, ())
        return steps, [step for step in prepare if not step.once]

    def release(self) -> None:
        """Let the step begin that waits."""
        assert self._session is not None and self.waits
        self._session.release(Release(release=self.numbers.index(self.waits_at)))
        self.waits = False
        self.passed.add(self.waits_for)

    def advance(self, *, hold: bool = False) -> None:
        """Record what the agent sends until the next step waits, or until the boot has ended.

        Args:
            hold: keep what a batch sends that took its turn, for `record`.
        """
        if self._messages is None:
            return
        hold = hold and self.waits_for is not None and self.waits_for.iteration is not None
        try:
            for message in self._messages:
                if isinstance(message.event, Ready):
                    self._wait(message.event)
                    return
                if hold:
                    self._held.append(message)
                else:
                    self._take(message)
        except TargetError as error:
            self.end("failed", str(error))
            return
        self.record()
        self.end(*self._verdict())

    def record(self) -> None:
        """Record what was held."""
        held, self._held = self._held, []
        for message in held:
            self._take(message)

    def _wait(self, ready: Ready) -> None:
        if (at := self.numbers[ready.index]) != self.waits_at:
            self.passed.clear()
        self.waits, self.waits_at, self.waits_for = True, at, _part(ready)

    def _take(self, message: Message) -> None:
        boot, wrong = self.boot, None
        if isinstance(message.event, Inventory):
            restarts = self._target.restarts
            wrong = self._run.state.wrong_boot(boot.system, message.event, restarts=restarts)
        with self._run.shield():
            self._run.emit(
                AgentEvent(
                    block=boot.block, system=boot.system, attempt=self._number, event=message
                )
            )
        if wrong is not None:
            state = self._target.loader_state()
            after = "" if state is None else f"; {state}"
            raise TargetError(f'system "{boot.system}": {wrong}{after}')

    def _verdict(self) -> tuple[str, str | None]:
        """Whether the agent, which states that it is done, ran everything that was requested."""
        boot = self.boot
        missed = [
            number
            for number in self.numbers
            if number in boot.pending() and number not in boot.tried_in_attempt()
        ]
        if not missed:
            return "ok", None
        names = ", ".join(self._run.plan.steps[boot.system][number].workload for number in missed)
        return "failed", f"the agent reported that it was done, but did not run {names}"

    def end(self, outcome: str, reason: str | None) -> None:
        """Stop the system and record the end, once; a boot that has not begun has no end."""
        if self._ended or not self._begun:
            return
        self._ended = True
        self.waits = False
        self.record()
        session = self._session
        with self._run.shield():
            reason = _stopped(session, reason)
            self._run.emit(
                BootEnd(
                    block=self.boot.block,
                    system=self.boot.system,
                    attempt=self._number,
                    outcome=outcome,
                    reason=reason,
                    boot_seconds=None if session is None else session.boot_seconds,
                    log=_tail(session) if outcome == "failed" else [],
                )
            )


def _part(ready: Ready) -> Part | None:
    if ready.case is None:
        return None
    return Part(ready.process, _TEXT.encode(ready.case), ready.iteration)


def make_request(
    plan: Plan,
    steps: Sequence[Step],
    session_id: str,
    prepare: Sequence[PlannedStep] = (),
    *,
    gate: bool = False,
    batches: Sequence[Sequence[SizedBatch]] = (),
) -> Request:
    """The agent's request; placement and scratch are left to the target.

    Every boot gets the study's seed: a workload then works on the same data in every system, and
    its checksum must be the same.

    Args:
        gate: each step, and each case of it, waits to be released; in a plan of turns also each
            batch that can.
        batches: for each step the batches that were sized in an earlier boot.
    """
    workloads = [plan.task(step) for step in steps]
    for index, known in enumerate(batches):
        if known and workloads[index].command is None:
            workloads[index] = workloads[index].model_copy(update={"batches": list(known)})
    return Request(
        session=session_id,
        seed=plan.study.seed,
        inventory=True,
        prepare=[step.task() for step in prepare],
        gate=Gate(batches_up_to_bytes=plan.turns_up_to_bytes) if gate else None,
        workloads=workloads,
    )


@contextmanager
def booted(plan: Plan, target: Target, shield: Shield) -> Iterator[Session]:
    """A boot of a system that is stopped in any case.

    Raises:
        TargetError: it did not come up.
    """
    session: Session | None = None
    try:
        # A signal that waited for the boot is raised at the shield's end: the session is known.
        with shield():
            session = target.boot(plan.study.procedure.boot_timeout_s)
        yield session
    finally:
        if session is not None:
            with shield():
                session.stop()


def answers(
    plan: Plan,
    catalog: Catalog,
    steps: Sequence[Step],
    request: Request,
    session: Session,
    *,
    limits_s: tuple[float, float],
) -> Iterator[Message]:
    """What a session answers to a request with these steps: checked, commands with their samples.

    Args:
        limits_s: longest silence and longest time.
    """
    prepare = [one.do for one in request.prepare]
    gate = request.gate is not None
    admission = Admission(steps, catalog, request.session, prepare, plan.commands.keys(), gate=gate)
    return admission.admit(Executions(plan.study, steps).expanded(session.run(request, *limits_s)))


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
