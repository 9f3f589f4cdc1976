"""Which rows are measured in turns, batch by batch, and which step by step.

The agent decides by the same rule which batches wait (`batches_up_to_bytes` of a gate), from the
catalog's `buffers` and the factors of a case in bytes. Every run of a command of the user's own
takes its turn: it starts anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.plan import Pairing, Plan


def way(plan: Plan, workload: Workload | None, case: Mapping[str, Any]) -> Pairing:
    """How a case of a workload is paired between the systems of a block."""
    own = workload is not None and workload.id in plan.commands
    if plan.pairing == "turns" and not own and not fits(plan, workload, case):
        return "steps"
    return plan.pairing


def step_by_step(plan: Plan, catalog: Catalog) -> list[str]:
    """Workloads of a plan with turns of which no case can be measured in turns, in its order."""
    if plan.pairing != "turns":
        return []
    steps = [step for system in plan.study.systems for step in plan.steps[system.name]]
    ids = dict.fromkeys(step.workload for step in steps)
    return [one for one in ids if one not in plan.commands and not _buffers(catalog.workload(one))]


def fits(plan: Plan, workload: Workload | None, case: Mapping[str, Any]) -> bool:
    """Whether a case's batches can take turns: its working set is small enough for the plan's."""
    buffers, most = _buffers(workload), plan.turns_up_to_bytes or 0
    return buffers > 0 and all(
        value * buffers <= most
        for factor, value in case.items()
        if isinstance(value, int) and (factor == "bytes" or factor.endswith("_bytes"))
    )


def _buffers(workload: Workload | None) -> int:
    return 0 if workload is None else workload.buffers
