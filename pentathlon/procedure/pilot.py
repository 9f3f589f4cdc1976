"""The pilot: one short boot of every system, to say how long the study will take.

Each workload runs once, without warm-up, with one batch per case. A list parameter that makes
the cases of a numeric factor (block sizes, for example) is thinned to its smallest and its largest
value; what lies between is taken to cost in proportion. File tasks go over one of their links
(`pilot_links`). The pilot's samples are not counted.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.procedure import pilot_links, spread
from pentathlon.procedure.attempt import Shield, answers, booted, limits, make_request
from pentathlon.protocol import events
from pentathlon.protocol.events import AnyEvent, Case, Message, index_of
from pentathlon.study.catalog import LINKS, Catalog, Workload
from pentathlon.study.plan import Plan, Step
from pentathlon.study.procedure import Procedure
from pentathlon.targets.contract import Target

PILOT_SAMPLE_MS = 20.0
"""Longest batch of the pilot."""
PILOT_TIMEOUT_S = 30.0
"""Longest step of the pilot, in seconds, but for workloads that the catalog states take longer."""
RECORD_BYTES = 160
"""What the journal adds to an event's own line, about."""

SHRUNK = 8
"""Over a slow link the pilot fetches files of this part of the study's length."""
LEAST_BYTES = 65536
"""But no smaller ones."""


Weights = Mapping[str, Mapping[Any, float]]
"""Factor -> value -> how many of the study's cases that value stands for."""


@dataclass
class SystemEstimate:
    """What the pilot found for one system, in seconds and bytes, for one boot of the study.

    Attributes:
        boot_s: time to boot and to stop, with the clock calibration and the inventory.
        steps_s: step -> time of the step.
        repeated_s: step -> how much longer one more iteration makes it.
        reduced_s: step -> its time in the boots that show the spread (`spread`).
        journal_bytes: what one boot adds to the journal.
        problem: why the system could not be tried, or None.
        inventory: what the system reported of itself; empty if it did not come so far.
        cut: workloads that took longer than the pilot has for one; they are counted with the limit
            that the study gives them.
    """

    boot_s: float = 0.0
    steps_s: dict[int, float] = field(default_factory=dict)
    repeated_s: dict[int, float] = field(default_factory=dict)
    reduced_s: dict[int, float] = field(default_factory=dict)
    journal_bytes: float = 0.0
    problem: str | None = None
    cut: tuple[str, ...] = ()
    inventory: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total_s(self) -> float:
        """One whole boot."""
        return self.boot_s + sum(self.steps_s.values())

    def repeated(self, more: Mapping[int, int]) -> SystemEstimate:
        """That of a study with other iterations.

        Args:
            more: step -> how many more it has; negative for fewer.
        """
        return self._with_steps(
            {
                step: time + more.get(step, 0) * self.repeated_s.get(step, 0.0)
                for step, time in self.steps_s.items()
            }
        )

    def scaled(self, factor: float) -> SystemEstimate:
        """That of boots that take so many times as long."""
        found = self._with_steps({step: time * factor for step, time in self.steps_s.items()})
        found.boot_s *= factor
        found.repeated_s = {step: time * factor for step, time in self.repeated_s.items()}
        return found

    def _with_steps(self, steps_s: dict[int, float]) -> SystemEstimate:
        whole, before = sum(steps_s.values()), sum(self.steps_s.values())
        size = self.journal_bytes * (whole / before if before else 1.0)
        return replace(self, steps_s=steps_s, journal_bytes=size)


