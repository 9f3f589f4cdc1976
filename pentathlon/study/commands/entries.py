"""Own workloads as entries of the catalog, which the agent's does not have: everything that asks
the catalog then knows them as it knows the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pentathlon.study.catalog import Catalog, Factor, Metric, Parameter, Workload
from pentathlon.study.commands.cases import longest_s
from pentathlon.study.commands.model import TITLES, OwnMetric, OwnWorkload
from pentathlon.study.problems import Problem

RESERVED = ("graphics", "test")
"""Areas that an agent may have without listing anything of them."""


def extended(catalog: Catalog, own: Sequence[OwnWorkload]) -> Catalog:
    """The catalog with the study's own workloads; those that it has already stay as they are."""
    known = set(catalog.ids())
    added = [entry(one) for one in own if one.id not in known]
    if not added:
        return catalog
    return catalog.model_copy(update={"workloads": [*catalog.workloads, *added]})


def clashes(catalog: Catalog, own: Sequence[OwnWorkload]) -> Iterator[Problem]:
    """Own workloads whose names are the agent's, or are there twice."""
    areas = {one.area for one in catalog.workloads} | set(RESERVED)
    seen: set[str] = set()
    for place, one in enumerate(own):
        if one.area in areas:
            text = f'"{one.id}" is in the area "{one.area}", which has the agent\'s workloads'
            yield Problem(
                ("workload", place, "id"), f'{text}; call it "my.{one.id.split(".")[-1]}"'
            )
        if one.id in seen:
            text = f'"{one.id}" is used twice; every workload needs its own id'
            yield Problem(("workload", place, "id"), text)
        seen.add(one.id)


def entry(own: OwnWorkload) -> Workload:
    """The entry of one workload."""
    return Workload(
        id=own.id,
        area=own.area,
        title=own.title or own.name,
        summary=f"The command {' '.join(own.command)}",
        source="the study",
        parameters=[_parameter(name, values) for name, values in own.parameters.items()],
        factors=[
            Factor(name=name, title=name, scale=_scale(values))
            for name, values in own.parameters.items()
        ],
        metrics=[
            *(_metric(own, one, "performance") for one in own.declared()),
            *(_metric(own, one, "context") for one in own.beside()),
        ],
        timeout_s=longest_s(own, own.parameters, 1),
        checksum=f"what {own.same} matches in the output" if own.same else "none",
    )


def _metric(workload: OwnWorkload, own: OwnMetric, role: str) -> Metric:
    title = own.title or TITLES.get(own.measure or "", own.name)
    return Metric.model_validate(
        {
            "id": own.name,
            "title": f"{workload.title or workload.name}: {title}",
            "unit": own.unit,
            "direction": own.better,
            "zero_allowed": own.zero_allowed,
            "role": role,
        }
    )


def _parameter(name: str, values: Sequence[int | float | str]) -> Parameter:
    kinds = {type(one) for one in values}
    kind = (
        "list[string]" if kinds == {str} else "list[number]" if float in kinds else "list[integer]"
    )
    return Parameter.model_validate({"name": name, "type": kind, "default": list(values)})


def _scale(values: Sequence[int | float | str]) -> str:
    numbers = [one for one in values if not isinstance(one, str)]
    if len(numbers) < len(values):
        return "category"
    wide = min(numbers) > 0 and max(numbers) / min(numbers) >= 8
    return "log2" if wide else "linear"
