"""The plan: a study expanded with the catalog into blocks -> boots -> steps, in a fixed order.

Orders are random but reproducible (`pentathlon.study.order`). Places of the seed:

    "SEED/systems/cycle/..."   order of the systems, balanced over the blocks
    "SEED/block/B"             order of the steps in block B (counted from 0), alike in all systems
    "SEED/turns/SUITE/WORKLOAD/N/PART/cycle/..."
                               order of the systems at one case of a step of paired boots, balanced
                               over the blocks; at its batches (PART ends with "/batches") over
                               the batches of all blocks
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.check import matches
from pentathlon.study.commands.cases import longest_s, request
from pentathlon.study.commands.entries import extended
from pentathlon.study.commands.model import OwnWorkload
from pentathlon.study.later import Later
from pentathlon.study.limits import check_steps
from pentathlon.study.model import Study
from pentathlon.study.names import IMPORTED
from pentathlon.study.order import balanced, order_of
from pentathlon.study.preparation import PUBLISHED, PlannedStep, PreparationStep, planned
from pentathlon.study.procedure import Procedure
from pentathlon.study.suite import Suite, WorkloadChoice
from pentathlon.study.system import System
from pentathlon.targets.supplies import Supply

FORMAT = 1

T = TypeVar("T")

Pairing: TypeAlias = Literal["none", "steps", "turns"]
"""How boots of a block are paired in time: not at all, step by step, or batch by batch."""

StepKey: TypeAlias = tuple[str, str, int]
"""Suite and workload of a step, and how many steps with both come before it."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(Later, _Part):
    """One workload with its parameters, in every boot of one system; or one visit to it.

    Attributes:
        parameters: every parameter of the workload, defaults filled in.
        qualified: the system gives the workload parameters of its own.
        timeout_s: longest time of one process of the workload, in seconds.
        command: words of the system's own, instead of those of the workload's table.
        visit: the number of the visit, from 0. The visits to a workload are steps one after the
            other in the system's list.
        first_iteration: the number of its first iteration among those of all visits.
    """

    LATER = ("command", "visit", "first_iteration")

    suite: str
    workload: str
    parameters: dict[str, Any]
    qualified: bool
    iterations: int
    warmup: int
    processes: int
    sample_ms: float
    timeout_s: float
    command: tuple[str, ...] | None = None
    visit: int = 0
    first_iteration: int = 0

    def visits(self, count: int) -> Iterator[Step]:
        """The step divided into visits, with an equal share of its iterations in each.

        Args:
            count: the most; there are no more than iterations. The first ones have one more where
                the iterations cannot be shared out evenly.
        """
        count = min(count, self.iterations)
        done = 0
        for visit in range(count):
            share = (self.iterations + count - 1 - visit) // count
            yield self.model_copy(
                update={"iterations": share, "visit": visit, "first_iteration": done}
            )
            done += share

    def task(self) -> WorkloadRequest:
        """The step as an entry of the agent's request."""
        return WorkloadRequest(
            id=self.workload,
            parameters=self.parameters,
            iterations=self.iterations,
            warmup=self.warmup,
            sample_ms=self.sample_ms,
            processes=self.processes,
            timeout_s=self.timeout_s,
        )


class Boot(_Part):
    """One boot of one system in one block; `steps` are numbers of the system's steps, in order."""

    system: str
    steps: tuple[int, ...]


class SuppliedRecord(_Part):
    """One file of a command."""

    sha256: str
    bytes: int
    executable: bool


class CommandRecord(_Part):
    """What a command of the user's own is.

    Attributes:
        definition: SHA-256 of the canonical JSON of its `[[workload]]` table.
        files: path in the directory of a run -> the file.
    """

    definition: str
    files: dict[str, SuppliedRecord]


