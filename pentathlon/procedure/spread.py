"""The boots that show how much a study's rows vary, before it is decided how many it gets.

Three short blocks of all systems, paired in time as the study's own are: each step with two
iterations, so that the variance within a boot and that between boots come apart, and with three
values of a long numeric factor. Their samples are not counted.
"""

from __future__ import annotations

import math

from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.plan import Plan, Step
from pentathlon.study.procedure import Procedure
from pentathlon.study.stopping import Stopping

BLOCKS = 3
ITERATIONS = 2


def procedure(usual: Procedure) -> Procedure:
    """That of these boots, from the study's."""
    return usual.model_copy(
        update={"blocks": BLOCKS, "iterations": ITERATIONS, "stopping": Stopping()}
    )


def reduce(plan: Plan, catalog: Catalog, usual: Procedure) -> Plan:
    """A plan with this module's `procedure`, with fewer cases.

    Args:
        usual: the study's procedure.
    """
    steps = {
        name: tuple(short(step, catalog.workload(step.workload), usual) for step in own)
        for name, own in plan.steps.items()
    }
    return plan.model_copy(update={"steps": steps})


def short(step: Step, workload: Workload | None, usual: Procedure) -> Step:
    """A step as these boots run it. A workload keeps a number of iterations of its own."""
    parameters = {
        name: _three(values) if _is_long(name, values, workload) else values
        for name, values in step.parameters.items()
    }
    own = step.iterations not in (usual.iterations, ITERATIONS)
    iterations = step.iterations if own else ITERATIONS
    return step.model_copy(update={"parameters": parameters, "iterations": iterations})


def stands_for(step: Step, workload: Workload | None) -> float:
    """How many of the step's cases each case of these boots stands for."""
    return math.prod(
        len(values) / 3
        for name, values in step.parameters.items()
        if _is_long(name, values, workload)
    )


def _is_long(name: str, values: object, workload: Workload | None) -> bool:
    numeric = {f.name for f in workload.factors if f.scale != "category"} if workload else set()
    return name in numeric and isinstance(values, list) and len(values) > 3


def _three(values: list[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
