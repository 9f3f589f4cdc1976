"""The user's weights of areas and workloads, and what every row's share of them is.

Within an area every workload has its weight, within a workload every metric the same, within a
metric every case the same. A curve over 34 block sizes so weighs no more than a single number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a row stands."""

    key: str
    area: str
    workload: str
    metric: str


def row_weights(places: Sequence[Place], stated: Mapping[str, float]) -> dict[str, float]:
    """Share of every row in the weight of all, by key; they add up to 1, or are all 0.

    Args:
        places: the rows that are weighed.
        stated: area or workload id -> weight, at least 0; what is not named has 1.
    """
    workloads: dict[str, dict[str, float]] = {}
    for one in places:
        workloads.setdefault(one.area, {})[one.workload] = stated.get(one.workload, 1.0)
    areas = {area: stated.get(area, 1.0) for area, own in workloads.items() if sum(own.values())}
    sums = {area: sum(own.values()) for area, own in workloads.items()}
    whole = sum(areas.values())
    metrics: dict[str, set[str]] = {}
    for one in places:
        metrics.setdefault(one.workload, set()).add(one.metric)
    cases = Counter((one.workload, one.metric) for one in places)
    found = {}
    for one in places:
        own = workloads[one.area]
        if not whole or one.area not in areas:
            found[one.key] = 0.0
            continue
        of_area = areas[one.area] / whole
        of_workload = own[one.workload] / sums[one.area]
        found[one.key] = (
            of_area * of_workload / len(metrics[one.workload]) / cases[one.workload, one.metric]
        )
    return found
