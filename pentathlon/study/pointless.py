"""Requests of a study that cannot make a difference: stated in the plan, before measuring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pentathlon.study.aa_study import differences
from pentathlon.study.catalog import Catalog
from pentathlon.study.dependence import untouched
from pentathlon.study.factorial.expand import design_of
from pentathlon.study.factorial.pointless import measured, own, pointless_factors
from pentathlon.study.plan import Plan
from pentathlon.study.system import System

Present = Callable[[str], str | None]
"""The machine's present value of a setting, or None where it is not known."""

TCP_AREAS = ("network", "files")
"""Areas of the workloads that TCP's congestion control can change."""

FILES = "files"


def pointless(plan: Plan, catalog: Catalog, present: Present) -> list[str]:
    """One sentence for each thing that differs in the study and in nothing that is measured."""
    design = design_of(plan.study)
    if design is not None:
        return list(pointless_factors(plan, _areas(plan, catalog), present, design))
    found: list[str] = []
    areas = _areas(plan, catalog)
    for first, second in combinations(plan.study.systems, 2):
        names = f'"{first.name}" and "{second.name}"'
        keys = differences(first, second)
        if not keys:
            found.append(
                f"The systems {names} are the same under two names: what the study finds between "
                "them is noise, as pentathlon calibrate measures it."
            )
            continue
        look = _Look(first, second, plan, areas, present)
        why = {key: look.no_difference(key) for key in keys}
        for key, reason in why.items():
            if reason is not None:
                found.append(f"{key} differs between {names} and changes nothing: {reason}.")
        if all(why.values()):
            found.append(f"Nothing else differs between {names}: they will be measured alike.")
    return list(dict.fromkeys(found))


def _areas(plan: Plan, catalog: Catalog) -> set[str]:
    known = {workload.id: workload.area for workload in catalog.workloads}
    used = (step.workload for steps in plan.steps.values() for step in steps)
    return {known[name] for name in used if name in known}


@dataclass(frozen=True)
class _Look:
    """Two systems of a plan, the areas that it measures, and the machine."""

    first: System
    second: System
    plan: Plan
    areas: set[str]
    present: Present

    def no_difference(self, key: str) -> str | None:
        """Why a key of the study that differs makes no difference, or None if it may make one."""
        table, _, name = key.partition(".")
        both = (self.first, self.second)
        if table == "settings" and (why := self._untouched(name)) is not None:
            return why
        # What the study does not set of a system on this machine is as the machine has it.
        if table == "settings" and all(system.kind.place == "here" for system in both):
            values = {_effective(system, name, self.present) for system in both}
            if len(values) == 1 and None not in values:
                return f"it is {values.pop()} on this machine anyway"
        if key == "kernel":
            return _one_kernel(self.plan.targets, *both)
        if table == "parameters":
            measured = {step.workload for steps in self.plan.steps.values() for step in steps}
            return None if name in measured else f"{name} is no workload of the study"
        if key == "behaves" and FILES not in self.areas:
            return "no workload of the study serves files"
        return None

    def _untouched(self, setting: str) -> str | None:
        """Why no workload of the study can depend on a setting, or None."""
        if setting == "tcp_congestion_control" and not self.areas.intersection(TCP_AREAS):
            return "no workload of the study uses TCP"
        return untouched(setting, measured(self.plan, self.areas), own(self.plan))


def _effective(system: System, name: str, present: Present) -> str | None:
    value = system.settings.changed().get(name)
    if isinstance(value, bool):
        return "on" if value else "off"
    return present(name) if value is None else str(value)


def _one_kernel(targets: Mapping[str, Any], first: System, second: System) -> str | None:
    """That both names of kernels mean one file, as their targets have found it."""
    described = [targets.get(system.name, {}) for system in (first, second)]
    files = [(one.get("options") or {}).get("kernel_file") for one in described]
    if files[0] is not None and files[0] == files[1]:
        return f"both mean {described[0].get('kernel')}"
    return None
