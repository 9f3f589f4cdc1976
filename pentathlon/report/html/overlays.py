"""The figures of salah2010: every metric over offered load, systems and competitors overlaid.

One panel for each metric, in the order of the paper's figures, with one line for each system and
competitor and the interval of each point over the boots; then what the competitor changes at each
load. `assets/overlays.js` draws what is laid out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pentathlon.evaluate.cases import case_text, number
from pentathlon.evaluate.derived.forwarding import (
    COMPETITOR,
    LISTED,
    NONE,
    SEARCHED,
    WORKLOAD,
    groups,
)
from pentathlon.evaluate.derived.model import Competition, LoadChange, Mean
from pentathlon.evaluate.derived.series import mean_of
from pentathlon.evaluate.model import Evaluation, Row
from pentathlon.report.html.gaps import missing

PICTURED = WORKLOAD
"""The workload whose pictures these are."""

X_TITLES = {
    LISTED: "offered load, thousands of packets per second",
    SEARCHED: "offered load, % of the highest that each boot forwards alone",
}
"""Factor of the loads -> the axis."""

CAPTION = (
    "Over offered load, as figures 2 to 6 of salah2010: solid without a competitor for the CPU, "
    "dashed and hollow beside it. Points are means of the boots, bars their intervals; a dotted "
    "line is what was offered. The last pictures are what the competitor changes at each load. "
    "Loads that were searched are shares of each boot's own limit, which the tables have (knee)."
)

PANELS: dict[str, tuple[str, bool]] = {
    "throughput": ("Fig. 2a, 5a, 6a", False),
    "lost": ("Fig. 2b, 5b, 6b", False),
    "round_trip": ("Fig. 3, 5c, 6c", True),
    "cpu_available": ("Fig. 4a", False),
    "cpu_idle": ("Fig. 4a", False),
    "interrupts_in": ("Fig. 4b", False),
    "interrupts_out": ("Fig. 4b", False),
    "softirq_rate": ("Fig. 4b", False),
    "round_trip_median": ("", True),
    "round_trip_p90": ("", True),
    "round_trip_p99": ("", True),
    "round_trip_p999": ("", True),
    "round_trip_p9999": ("", True),
    "ping_round_trip": ("Fig. 3, ICMP", True),
    "competitor_speed": ("", False),
    "offered_load": ("", False),
}
"""Metric -> the paper's figures of it, and whether its axis is logarithmic."""

OFFERED = frozenset({"throughput", "offered_load"})
"""Metrics beside which a line of what was requested states something."""

SHARES = frozenset({"lost"})
"""What is counted as a share of a whole, in percent, so that it is never more than 100."""

CHANGES: tuple[tuple[str, str, str, Callable[[LoadChange], Mean | None]], ...] = (
    ("throughput", "Throughput, change by the competitor", "%", lambda one: one.throughput),
    ("lost", "Loss, change by the competitor", "percentage points", lambda one: one.lost),
    ("round_trip", "Round-trip time, change by the competitor", "%", lambda one: one.delay),
)


def payload(evaluation: Evaluation, short: Callable[[float], Any]) -> list[dict[str, Any]]:
    """The panels, with short names.

    Each panel has `t` title, `f` the paper's figures, `u` unit, `g` 1 for a logarithmic axis, `o` 1
    where a line of what was offered belongs, `x` the title of its axis, and `l` lines of [system,
    competitor, points], with points of [load, mean, low, high]; the last three are None where the
    line breaks.
    """
    found = list(groups(evaluation.rows))
    if not found:
        return []
    level = 1 - evaluation.study.confidence
    present = dict.fromkeys(
        str(row.case.get(COMPETITOR, NONE)) for _, _, rows in found for row in rows
    )
    competitors = sorted(present, key=lambda name: name != NONE)
    several = len({case_text(setting) for _, setting, _ in found}) > 1
    panels: list[dict[str, Any]] = []
    for factor, case, own in found:
        setting = case_text(case)
        name = f", {setting}" if several else ""
        axis = X_TITLES[factor]
        for metric, (figures, logarithmic) in PANELS.items():
            if measured := [row for row in own if row.metric == metric]:
                lines = _lines(evaluation, (factor, measured), competitors, level, short)
                panels.append(
                    {
                        "t": measured[0].title + name, "f": figures, "u": measured[0].unit,
                        "g": int(logarithmic), "x": axis,
                        "o": int(metric in OFFERED and factor == LISTED), "l": list(lines),
                    }
                )  # fmt: skip
        alike = [
            one
            for one in evaluation.derived.competitions
            if (one.case_text, one.factor) == (setting, factor)
        ]
        loads = sorted({load for row in own if (load := number(row.case, factor)) is not None})
        changes = _changes(evaluation, (alike, loads), competitors, name, short)
        panels += [{**one, "x": axis} for one in changes]
    return [{"w": WORKLOAD, "c": competitors, "p": panels}]