def pilot(
    plan: Plan, name: str, catalog: Catalog, target: Target, shield: Shield = nullcontext
) -> SystemEstimate:
    """Boot one system once and estimate a boot of the study. A failure is part of the answer.

    Raises:
        TargetUnavailable: the system cannot work here at all.
    """
    steps = plan.steps[name]
    estimate = SystemEstimate()
    short, weights, places = _shortened(steps, catalog)
    began = time.monotonic()
    messages: list[Message] = []
    try:
        with booted(plan, target, shield) as session:
            request = make_request(plan, short, secrets.token_hex(8))
            limits_s = limits(short)
            for message in answers(plan, catalog, short, request, session, limits_s=limits_s):
                messages.append(message)
    except TargetUnavailable:
        raise
    except TargetError as error:
        estimate.problem = str(error)
    estimate.inventory = next(
        (e.system for e, _ in messages if isinstance(e, events.Inventory) and e.system), {}
    )
    whole = time.monotonic() - began
    measured = 0.0
    for index, step in enumerate(steps):
        own = [one for one in messages if index_of(one.event) == places[index]]
        if not step.visit:
            measured += _span(own)
        workload = catalog.workload(step.workload)
        estimate.steps_s[index], size = estimate_step(step, own, weights[index], workload)
        more = step.model_copy(update={"iterations": step.iterations + 1})
        longer, _ = estimate_step(more, own, weights[index], workload)
        estimate.repeated_s[index] = longer - estimate.steps_s[index]
        estimate.reduced_s[index] = _reduced_s(step, own, workload, plan.study.procedure)
        if any(isinstance(e, events.Error) and e.kind == "timeout" for e, _ in own):
            if not step.visit:
                estimate.cut = (*estimate.cut, step.workload)
            estimate.steps_s[index] = step.processes * step.timeout_s
            estimate.reduced_s[index] = estimate.steps_s[index]
        estimate.journal_bytes += size
    estimate.boot_s = max(whole - measured, 0.0)
    estimate.journal_bytes += sum(
        _bytes(one) for one in messages if isinstance(one.event, events.Inventory)
    )
    return estimate


def _shortened(
    steps: Sequence[Step], catalog: Catalog
) -> tuple[list[Step], list[Weights], list[int]]:
    """The steps of the pilot; for each step of the plan what is left out, and which one it is."""
    short: list[Step] = []
    weights: list[Weights] = []
    places: list[int] = []
    for step in steps:
        workload = catalog.workload(step.workload)
        parameters, weight = thin(step, workload)
        weights.append(weight)
        if step.visit:  # The first visit stands for the others.
            places.append(places[-1])
            continue
        places.append(len(short))
        short.append(
            step.model_copy(
                update={
                    "parameters": parameters,
                    "iterations": 1,
                    "warmup": 0,
                    "processes": 1,
                    "sample_ms": min(PILOT_SAMPLE_MS, step.sample_ms),
                    "timeout_s": min(_pilot_limit(workload), step.timeout_s),
                }
            )
        )
    return short, weights, places


def _reduced_s(
    step: Step, answers: Sequence[Message], workload: Workload | None, usual: Procedure
) -> float:
    """Time of the step in the boots that show the spread."""
    short = spread.short(step, workload, usual)
    _, weights = thin(short, workload)
    return estimate_step(short, answers, weights, workload)[0]


def _pilot_limit(workload: Workload | None) -> float:
    declared = None if workload is None else workload.timeout_s
    return max(PILOT_TIMEOUT_S, declared or 0.0)


