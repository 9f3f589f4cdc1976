"""Do what is done once for each system before it is measured: fresh, record, train.

Each piece of work is a record when it begins and when it ends, so a run that was cut off goes on
with the next piece: training goes on in its middle. What is done in each boot (`idle`, `settle`) is
part of that boot's request and is done by the agent; its events are records of the boot.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pentathlon.machine.errors import TargetError
from pentathlon.procedure.attempt import Shield, answers, booted
from pentathlon.procedure.records import Preparation
from pentathlon.procedure.state import RunState
from pentathlon.protocol import events
from pentathlon.protocol.events import AnyEvent, JsonObject
from pentathlon.protocol.requests.session import PrepareStep, Record, Request
from pentathlon.study.catalog import Catalog
from pentathlon.study.plan import Plan, Step
from pentathlon.study.preparation import LEARNED_TIMES, PlannedStep
from pentathlon.targets.contract import Target

Emit: TypeAlias = Callable[[Preparation], None]

GRACE_S = 30.0
INSTALL = "@"
"""Between a piece of work and the number of the install that it is done for."""
FRESH_LIMIT_S = 3600.0
"""Longest time of a command that makes a system anew, in seconds."""

Answer: TypeAlias = tuple[str, str | None, JsonObject]
"""outcome, reason, detail"""


@dataclass
class Preparer:
    """Prepares systems of a plan; `state` states what earlier runs did."""

    plan: Plan
    catalog: Catalog
    state: RunState
    emit: Emit
    shield: Shield
    _install: int | None = None
    """The install that is being made, in a study with several."""

    def prepare(self, name: str, target: Target, install: int = 0) -> None:
        """Do what is left for one install of a system. A failure is recorded, the study goes on."""
        several = self.plan.study.procedure.installs > 1
        # An earlier run made it, and what it kept between boots went with that run.
        lost = several and target.lost(install)
        for number, step in enumerate(self.plan.preparation.get(name, ())):
            if not step.once:
                continue
            for piece in self._units(name, step, target):
                unit = piece + (f"{INSTALL}{install}" if several else "")
                if lost and step.do in ("fresh", "train"):
                    self.state.forget(name, number, unit)
                self._install = install if several else None
                self._unit(name, number, step, unit, target)

    def _unit(self, name: str, number: int, step: PlannedStep, unit: str, target: Target) -> None:
        tries = 0
        while (name, number, unit) not in self.state.prepared:
            tries += 1
            last = tries > self.plan.study.procedure.retries
            self._try(name, number, step, unit, target, last=last)

    def _try(
        self,
        name: str,
        number: int,
        step: PlannedStep,
        unit: str,
        target: Target,
        *,
        last: bool,
    ) -> None:
        def say(state: str, outcome: str | None, reason: str | None, detail: Any) -> None:
            self.emit(
                Preparation(
                    system=name,
                    number=number,
                    do=step.do,
                    unit=unit,
                    state=state,
                    outcome=outcome,
                    reason=reason,
                    seconds=time.monotonic() - began,
                    detail=detail,
                )
            )

        began = time.monotonic()
        say("start", None, None, {})
        try:
            outcome, reason, detail = self._do(name, step, unit, target)
        except TargetError as error:
            say("end", "failed" if last else "again", str(error), {})
        except BaseException as error:
            say("end", "interrupted", str(error) or type(error).__name__, {})
            raise
        else:
            say("end", outcome, reason, detail)

    def _units(self, name: str, step: PlannedStep, target: Target) -> Iterator[str]:
        """The pieces of a step: training has one for each workload and repetition."""
        if step.do != "train" or self._why_not_trained(name, step, target) is not None:
            yield ""
            return
        times = self._times(name, step) or 0
        for repetition in range(times):
            for planned in self.plan.steps[name]:
                if planned.visit:  # Each workload is trained once.
                    continue
                yield f"{planned.workload}#{repetition + 1}"

    def _times(self, name: str, step: PlannedStep) -> int | None:
        """How often each workload is run; None if it is unknown whether the system learns."""
        if step.options["times"] is not None:
            return int(step.options["times"])
        learns = self.state.learns(name)
        return None if learns is None else LEARNED_TIMES if learns else 0

    def _why_not_trained(
        self, name: str, step: PlannedStep, target: Target
    ) -> tuple[str, str] | None:
        if (why := target.forgets()) is not None:
            return "unsupported", why
        times = self._times(name, step)
        if times is None:
            return "unsupported", (
                "the system does not report whether it learns from use, which the step "
                '"record" needs; give times'
            )
        if times == 0:
            return "not needed", "the system does not learn from use"
        return None

    def _do(self, name: str, step: PlannedStep, unit: str, target: Target) -> Answer:
        if step.do == "fresh":
            return (*target.renew(step.options["command"], FRESH_LIMIT_S, self._install), {})
        if step.do == "record":
            return self._record(target)
        if (why := self._why_not_trained(name, step, target)) is not None:
            return (*why, {})
        workload = unit.rpartition("#")[0]
        one = next(step for step in self.plan.steps[name] if step.workload == workload)
        return self._train(one, target)

    def _record(self, target: Target) -> Answer:
        ended = None
        for event in self._serve(target, [], [Record()]):
            if isinstance(event, events.Step) and event.state == "end":
                ended = event
        if ended is None:
            raise TargetError("the agent reported nothing about the step")
        return str(ended.outcome), ended.reason, ended.detail or {}

    def _train(self, step: Step, target: Target) -> Answer:
        counts = {"samples": 0, "errors": 0}
        reasons = []
        for event in self._serve(target, [step], []):
            counts["samples"] += isinstance(event, events.Measured)
            if isinstance(event, events.Error):
                counts["errors"] += 1
                reasons.append(event.reason)
        # Training that met errors has still been use; what it measured counts nowhere.
        return "done", reasons[0] if reasons else None, counts

    def _serve(
        self, target: Target, steps: Sequence[Step], prepare: list[PrepareStep]
    ) -> Iterator[AnyEvent]:
        """One boot for one request whose samples are not kept."""
        limit = sum(s.timeout_s * s.processes for s in steps) + 120.0 * len(prepare) + GRACE_S
        request = Request(
            session=secrets.token_hex(8),
            seed=self.plan.study.seed,
            prepare=prepare,
            workloads=[self.plan.task(step) for step in steps],
        )
        with booted(self.plan, target, self.shield) as session:
            for message in answers(
                self.plan, self.catalog, steps, request, session, limits_s=(limit, limit)
            ):
                yield message.event