def words(evaluation: Evaluation) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(system, competitor and case, sentences) on what each competitor changes."""
    several = len({one.case_text for one in evaluation.derived.competitions}) > 1
    for one in evaluation.derived.competitions:
        case = f", {one.case_text}" if several else ""
        yield one.system, f"beside {one.competitor}{case}", one.words


def limit_words(evaluation: Evaluation) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(system, case, sentences) on the rates that the searches found."""
    for case in dict.fromkeys(one.case_text for one in evaluation.derived.limits):
        for system in evaluation.systems:
            own = sorted(
                (
                    one
                    for one in evaluation.derived.limits
                    if (one.system, one.case_text) == (system.name, case)
                ),
                key=lambda one: one.criterion,
                reverse=True,  # Without loss first, then with little.
            )
            if own:
                yield system.name, case, tuple(words for one in own for words in one.words)


def _lines(
    evaluation: Evaluation,
    loaded: tuple[str, Iterable[Row]],
    competitors: list[str],
    level: float,
    short: Callable[[float], Any],
) -> Iterator[list[Any]]:
    factor, rows = loaded
    ordered = sorted(rows, key=lambda row: number(row.case, factor) or 0.0)
    for place, system in enumerate(evaluation.systems):
        for which, competitor in enumerate(competitors):
            own = [row for row in ordered if str(row.case.get(COMPETITOR, NONE)) == competitor]
            points: list[list[Any]] = []
            for row in own:
                if (summary := row.summary(system.name)) is None:
                    continue
                boots = np.array([boot.value for boot in summary.boot_means])
                load = number(row.case, factor) or 0.0
                most = 100.0 if row.metric in SHARES else math.inf
                mean = mean_of(boots, level, least=0, most=most)
                points.append([short(load), *ends(mean, short)])
            if points:
                breaks = missing(evaluation, system.name, factor, own)
                points += [[short(load), None, None, None] for load in breaks]
                yield [place, which, sorted(points, key=lambda point: point[0])]


def _changes(
    evaluation: Evaluation,
    changed: tuple[list[Competition], list[float]],
    competitors: list[str],
    name: str,
    short: Callable[[float], Any],
) -> Iterator[dict[str, Any]]:
    alike, loads = changed
    names = [system.name for system in evaluation.systems]
    for _, title, unit, take in CHANGES:
        lines = []
        for one in alike:
            found = {change.load: take(change) for change in one.each}
            # A load that one side lacks breaks the line; one that is beyond both ends it.
            points = [
                [short(load), *(ends(_shown(mean, unit), short) if mean else [None] * 3)]
                for load in loads
                for mean in [found.get(load)]
            ]
            if any(point[1] is not None for point in points):
                lines.append([names.index(one.system), competitors.index(one.competitor), points])
        if lines:
            yield {
                "t": title + name, "f": "Fig. 5 and 6", "u": unit, "g": 0, "o": 0, "l": lines,
                "z": 1,
            }  # fmt: skip


def _shown(mean: Mean, unit: str) -> Mean:
    """A ratio as a change in percent; differences stay."""
    if unit != "%":
        return mean
    ends = (None if end is None else 100 * (end - 1) for end in (mean.low, mean.high))
    low, high = ends
    return Mean(value=100 * (mean.value - 1), low=low, high=high, boots=mean.boots)


def ends(mean: Mean, short: Callable[[float], Any]) -> list[Any]:
    return [None if v is None else short(v) for v in (mean.value, mean.low, mean.high)]
