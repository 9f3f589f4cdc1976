"""What the evaluation takes from a result, in one place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from pentathlon.evaluate.hardware import hardware
from pentathlon.evaluate.model import Scalar, StudyFacts, SystemFacts
from pentathlon.procedure import identity
from pentathlon.procedure.identity import Identity
from pentathlon.store.counted import counted_boots, those_that_count
from pentathlon.study.plan import Plan
from pentathlon.study.system import System
from pentathlon.targets import userland

COMMAND = "command"
"""Stands among the parameters of a system for a command of its own."""


class ResultLike(Protocol):
    """What `evaluate` needs of a result directory (pentathlon.store)."""

    @property
    def plan(self) -> Plan:
        """The plan that the result was measured by."""

    def samples(self) -> pl.DataFrame:
        """One row per sample (`pentathlon.store.schema.SAMPLES`)."""

    def histograms(self) -> pl.DataFrame:
        """One row per histogram (`pentathlon.store.schema.HISTOGRAMS`)."""

    def answers(self) -> pl.DataFrame:
        """Which source answered reads (`pentathlon.store.schema.ANSWERS`)."""

    def links(self) -> pl.DataFrame:
        """What emulated links were and did (`pentathlon.store.schema.LINKS`)."""

    def failures(self) -> pl.DataFrame:
        """One row per failure (`pentathlon.store.schema.FAILURES`)."""

    def inventory(self) -> pl.DataFrame:
        """One row per leaf of an inventory (`pentathlon.store.schema.INVENTORY`)."""


@dataclass(frozen=True)
class Inventory:
    """What one system reports itself: path -> value, from its first boot."""

    values: dict[str, Any] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)
    varying: frozenset[str] = frozenset()
    """Paths whose value differs between boots of this system."""
    builds: tuple[str, ...] = ()
    """Builds of the agent, in the order of the boots."""
    kernels: tuple[Identity, ...] = ()
    """What the boots ran, each once, in their order."""

    def text(self, *paths: str) -> str:
        """The first of the paths that has a value, as text; "" if none has."""
        for path in paths:
            value = self.values.get(path)
            if value not in (None, ""):
                return str(value)
        return ""

    def integer(self, *paths: str) -> int | None:
        """The first of the paths that has a whole number, or None."""
        for path in paths:
            value = self.values.get(path)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None


def of_system(tree: Mapping[str, Any]) -> Inventory:
    """The inventory of one boot, from what the agent sent of the system."""
    values: dict[str, Any] = {}
    unsupported: dict[str, str] = {}
    pending = list(tree.items())
    while pending:
        path, value = pending.pop()
        reason = value.get("unsupported") if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(reason, str):
            unsupported[path] = reason
        elif isinstance(value, dict) and value:
            pending += [(f"{path}.{key}", part) for key, part in value.items()]
        else:
            values[path] = value
    return Inventory(values, unsupported)


KERNELS = frozenset(identity.PATHS.values())
KERNEL_PATHS = ("kernel.release", "os.kernel_release", "os.kernel.release", "os.release")
CPU_PATHS = ("cpu.model_name", "cpu.model", "cpu.brand", "cpu.name")
MEMORY_PATHS = ("memory.total_bytes", "memory.size_bytes", "memory.physical_bytes")


def inventories(table: pl.DataFrame, samples: pl.DataFrame) -> dict[str, Inventory]:
    """The inventory of each system from the table of the result directory, of boots that count."""
    return _by_system(counted_boots(table, samples))


def inventories_of_used(table: pl.DataFrame, used: pl.DataFrame) -> dict[str, Inventory]:
    """The same where samples that do not count are known to be left out already."""
    boots, systems = those_that_count(used)
    counts = [
        boot in boots or system not in systems
        for boot, system in zip(table["boot"].to_list(), table["system"].to_list(), strict=True)
    ]
    return _by_system(table if all(counts) else table.filter(pl.Series(counts)))


def _by_system(table: pl.DataFrame) -> dict[str, Inventory]:
    systems: dict[str, list[tuple[Any, ...]]] = {}
    names = ("system", "boot", "path", "value_json", "unsupported")
    columns = [table[name].to_list() for name in names]
    for system, *leaf in zip(*columns, strict=True):
        systems.setdefault(str(system), []).append(tuple(leaf))
    return {system: _inventory(leaves) for system, leaves in systems.items()}


def _inventory(leaves: Sequence[tuple[Any, ...]]) -> Inventory:
    """The inventory of one system.

    Args:
        leaves: boot, path, value as JSON and reason of each leaf, in the order of the boots.
    """
    values: dict[str, Any] = {}
    first: dict[str, str | None] = {}
    unsupported: dict[str, str] = {}
    varying: set[str] = set()
    builds: list[str] = []
    kernels: dict[str, dict[str, Any]] = {}
    for boot, path, text, reason in leaves:
        if path in KERNELS and text is not None:
            kernels.setdefault(boot, {})[path] = json.loads(text)
        if path == "agent.build" and text is not None and text not in builds:
            builds.append(text)
        if path in first:
            if text != first[path]:
                varying.add(path)
            continue
        first[path] = text
        if reason is not None:
            unsupported[path] = reason
        elif text is not None:
            values[path] = json.loads(text)
    return Inventory(
        values,
        unsupported,
        frozenset(varying),
        tuple(json.loads(text) for text in builds),
        _kernels(kernels.values()),
    )


def _kernels(entries: Iterable[Mapping[str, Any]]) -> tuple[Identity, ...]:
    """The kernels that the boots of one system ran; what a boot does not give is no difference."""
    found: list[Identity] = []
    for values in entries:
        one = identity.of_values(values)
        if all(identity.difference(known, one) for known in found):
            found.append(one)
    return tuple(found)


def study_facts(plan: Plan, stopped: str | None = None, unfinished: str = "") -> StudyFacts:
    """The study and its plan, as far as a report names them.

    Args:
        stopped: why the stopping rule ended the run before its last block.
        unfinished: how far a run is that has not ended; "" if it has.
    """
    study, procedure = plan.study, plan.study.procedure
    return StudyFacts(
        name=study.name,
        title=study.title or study.name,
        question=study.question,
        reference=study.reference,
        seed=study.seed,
        plan_hash=plan.hash(),
        blocks=len(plan.blocks),
        installs=procedure.installs,
        iterations=procedure.iterations,
        warmup=procedure.warmup,
        processes=procedure.processes,
        sample_ms=procedure.sample_ms,
        awake_in_turns=procedure.cpu_latency_us is None and plan.pairing == "turns",
        delta_percent=study.evaluation.delta_percent,
        confidence=study.evaluation.confidence,
        weights=dict(study.weights),
        stopping=procedure.stopping.words(len(plan.blocks)),
        stopped=stopped,
        unfinished=unfinished,
        declared=study.evaluation.declared,
        imported=study.imported,
        in_blocks=plan.in_blocks,
    )


@dataclass(frozen=True)
class Measured:
    """How much of a system was measured."""

    boots: int = 0
    samples: int = 0
    layer: str = ""


def measured_systems(counted: pl.DataFrame) -> dict[str, Measured]:
    """How much of each system counts, from its samples."""
    found = counted.group_by("system").agg(
        pl.col("block").n_unique(), pl.len(), pl.col("layer").max()
    )
    return {
        system: Measured(boots, samples, layer or "")
        for system, boots, samples, layer in found.iter_rows()
    }


def system_facts(
    plan: Plan,
    measured: Mapping[str, Measured],
    inventories_of: Mapping[str, Inventory],
    *,
    with_hardware: bool = True,
) -> tuple[SystemFacts, ...]:
    """Every system of the study, the reference first, then in the study's order.

    Args:
        with_hardware: with the properties of its machine.
    """
    study = plan.study
    ordered = sorted(study.systems, key=lambda system: system.name != study.reference)
    facts = []
    for system in ordered:
        inventory = inventories_of.get(system.name, Inventory())
        target = plan.targets.get(system.name, {})
        done = measured.get(system.name, Measured())
        facts.append(
            SystemFacts(
                name=system.name,
                title=system.title or system.name,
                target=system.target,
                layer=done.layer or str(target.get("layer", "")),
                kernel=inventory.text(*KERNEL_PATHS),
                kernels=tuple(map(_words, inventory.kernels)),
                cpu=inventory.text(*CPU_PATHS),
                memory_bytes=inventory.integer(*MEMORY_PATHS),
                agent_builds=inventory.builds,
                agent_platform=inventory.text("agent.target"),
                catalog_version=inventory.integer("agent.catalog_version"),
                settings=dict(system.settings.plain()),
                userland=userland.in_words(target),
                parameters=_own_parameters(system),
                boots=done.boots,
                samples=done.samples,
                hardware=hardware(inventory.values, inventory.unsupported) if with_hardware else {},
            )
        )
    return tuple(facts)


def _own_parameters(system: System) -> dict[str, dict[str, Any]]:
    """What holds for this system only: parameters of workloads, and commands of its own."""
    own = {name: dict(values) for name, values in system.parameters.items()}
    for name, words in system.commands.items():
        own.setdefault(name, {})[COMMAND] = " ".join(words)
    return own


def _words(one: Identity) -> str:
    return "; ".join(part for part in (one.kernel(), one.command_line) if part)


def case_of(text: str | None) -> dict[str, Scalar]:
    """The case of a sample from its JSON; {} for none."""
    if not text:
        return {}
    case = json.loads(text)
    return dict(case) if isinstance(case, dict) else {}
