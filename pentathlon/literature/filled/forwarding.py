"""Figures of IP forwarding that salah2010 gives in its text (sections 3.1 and 3.2).

Over the offered loads without a competitor, in each boot:

    capacity    highest throughput, packets per second ("maximum forwarding capacity")
    peak        load at which it is reached
    sustained   throughput at the highest load
    delay       lowest load at which the round-trip time is more than twice that at the lowest load
    idle        lowest load that leaves less than 1 % of the CPU

The paper reads the last two off its curves and gives no rule; those here are ours. Loads are as
measured: the knee lies between one load and the next, so `delay` and `idle` have no interval.
Beside the competitor: the change of the capacity and of the delay in percent, and of the share lost
in percentage points, from `Competition`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pentathlon.evaluate.cases import number
from pentathlon.evaluate.derived import wording
from pentathlon.evaluate.derived.forwarding import COMPETITOR, LISTED, NONE, WORKLOAD, groups
from pentathlon.evaluate.model import Evaluation, Row
from pentathlon.literature.filled.figure import Figure, of_mean

TIMES_THE_LEAST = 2.0
NOTHING_LEFT_PERCENT = 1.0

Boots = dict[int, dict[float, float]]
"""Block -> load in thousands of packets per second -> mean of the boot."""


def find(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """A figure of one system; None if the result measured none of it."""
    if part == "beside":
        return _beside(evaluation, system, what)
    level = 1 - evaluation.study.confidence
    for factor, _, rows in groups(evaluation.rows):
        if factor != LISTED:
            continue
        alone = [row for row in rows if row.case.get(COMPETITOR, NONE) == NONE]
        if what in ("capacity", "peak", "sustained"):
            return _throughput(_boots(alone, "throughput", system), what, level)
        if what == "delay":
            times = _boots(alone, "round_trip", system)
            return _first(times, lambda least, value: value > TIMES_THE_LEAST * least)
        left = _boots(alone, "cpu_available", system)
        return _first(left, lambda _, value: value < NOTHING_LEFT_PERCENT)
    return _searched(evaluation, system, level) if what == "capacity" else None


def _boots(rows: list[Row], metric: str, system: str) -> Boots:
    found: Boots = {}
    for row in rows:
        summary, load = row.summary(system), number(row.case, LISTED)
        if row.metric == metric and summary is not None and load is not None:
            for boot in summary.boot_means:
                found.setdefault(boot.block, {})[load] = boot.value
    return found


def _throughput(boots: Boots, what: str, level: float) -> Figure | None:
    if not boots:
        return None
    if what == "sustained":
        values = [own[max(own)] for own in boots.values()]
    elif what == "peak":
        values = [1e3 * max(own, key=lambda load: own[load]) for own in boots.values()]
    else:
        values = [max(own.values()) for own in boots.values()]
    return of_mean(wording.mean(values, level, 0))


def _first(boots: Boots, reached: Callable[[float, float], bool]) -> Figure | None:
    """The lowest load that reached it, by the means over the boots, in packets per second."""
    means: Mapping[float, float] = {
        load: float(np.mean([own[load] for own in boots.values() if load in own]))
        for load in sorted({load for own in boots.values() for load in own})
    }
    if not means:
        return None
    least = means[min(means)]
    found = next((load for load, value in means.items() if reached(least, value)), None)
    if found is None:
        return Figure(why=f"not up to {max(means):g} thousand packets/s, the highest load")
    return Figure(1e3 * found, at="the lowest of the measured loads that reached it")


def _searched(evaluation: Evaluation, system: str, level: float) -> Figure | None:
    """The load that a search found, in a study without listed loads."""
    for row in evaluation.rows:
        if (row.workload, row.metric) == (WORKLOAD, "knee"):
            summary = row.summary(system)
            if summary is not None:
                return of_mean(wording.mean([boot.value for boot in summary.boot_means], level, 0))
    return None


def _beside(evaluation: Evaluation, system: str, what: str) -> Figure | None:
    one = next((one for one in evaluation.derived.competitions if one.system == system), None)
    if one is None or what == "lost":
        return None if one is None else of_mean(one.lost)
    ratio = one.capacity if what == "capacity" else one.delay
    if ratio is None:
        return None
    low, high = (None if end is None else 100 * (end - 1) for end in (ratio.low, ratio.high))
    return Figure(100 * (ratio.value - 1), low, high)