class Plan(Later, _Part):
    """Everything that decides a result.

    Attributes:
        study: the study's content, defaults filled in.
        agent: version and build of the agent, and the version of its catalog.
        targets: system -> what its target states of itself.
        steps: system -> its steps, in the order of the suites.
        preparation: system -> what is done before it is measured; systems without steps are left
            out.
        blocks: for each block the boots, in order.
        commands: id of a workload of the user's own -> what it is.
        pairing: how the boots of a block are paired in time.
        turns_up_to_bytes: the largest working set whose batches take turns, with that pairing.
    """

    LATER = ("commands", "pairing", "turns_up_to_bytes")

    format: int = FORMAT
    study: Study
    agent: dict[str, Any]
    targets: dict[str, dict[str, Any]]
    steps: dict[str, tuple[Step, ...]]
    preparation: dict[str, tuple[PlannedStep, ...]] = {}
    blocks: tuple[tuple[Boot, ...], ...]
    commands: dict[str, CommandRecord] = {}
    pairing: Pairing = "none"
    turns_up_to_bytes: int | None = None

    def turns(self, repetition: int, key: Sequence[str | int]) -> list[str]:
        """The systems in the order in which they take something of a block of paired boots.

        Args:
            repetition: how often they took it before, in all blocks.
            key: what they take.
        """
        names = [system.name for system in self.study.systems]
        return balanced(names, repetition, self.study.seed, "turns", *key)

    def task(self, step: Step) -> WorkloadRequest:
        """A step as an entry of the agent's request, with the command that it runs, if any."""
        own = self.study.command(step.workload)
        if own is None:
            return step.task()
        if step.command is not None:
            own = own.model_copy(update={"command": step.command})
        command = request(own, step.parameters)
        return step.task().model_copy(update={"parameters": {}, "command": command})

    def canonical(self) -> str:
        """The plan as canonical JSON: keys sorted, no blanks, one line."""
        return canonical_json(self.model_dump(mode="json", by_alias=True))

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, as 64 hex digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    @property
    def in_blocks(self) -> bool:
        """Whether the boots of a block belong together: those of other tools where it was said."""
        return not self.study.imported or all(
            bool(self.targets[system.name].get("in_blocks")) for system in self.study.systems
        )

    def install_of(self, block: int) -> int:
        """The install that a block boots, from 0: each has an equal share of the blocks, in order.

        Where the blocks cannot be shared out evenly, the later installs have one more.
        """
        return block * self.study.procedure.installs // len(self.blocks)

    def step_count(self) -> int:
        """Steps of all boots."""
        return sum(len(boot.steps) for block in self.blocks for boot in block)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan back; `from_json(plan.canonical())` equals the plan.

        Raises:
            ValueError: the text is no plan of this format.
        """
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"this is no plan of format {FORMAT}")
        try:
            plan = cls.model_validate_json(text, context=IMPORTED)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        plan._check()
        return plan

    def _check(self) -> None:
        """Whether every part names the same systems and steps, which a changed file may not.

        Raises:
            ValueError: a part names others than the study.
        """
        names = sorted(system.name for system in self.study.systems)
        known = ", ".join(names)
        for what, found in (("steps", self.steps), ("targets", self.targets)):
            if sorted(found) != names:
                raise ValueError(
                    f"its {what} are those of {', '.join(found)}, its study has {known}"
                )
        if extra := sorted(self.preparation.keys() - names):
            raise ValueError(f"its preparation names {extra[0]}, its study has {known}")
        for number, block in enumerate(self.blocks, start=1):
            booted = sorted(boot.system for boot in block)
            if self.study.imported:
                self._check_imported(number, block)
                continue
            if booted != names:
                raise ValueError(f"block {number} boots {', '.join(booted)}, its study has {known}")
            for boot in block:
                if sorted(boot.steps) != list(range(len(self.steps[boot.system]))):
                    raise ValueError(
                        f"block {number} does not run each step of {boot.system} exactly once"
                    )

    def _check_imported(self, number: int, block: tuple[Boot, ...]) -> None:
        """Systems that other tools measured need not have equally many boots, nor the same steps
        in each of them.

        Raises:
            ValueError: a system or a step is there twice, or is none of the study.
        """
        booted = [boot.system for boot in block]
        if len(set(booted)) != len(booted) or not set(booted) <= self.steps.keys():
            raise ValueError(f"block {number} has {', '.join(booted)}, each once is right")
        for boot in block:
            known = set(range(len(self.steps[boot.system])))
            if len(set(boot.steps)) != len(boot.steps) or not set(boot.steps) <= known:
                raise ValueError(f"block {number} has steps of {boot.system} that are none")


def canonical_json(value: Any) -> str:
    """JSON that is the same for equal data: sorted keys, no blanks, UTF-8, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def make_plan(
    study: Study,
    catalog: Catalog,
    targets: Mapping[str, Mapping[str, Any]],
    blocks: int | None = None,
    supplies: Sequence[Supply] = (),
    *,
    pairing: Pairing = "none",
    turns_up_to_bytes: int | None = None,
) -> Plan:
    """Expand a study that has passed `check_catalog`.

    Args:
        targets: system -> description of its target.
        blocks: number of blocks instead of the study's, or the most of its stopping rule.
        supplies: the files of its commands.
        pairing: how the boots of a block are paired in time.
        turns_up_to_bytes: as in `Plan`.

    Raises:
        ValueError: the stopping rule cannot work with so few blocks, or there are too many steps.
    """
    if blocks is not None:
        study = study.model_copy(update={"procedure": study.procedure.with_blocks(blocks)})
    catalog = extended(catalog, study.workloads)
    steps = {system.name: _steps(study, system, catalog) for system in study.systems}
    check_steps(study.procedure.blocks, steps)
    return Plan(
        study=study,
        agent={
            "version": catalog.agent.get("version"),
            "build": catalog.agent.get("build"),
            "catalog_version": catalog.catalog_version,
        },
        targets={name: dict(description) for name, description in targets.items()},
        steps=steps,
        preparation={
            system.name: prepared
            for system in study.systems
            if (prepared := _prepared(study, system))
        },
        blocks=tuple(_block(study, steps, block) for block in range(study.procedure.blocks)),
        commands=_commands(study.workloads, supplies),
        pairing=pairing,
        turns_up_to_bytes=turns_up_to_bytes,
    )


