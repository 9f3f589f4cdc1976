"""Where a run stands: a fold over its records.

The same fold runs while measuring and when a journal is read again, so a resumed run knows exactly
what the run before it knew. The rules (docs/procedure.md):

* A step is finished when its `progress state=end` is recorded, unless it yielded no measured sample
  and a failure. Its samples of that attempt are counted, those of no other attempt.
* A step that failed (the agent died or hung in it, or it ended with a failure and no sample) is
  tried again in a new boot, `retries` times; then it has failed for good.
* A step with samples beside which the agent calls something `invalid` (noise spoilt a measurement,
  a proof of work failed) is tried again too while retries are left; then it is taken as it is.
* A boot that failed before any step began is tried again `retries` times; then all steps that are
  left in it have failed.
* The first boot of a system that finished a step states which kernel the system is: its release,
  version and command line. A boot with another one has failed before its first step.
* A boot that was cut off or interrupted by the experimenter is nobody's failure.
* A piece of the preparation is finished when its end is recorded, unless it was interrupted or will
  be tried again.
* Blocks beyond the one after which the stopping rule was met are not needed. Steps of a workload
  whose rows were all decided at a look are not needed in later blocks.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from pentathlon.procedure import identity
from pentathlon.procedure.identity import Identity
from pentathlon.procedure.records import (
    AgentEvent,
    BootEnd,
    BootStart,
    Decided,
    Imported,
    Preparation,
    Record,
    RunEnd,
    StoppedEarly,
)
from pentathlon.protocol.events import (
    Case,
    Error,
    Inventory,
    JsonObject,
    Measured,
    Progress,
    Sample,
    Step,
    index_of,
)
from pentathlon.protocol.requests.session import SizedBatch
from pentathlon.study.plan import Plan

FAULTS = frozenset({"failed", "timeout", "invalid", "request"})
"""Kinds of agent errors that a new attempt may not meet again; "unsupported" is an answer."""


@dataclass(frozen=True)
class Failure:
    """Something that was requested and not done. stage: "preparation", "boot" or "step"."""

    block: int
    system: str
    attempt: int
    stage: str
    workload: str | None
    step: int | None
    process: int | None
    case: Case | None
    kind: str
    reason: str
    utc: str


@dataclass(frozen=True)
class Verdict:
    """How one of the agent's steps before a measurement ended.

    Attributes:
        do: "idle" or "settle".
        outcome: "done", "unsupported", "settled" or "not settled".
        seconds: how long it took.
    """

    block: int
    system: str
    attempt: int
    do: str
    outcome: str
    reason: str | None
    seconds: float
    detail: JsonObject


@dataclass
class _Attempt:
    """The boot that is going on."""

    number: int
    steps: list[int]
    ended: set[int] = field(default_factory=set)
    current: int | None = None
    measured: int = 0
    faults: int = 0
    invalid: int = 0
    identity: Identity = field(default_factory=Identity)

    def begin(self, step: int | None) -> None:
        """Start to count for another step."""
        self.current, self.measured, self.faults, self.invalid = step, 0, 0, 0


@dataclass
class BootState:
    """Where one boot of the plan stands.

    Attributes:
        steps: the plan's steps, in the order of this boot.
        finished: step -> attempt whose samples are counted.
        failed: steps that failed for good.
        spared: steps that are not needed, as what they measure was decided before.
    """

    block: int
    order: int
    system: str
    steps: tuple[int, ...]
    retries: int
    attempts: int = 0
    boot_failures: int = 0
    finished: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    spared: set[int] = field(default_factory=set)
    tries: dict[int, int] = field(default_factory=dict)
    attempt: _Attempt | None = None

    def pending(self) -> list[int]:
        """Steps that are still to be run, in order."""
        done = self.finished.keys() | self.failed | self.spared
        return [step for step in self.steps if step not in done]

    def tried_in_attempt(self) -> set[int]:
        """Steps that have ended in the boot that is going on, well or not."""
        return set() if self.attempt is None else self.attempt.ended

    def fail_step(self, step: int) -> None:
        """Count one failed try of a step."""
        self.tries[step] = self.tries.get(step, 0) + 1
        if self.tries[step] > self.retries:
            self.failed.add(step)

    def fail_boot(self) -> None:
        """Count one boot that failed before any step began."""
        self.boot_failures += 1
        if self.boot_failures > self.retries:
            self.failed.update(self.pending())


class RunState:
    """Where a run of a plan stands.

    Attributes:
        boots: (block, system) -> state of that boot, in the order of the plan.
        failures: every failure, in the order of the records.
        prepared: (system, step, piece) -> the end of that piece of the preparation.
        made: (system, piece) -> how often the step "fresh" was done for that install.
        verdicts: how the agent's own steps before a measurement ended, in order.
        identities: system -> which kernel it is, from the first boot that finished a step.
        ended: the run's last record states that it finished.
        enough: the record that states that the stopping rule was met, or None.
        decided: workload -> blocks after which all of its rows were decided at a look.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        retries = plan.study.procedure.retries
        self.boots: dict[tuple[int, str], BootState] = {
            (block, boot.system): BootState(block, order, boot.system, boot.steps, retries)
            for block, boots in enumerate(plan.blocks)
            for order, boot in enumerate(boots)
        }
        self.failures: list[Failure] = []
        self.prepared: dict[tuple[str, int, str], Preparation] = {}
        self.made: dict[tuple[str, str], int] = {}
        self.verdicts: list[Verdict] = []
        self.identities: dict[str, Identity] = {}
        self._batches: dict[tuple[str, int], dict[tuple[str, str], SizedBatch]] = {}
        self._boot_ids: dict[str, tuple[int, str]] = {}
        self.ended = False
        self.enough: StoppedEarly | None = None
        self.decided: dict[str, int] = {}

    def pending(self) -> list[BootState]:
        """Boots with steps left, in the order of the plan."""
        return [boot for boot in self.boots.values() if self.needed(boot.block) and boot.pending()]

    def needed(self, block: int) -> bool:
        """Whether a block is (still) to be measured."""
        return self.enough is None or block < self.enough.blocks

    def steps_not_needed(self) -> int:
        """Steps that the stopping rule spared."""
        return sum(
            len(boot.spared) + (0 if self.needed(boot.block) else len(boot.pending()))
            for boot in self.boots.values()
        )

    def finished_steps(self) -> int:
        """Steps that are finished."""
        return sum(len(boot.finished) for boot in self.boots.values())

    def counted(self, block: int, system: str, step: int, attempt: int) -> bool:
        """Whether samples of that step in that attempt are counted."""
        boot = self.boots.get((block, system))
        return boot is not None and boot.finished.get(step) == attempt

    def resolved(self, failure: Failure) -> bool:
        """Whether a later attempt made the failure good."""
        boot = self.boots[failure.block, failure.system]
        if failure.stage == "preparation":
            return False
        if failure.step is None:
            return not boot.failed and not boot.pending()
        return boot.finished.get(failure.step, -1) > failure.attempt

    def unresolved(self) -> list[Failure]:
        """Failures that no later attempt made good, without what a system cannot do at all."""
        return [
            failure
            for failure in self.failures
            if failure.kind != "unsupported" and not self.resolved(failure)
        ]

    def step_of(self, record: AgentEvent) -> int | None:
        """The plan's step that an event belongs to, while its boot is going on."""
        boot = self.boots.get((record.block, record.system))
        index = index_of(record.message)
        if boot is None or boot.attempt is None or index is None:
            return None
        steps = boot.attempt.steps
        return steps[index] if index < len(steps) else None

    def current_step(self, record: AgentEvent) -> int | None:
        """The plan's step that is going on in the event's boot, if there is one."""
        boot = self.boots.get((record.block, record.system))
        return None if boot is None or boot.attempt is None else boot.attempt.current

    def batches(self, system: str, step: int) -> list[SizedBatch]:
        """The batches of a step in the system's last boot that measured it."""
        return list(self._batches.get((system, step), {}).values())

    def wrong_boot(self, system: str, event: Inventory, *, restarts: bool) -> str | None:
        """Why the boot that an `inventory` event comes from is not the one that was to be, or None.

        Args:
            restarts: each boot of the system restarts its machine, which gives it a new boot id.
        """
        found = identity.of_event(event)
        same = self._boot_ids.get(found.boot_id or "")
        if restarts and same is not None:
            block, other = same
            return (
                f"expected a new boot id after the restart; found {found.boot_id}, the boot of "
                f"{other} in block {block + 1}"
            )
        expected = self.identities.get(system)
        differs = None if expected is None else identity.difference(expected, found)
        return differs and f"this boot is another system than the earlier ones: {differs}"

    def apply(self, record: Record) -> None:
        """Take one record in."""
        if isinstance(record, AgentEvent):
            self._event(record)
        elif isinstance(record, BootStart):
            boot = self.boots[record.block, record.system]
            boot.attempts = record.attempt + 1
            boot.attempt = _Attempt(record.attempt, list(record.steps))
        elif isinstance(record, BootEnd):
            self._boot_end(record)
        elif isinstance(record, Imported):
            self._imported(record)
        elif isinstance(record, Preparation):
            self._preparation(record)
        elif isinstance(record, StoppedEarly):
            self.enough = record
        elif isinstance(record, Decided):
            self._decided(record)
        elif isinstance(record, RunEnd):
            self.ended = record.outcome == "finished"

    def install_name(self, system: str, install: int) -> str:
        """What an install is called in the tables: "1", and "1.2" once it had to be made again."""
        times = self.made.get((system, f"@{install}"), 0)
        return str(install) if times < 2 else f"{install}.{times}"

    def forget(self, system: str, number: int, unit: str) -> None:
        """Have a piece of the preparation done once more: what it made is lost."""
        self.prepared.pop((system, number, unit), None)

    def learns(self, system: str) -> bool | None:
        """Whether a system learns from use, as its step "record" found; None if it did not."""
        for (name, _, _), record in self.prepared.items():
            if name == system and record.do == "record":
                reported = record.detail.get("learns_from_use")
                if isinstance(reported, dict) and isinstance(reported.get("value"), bool):
                    return bool(reported["value"])
        return None

    def _decided(self, record: Decided) -> None:
        """Later blocks need no more of what is decided."""
        for workload in record.workloads:
            self.decided.setdefault(workload, record.blocks)
        for boot in self.boots.values():
            if boot.block >= record.blocks:
                steps = self.plan.steps[boot.system]
                boot.spared |= {
                    step for step in boot.pending() if steps[step].workload in self.decided
                }

    def _imported(self, record: Imported) -> None:
        """What another tool measured is done."""
        boot = self.boots[record.block, record.system]
        boot.attempts = 1
        workloads = {one["workload"] for one in record.values}
        for number in boot.steps:
            if self.plan.steps[record.system][number].workload in workloads:
                boot.finished.setdefault(number, 0)

    def _preparation(self, record: Preparation) -> None:
        if record.state != "end" or record.outcome in ("interrupted", "again"):
            return
        self.prepared[record.system, record.number, record.unit] = record
        if record.do == "fresh" and record.outcome == "done":
            key = (record.system, record.unit)
            self.made[key] = self.made.get(key, 0) + 1
        if record.outcome == "failed":
            self.failures.append(
                Failure(
                    block=0,
                    system=record.system,
                    attempt=0,
                    stage="preparation",
                    workload=record.unit.rpartition("#")[0] or None,
                    step=None,
                    process=None,
                    case=None,
                    kind="failed",
                    reason=f"{record.do}: {record.reason}",
                    utc=record.utc,
                )
            )

    def _event(self, record: AgentEvent) -> None:
        boot = self.boots[record.block, record.system]
        attempt = boot.attempt
        if attempt is None or attempt.number != record.attempt:
            return
        event, step = record.message, self.step_of(record)
        if isinstance(event, Measured):
            attempt.measured += step is not None and event.phase == "measure"
            if isinstance(event, Sample) and step is not None and event.phase == "measure":
                self._size(record.system, step, event)
        elif isinstance(event, Progress):
            # One start per process; only the first one opens the step.
            if event.state == "start" and step not in (None, attempt.current):
                attempt.begin(step)
            elif event.state == "end" and step is not None:
                self._step_end(record, boot, attempt, step)
        elif isinstance(event, Error):
            self._fail(
                record, step, event.kind, event.reason, process=event.process, case=event.case
            )
            if event.kind in FAULTS and step == attempt.current:
                attempt.faults += 1
                attempt.invalid += event.kind == "invalid"
        elif isinstance(event, Step) and event.state == "end":
            self._verdict(record, event)
        elif isinstance(event, Inventory):
            attempt.identity = identity.of_event(event)
            if (boot_id := attempt.identity.boot_id) is not None:
                self._boot_ids.setdefault(boot_id, (record.block, record.system))

    def _size(self, system: str, step: int, event: Sample) -> None:
        if event.batch == 0 or not math.isfinite(event.value):
            return
        known = self._batches.setdefault((system, step), {})
        key = (event.metric, json.dumps(event.case, sort_keys=True))
        batch = known.get(key)
        if batch is None or batch.operations != event.batch:
            known[key] = SizedBatch(metric=event.metric, case=event.case, operations=event.batch)

    def _verdict(self, record: AgentEvent, event: Step) -> None:
        self.verdicts.append(
            Verdict(
                block=record.block,
                system=record.system,
                attempt=record.attempt,
                do=event.do,
                outcome=str(event.outcome),
                reason=event.reason,
                seconds=event.seconds,
                detail=event.detail or {},
            )
        )

    def _step_end(self, record: AgentEvent, boot: BootState, attempt: _Attempt, step: int) -> None:
        attempt.ended.add(step)
        answered = attempt.measured or self._unsupported(record, step)
        if not answered and not attempt.faults:
            reason = "the workload ended without a measured sample and without an error"
            self._fail(record, step, "invalid", reason)
        again = attempt.invalid and boot.tries.get(step, 0) < boot.retries
        if answered and not again:
            boot.finished.setdefault(step, attempt.number)
            if attempt.identity.known:
                self.identities.setdefault(record.system, attempt.identity)
        else:
            boot.fail_step(step)
        attempt.begin(None)

    def _unsupported(self, record: AgentEvent, step: int) -> bool:
        """Whether the step failed in this attempt, but only because the system cannot do it."""
        kinds = {
            failure.kind
            for failure in self.failures
            if (failure.block, failure.system, failure.attempt, failure.step)
            == (record.block, record.system, record.attempt, step)
        }
        return kinds == {"unsupported"}

    def _boot_end(self, record: BootEnd) -> None:
        boot = self.boots[record.block, record.system]
        attempt, boot.attempt = boot.attempt, None
        if record.outcome != "failed":
            return
        reason = record.reason or "the boot failed"
        step = attempt.current if attempt is not None else None
        if step is None:
            self._fail(record, None, "boot", reason)
            boot.fail_boot()
        else:
            self._fail(record, step, "died", reason)
            boot.fail_step(step)

    def _fail(
        self,
        record: AgentEvent | BootEnd,
        step: int | None,
        kind: str,
        reason: str,
        *,
        process: int | None = None,
        case: Case | None = None,
    ) -> None:
        workload = None if step is None else self.plan.steps[record.system][step].workload
        self.failures.append(
            Failure(
                block=record.block,
                system=record.system,
                attempt=record.attempt,
                stage="boot" if step is None else "step",
                workload=workload,
                step=step,
                process=process,
                case=case,
                kind=kind,
                reason=reason,
                utc=record.utc,
            )
        )