def thin(step: Step, workload: Workload | None) -> tuple[dict[str, Any], Weights]:
    """The step's parameters with long numeric lists thinned, and what the rest stands for."""
    parameters = dict(step.parameters)
    weights: dict[str, dict[Any, float]] = {}
    numeric = {f.name for f in workload.factors if f.scale != "category"} if workload else set()
    for name, values in step.parameters.items():
        if name not in numeric or not isinstance(values, list) or len(values) < 3:
            continue
        low, high = min(values), max(values)
        # Cost linear in the value: sum over all = w_low * cost(low) + w_high * cost(high).
        share = sum((value - low) / (high - low) for value in values)
        parameters[name] = [low, high]
        weights[name] = {low: len(values) - share, high: share}
    if LINKS in parameters and "document_bytes" in parameters:
        parameters[LINKS] = links = pilot_links.one_of(parameters[LINKS])
        # A slow link needs minutes for a file, and the time goes with its length.
        shrunk: dict[Any, float] = {}
        for size in parameters["document_bytes"]:
            whole_too = pilot_links.is_quick(links, size)
            small = size if whole_too else min(size, max(LEAST_BYTES, size // SHRUNK))
            whole = weights.get("document_bytes", {}).get(size, 1.0)
            shrunk[small] = shrunk.get(small, 0.0) + whole * size / small
        parameters["document_bytes"] = list(shrunk)
        weights["document_bytes"] = shrunk
    return parameters, weights


def estimate_step(
    step: Step, answers: Sequence[Message], weights: Weights, workload: Workload | None = None
) -> tuple[float, float]:
    """Seconds and journal bytes of a step, from the pilot's events of it.

    Per case: what the case took beside its batches (set-up, batch sizing) stays as it is; each
    batch takes what it took in the pilot, but at least the study's `sample_ms`. A trial between two
    hosts is repeated with its set-up.
    """
    repeats = step.iterations + step.warmup
    # Between two hosts one trial yields many samples.
    trials = workload is not None and workload.hosts > 1 and not workload.over_links
    total = 0.0
    size = 0.0
    each = 1
    parts = list(_by_case(answers))
    for case, part, span_s in parts:
        weight = 1.0
        for name, of in weights.items():
            weight *= of.get(case.get(name), 1.0)
        with_files = any(isinstance(one.event, events.Files | events.Execution) for one in part)
        batches = [one for one in part if _is_batch(one.event)]
        # What one trial between two hosts yields is of one time, which every metric reports.
        each_s: dict[int, float] = {}
        for place, event in enumerate(e for e, _ in batches if isinstance(e, events.Measured)):
            which = event.iteration if with_files else place
            seconds = event.elapsed_ns / 1e9
            each_s[which] = max(each_s.get(which, 0.0), seconds)
        taken = list(each_s.values())
        rest = max(span_s - sum(taken), 0.0)
        full = sum(max(seconds, step.sample_ms / 1000) for seconds in taken)
        if trials:
            # Flows of one trial are cases of their own, reported at once.
            rest, full = 0.0, span_s
        links = step.parameters.get(LINKS, [])
        others = pilot_links.others_s(links, case.get("link"), [e for e, _ in part], weight)
        total += weight * (rest + repeats * full) + len(others) * rest + repeats * sum(others)
        copies = weight + len(others)
        size += copies * sum(_bytes(one) for one in part)
        size += copies * (repeats - 1) * sum(_bytes(one) for one in batches)
        # Each link is made and measured before its first task.
        each = max(each, 1 + len(others))
    outside = max(_span(answers) - sum(span for _, _, span in parts), 0.0)
    return step.processes * (each * outside + total), step.processes * size


def _is_batch(event: AnyEvent) -> bool:
    """Whether it holds what was measured."""
    return isinstance(event, events.Measured) and event.phase == "measure"


def _case_of(event: AnyEvent) -> Case | None:
    with_case = (
        events.Measured | events.Execution | events.Picture | events.Packets | events.Files
        | events.Progress | events.Error | events.Link
    )  # fmt: skip
    return event.case if isinstance(event, with_case) else None


def _time_ns(event: AnyEvent) -> int:
    return 0 if isinstance(event, events.Unknown) else event.t_ns


def _by_case(answers: Iterable[Message]) -> Iterable[tuple[Case, list[Message], float]]:
    """Each case with its events and its time, in seconds.

    A case lasts until the last event that names it: what follows is the next case's set-up.
    """
    order: list[str] = []
    parts: dict[str, list[Message]] = {}
    cases: dict[str, Case] = {}
    spans: dict[str, float] = {}
    before: float | None = None
    for message in answers:
        now = _time_ns(message.event) / 1e9
        case = _case_of(message.event)
        if case is not None:
            key = json.dumps(case, sort_keys=True)
            if key not in parts:
                order.append(key)
                cases[key] = case
            parts.setdefault(key, []).append(message)
            spans[key] = spans.get(key, 0.0) + (0.0 if before is None else now - before)
        before = now
    for key in order:
        yield cases[key], parts[key], spans[key]


def _span(answers: Sequence[Message]) -> float:
    times = [_time_ns(event) for event, _ in answers]
    return (max(times) - min(times)) / 1e9 if times else 0.0


def _bytes(message: Message) -> int:
    # What lies in a file of its own beside the journal.
    members = message.document
    whole = [value for value in members.values() if isinstance(value, bytes)]
    rest = {name: value for name, value in members.items() if not isinstance(value, bytes)}
    return len(json.dumps(rest, separators=(",", ":"))) + RECORD_BYTES + sum(map(len, whole))
