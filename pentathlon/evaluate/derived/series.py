"""Curves of one system over one numeric factor: means, and every boot that has all points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import number, without
from pentathlon.evaluate.derived.model import Mean
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.levels.caches import point_noise
from pentathlon.evaluate.model import Row, Scalar
from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class Curve:
    """One metric over one factor on one system."""

    rows: tuple[Row, ...]
    case: dict[str, Scalar]
    """The case without the factor."""
    x: Values
    """Values of the factor, ascending."""
    mean: Values
    boots: Values
    """Boots x points, in the unit of the metric: the boots that have every point."""
    blocks: tuple[int, ...]
    """The block of each boot."""

    @property
    def noise(self) -> Values:
        """Relative standard error of each point, as `point_noise` believes it."""
        count = len(self.boots)
        if count < 2:
            return np.zeros(len(self.x))
        return point_noise(np.std(np.log(self.boots), axis=0, ddof=1) / np.sqrt(count))


def curves(rows: Sequence[Row], workload: str, metric: str, factor: str) -> list[list[Row]]:
    """The rows of one metric, apart by what their cases are without the factor."""
    groups: dict[tuple[tuple[str, Scalar], ...], list[Row]] = {}
    for row in rows:
        if (row.workload, row.metric) == (workload, metric):
            if number(row.case, factor) is None:
                continue
            groups.setdefault(tuple(sorted(without(row.case, factor).items())), []).append(row)
    return list(groups.values())


def curve(rows: Sequence[Row], system: str, factor: str) -> Curve | None:
    """The curve of one system; None if it has no point with a positive mean there."""
    points = []
    for row in rows:
        summary, x = row.summary(system), number(row.case, factor)
        if summary is not None and x is not None and summary.minimum > 0:
            points.append((x, row, summary))
    if not points:
        return None
    points.sort(key=lambda point: point[0])
    own = [{boot.block: boot.value for boot in summary.boot_means} for _, _, summary in points]
    shared = sorted(set.intersection(*(set(one) for one in own)))
    return Curve(
        rows=tuple(row for _, row, _ in points),
        case=without(points[0][1].case, factor),
        x=np.array([x for x, _, _ in points]),
        mean=np.array([summary.mean for _, _, summary in points]),
        boots=np.array([[one[block] for one in own] for block in shared]).reshape(-1, len(points)),
        blocks=tuple(shared),
    )


def every(
    rows: Sequence[Row], systems: Sequence[str], workload: str, metric: str, factor: str
) -> Iterator[tuple[str, Curve]]:
    """Every curve of a metric on every system."""
    for group in curves(rows, workload, metric, factor):
        for system in systems:
            found = curve(group, system, factor)
            if found is not None:
                yield system, found


def mean_of(
    values: Values, level: float, *, least: float = -math.inf, most: float = math.inf
) -> Mean:
    """The mean of the boots with its t interval.

    Args:
        least, most: between these the mean lies for certain, as a rate is not below zero. What the
            interval has beyond them is left out: it holds the truth no less often without it.
    """
    if len(values) < 2:
        return Mean(value=float(np.mean(values)), low=None, high=None, boots=len(values))
    low, high = (min(max(end, least), most) for end in ratio.t_interval(values, level))
    return Mean(value=float(np.mean(values)), low=low, high=high, boots=len(values))