def _commands(own: Sequence[OwnWorkload], supplies: Sequence[Supply]) -> dict[str, CommandRecord]:
    files = {supply.workload: supply.record() for supply in supplies}
    found = {}
    for one in own:
        text = canonical_json(one.model_dump(mode="json", by_alias=True))
        document = {
            "definition": hashlib.sha256(text.encode()).hexdigest(),
            "files": files.get(one.id, {}),
        }
        found[one.id] = CommandRecord.model_validate(document)
    return found


def _prepared(study: Study, system: System) -> tuple[PlannedStep, ...]:
    """The steps of a system, in the order of the published process."""
    chosen = study.procedure.steps if system.steps is None else system.steps
    steps = [planned(step, system.target) for step in chosen]
    if study.procedure.installs > 1 and not any(step.do == "fresh" for step in steps):
        steps.append(planned(PreparationStep(do="fresh"), system.target))
    return tuple(sorted(steps, key=lambda step: PUBLISHED.index(step.do)))


def _block(study: Study, steps: Mapping[str, Sequence[Step]], block: int) -> tuple[Boot, ...]:
    names = [system.name for system in study.systems]
    numbers = {name: step_numbers(steps[name]) for name in names}
    # Steps that several systems have stand in one order in all of them.
    keys = {
        key: steps[name][number].visit for name in names for key, number in numbers[name].items()
    }
    common = [
        key
        for visit in range(max(keys.values(), default=0) + 1)
        for key in order_of(
            [key for key, own in keys.items() if own == visit],
            study.seed,
            "block",
            block,
            *(("visit", visit) if visit else ()),
        )
    ]
    return tuple(
        Boot(
            system=name,
            steps=tuple(numbers[name][key] for key in common if key in numbers[name]),
        )
        for name in balanced(names, block, study.seed, "systems")
    )


def step_numbers(steps: Sequence[Step]) -> dict[StepKey, int]:
    """What makes a step of one system the same one as a step of another -> its number."""
    found: dict[StepKey, int] = {}
    for number, step in enumerate(steps):
        times = sum(key[:2] == (step.suite, step.workload) for key in found)
        found[step.suite, step.workload, times] = number
    return found


def _steps(study: Study, system: System, catalog: Catalog) -> tuple[Step, ...]:
    """The system's steps. An entry that names a workload wins over any pattern that matches it;
    between patterns the first one wins."""
    chosen: list[tuple[Suite, WorkloadChoice, Workload]] = []
    taken = {
        choice.id for suite in study.suites for choice in suite.workloads if not choice.is_pattern
    }
    for suite in study.suites:
        for choice in suite.workloads:
            for workload in catalog.workloads:
                if not matches(choice, workload):
                    continue
                if workload.hosts > 1 and system.peer is None:
                    continue
                if choice.is_pattern:
                    if workload.id in taken:
                        continue
                    taken.add(workload.id)
                chosen.append((suite, choice, workload))
    found: list[Step] = []
    for suite, choice, workload in chosen:
        command = study.command(workload.id)
        step = _step(study.procedure, system, suite, choice, workload, command=command)
        apart = command is None and workload.hosts == 1 and step.processes == 1
        found += step.visits(_first(choice.visits, study.procedure.visits) if apart else 1)
    return tuple(found)


def _step(
    procedure: Procedure,
    system: System,
    suite: Suite,
    choice: WorkloadChoice,
    workload: Workload,
    *,
    command: OwnWorkload | None,
) -> Step:
    # A pattern's parameters reach only the workloads that have them.
    named = {k: v for k, v in choice.parameters.items() if workload.parameter(k) is not None}
    own = system.parameters.get(workload.id, {})
    parameters = {**workload.defaults(), **named, **own}
    iterations = _first(choice.iterations, procedure.iterations)
    warmup = _first(choice.warmup, procedure.warmup)
    limit_s = workload.timeout_s or 0.0
    if command is not None:
        # Each run has a limit of its own; that of the whole is for an agent that hangs.
        limit_s = longest_s(command, parameters, iterations + warmup)
    return Step(
        suite=suite.name,
        workload=workload.id,
        parameters=parameters,
        qualified=bool(own),
        iterations=iterations,
        warmup=warmup,
        processes=_first(choice.processes, procedure.processes),
        sample_ms=_first(choice.sample_ms, procedure.sample_ms),
        timeout_s=_first(choice.timeout_s, max(procedure.step_timeout_s, limit_s)),
        command=system.commands.get(workload.id),
    )


def _first(value: T | None, default: T) -> T:
    return default if value is None else value
