"""Scaling of a workload in its number of repetitions (venkata2003, section 5.2).

The paper's finding is a line: "all three implementation schemes scale linearly with the number of
repetitions", and its slope tells the styles of call apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import REPETITIONS, case_text, number, without
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model import Row, Scaling
from pentathlon.evaluate.values import Values

FEWEST_POINTS = 3


@dataclass(frozen=True)
class Line:
    """y = intercept + slope · x with the share of variance that it explains."""

    slope: float
    intercept: float
    r_squared: float
    worst_percent: float
    """Largest residual in percent of the fitted value."""


def least_squares(x: Values, y: Values) -> Line:
    """Ordinary least squares: slope = Σ(x−x̄)(y−ȳ) / Σ(x−x̄)², R² = 1 − Σe² / Σ(y−ȳ)².

    Source: Draper and Smith 1998, sections 1.2 and 1.3. At least two different x are needed.
    """
    across, up = x - x.mean(), y - y.mean()
    slope = float(across @ up / (across @ across))
    intercept = float(y.mean() - slope * x.mean())
    fitted = intercept + slope * x
    residual = y - fitted
    total = float(up @ up)
    r_squared = 1.0 if total == 0 else 1.0 - float(residual @ residual) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.abs(residual / fitted)
    finite = relative[np.isfinite(relative)]
    worst = float(finite.max() * 100.0) if len(finite) else 0.0
    return Line(slope, intercept, r_squared, worst)


def find_scalings(rows: Sequence[Row], systems: Sequence[str], level: float) -> tuple[Scaling, ...]:
    """The line of every metric with the factor `repetitions`, on every system.

    The slope is fitted in each boot, and its interval comes from the spread between boots.
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if number(row.case, REPETITIONS) is not None and row.direction == "lower":
            name = case_text(without(row.case, REPETITIONS))
            groups.setdefault((row.workload, row.metric, name), []).append(row)
    found = []
    for (workload, metric, name), members in groups.items():
        for system in systems:
            lines = _fit(members, system, level)
            if lines is None:
                continue
            whole, slope, interval, points = lines
            found.append(
                Scaling(
                    system=system,
                    workload=workload,
                    metric=metric,
                    case_text=name,
                    unit=members[0].unit,
                    points=points,
                    slope=slope,
                    slope_low=interval[0],
                    slope_high=interval[1],
                    intercept=whole.intercept,
                    r_squared=whole.r_squared,
                    worst_percent=whole.worst_percent,
                )
            )
    return tuple(found)


Points = tuple[tuple[float, float], ...]
Interval = tuple[float, float] | tuple[None, None]


def _fit(
    rows: Sequence[Row], system: str, level: float
) -> tuple[Line, float, Interval, Points] | None:
    """(line through the means, mean slope of the boots, its interval, points) of one system."""
    points: list[tuple[float, float]] = []
    boots: dict[int, list[tuple[float, float]]] = {}
    for row in rows:
        summary, repetitions = row.summary(system), number(row.case, REPETITIONS)
        if summary is None or repetitions is None:
            continue
        points.append((repetitions, summary.mean))
        for boot in summary.boot_means:
            boots.setdefault(boot.block, []).append((repetitions, boot.value))
    points.sort()
    if len(points) < FEWEST_POINTS:
        return None
    whole = least_squares(*np.array(points, dtype=np.float64).T)
    complete = [own for own in boots.values() if len(own) == len(points)]
    slopes = np.array([least_squares(*np.array(own, dtype=np.float64).T).slope for own in complete])
    interval: Interval = ratio.t_interval(slopes, level) if len(slopes) > 1 else (None, None)
    slope = float(slopes.mean()) if len(slopes) else whole.slope
    return whole, slope, interval, tuple(points)
