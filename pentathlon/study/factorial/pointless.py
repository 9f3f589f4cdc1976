"""Factors of a design that cannot make a difference: stated in the plan, before measuring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any

from pentathlon.study.dependence import untouched
from pentathlon.study.factorial.design import Design
from pentathlon.study.factorial.model import Factor, level_text
from pentathlon.study.plan import Plan

Present = Callable[[str], str | None]
"""The machine's present value of a setting, or None where it is not known."""


def measured(plan: Plan, areas: Collection[str]) -> set[str]:
    """What a plan measures, for the patterns of `dependence`: ids, and "AREA." for each area."""
    ids = {step.workload for steps in plan.steps.values() for step in steps}
    return ids | {f"{area}." for area in areas}


def own(plan: Plan) -> list[str]:
    """Ids of the commands of the user's own."""
    return [one.id for one in plan.study.workloads]


def pointless_factors(
    plan: Plan, areas: Collection[str], present: Present, design: Design
) -> Iterator[str]:
    """One sentence for each factor, or level of one, that nothing measured can depend on."""
    found = measured(plan, areas)
    idle = []
    left = 1
    for factor in plan.study.factors:
        why = None if factor.setting is None else untouched(factor.setting, found, own(plan))
        if why is None:
            left *= len(factor.levels)
            continue
        idle.append(factor.title)
        yield f"The factor {factor.title} changes nothing: {why}."
    yield from _same_arms(plan, design)
    here = plan.study.systems[0].kind.place == "here"
    for factor in plan.study.factors:
        now = present(factor.setting) if here and factor.setting is not None else None
        if now is not None and now not in factor.texts:
            yield f"{factor.title} is {now} on this machine, which is no level of the factor."
    if idle and left == 1:
        yield "No factor can matter for what is measured: all arms will be measured alike."
    elif idle and left < len(design.arms):
        names = " and ".join(idle)
        yield f"Without {names} there would be {left} arms instead of {len(design.arms)}."


def _same_arms(plan: Plan, design: Design) -> Iterator[str]:
    """Levels that mean one thing on this machine: their arms are one system under two names."""
    for place, factor in enumerate(plan.study.factors):
        meanings: defaultdict[str, list[str]] = defaultdict(list)
        for level, name in enumerate(design.levels[place]):
            arms = (system for system, arm in zip(design.names, design.arms, strict=True)
                    if arm[place] == level)  # fmt: skip
            meanings[_meaning(plan, factor, level, next(arms))].append(name)
        for names in meanings.values():
            if len(names) > 1:
                yield (
                    f"The levels {' and '.join(names)} of {factor.title} are the same here: their "
                    "arms are identical, and what is found between them is noise."
                )


def _meaning(plan: Plan, factor: Factor, level: int, arm: str) -> str:
    """What a level comes down to, as the target has found it."""
    options = plan.targets.get(arm, {}).get("options") or {}
    value: Any = factor.levels[level]
    if factor.key == "kernel" and options.get("kernel_file"):
        return str(options["kernel_file"])
    if factor.key == "cpus" and options.get("cpus"):
        return str(sorted(options["cpus"]))
    return f"{type(value).__name__} {level_text(value)}"
