"""The data of the pictures: compact JSON, embedded once in the page.

Places on an axis are given with seven significant digits, what is drawn at them with five, which no
screen can show; the exports hold the full precision.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from pentathlon.evaluate.cases import SIZE, case_text, number, without
from pentathlon.evaluate.display import KNOWN
from pentathlon.evaluate.facts import Inventory, ResultLike, inventories
from pentathlon.evaluate.levels.curves import claimed_caches
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.experiments import registry
from pentathlon.report.html import factorial, gaps, sweeps
from pentathlon.report.html.view import Area

DIGITS, SCREEN_DIGITS = 7, 5
ENDS = (
    "percent", "low_percent", "high_percent", "adjusted_low_percent", "adjusted_high_percent",
)  # fmt: skip
"""What is drawn of an effect."""


def payload(evaluation: Evaluation, result: ResultLike) -> dict[str, Any]:
    """Everything that the pictures draw, with short names (assets/report.js reads them)."""
    names = [system.name for system in evaluation.systems]
    inventories_of = inventories(result.inventory(), result.samples())
    verdicts = list(Verdict)
    return {
        "delta": evaluation.study.delta_percent,
        "confidence": evaluation.study.confidence,
        "systems": [{"name": system.name, "layer": system.layer} for system in evaluation.systems],
        "verdicts": [verdict.value for verdict in verdicts],
        "rows": [_row(row, names, verdicts) for row in evaluation.rows],
        "curves": [
            {
                "s": names.index(curve.system),
                "w": curve.workload,
                "i": curve.metric,
                "c": curve.case_text,
                "b": [[step.low_bytes, step.high_bytes] for step in curve.boundaries],
            }
            for curve in evaluation.curves
        ],
        "gaps": [
            [workload, case, names.index(system), size]
            for workload, case, system, size in gaps.of_sizes(evaluation)
        ],
        "caches": [
            [
                [cache.name, cache.size]
                for cache in claimed_caches(inventories_of.get(name, Inventory()))
            ]
            for name in names
        ],
        "scalings": [
            {
                "s": names.index(one.system),
                "w": one.workload,
                "c": one.case_text,
                "u": one.unit,
                "p": [[short(x), short(y)] for x, y in one.points],
                "a": short(one.intercept),
                "m": short(one.slope),
                "r": short(one.r_squared),
            }
            for one in evaluation.scalings
        ],
        "areas": _areas(evaluation, names),
        "sweeps": sweeps.payload(evaluation, short),
        **factorial.payload(evaluation, rounded),
        **{
            name: make(evaluation, result, short, rounded)
            for entry in registry.SHOWN
            for name, make in entry.data.items()
        },
        "samples": _samples(evaluation, result.samples(), names),
    }


def _areas(evaluation: Evaluation, names: list[str]) -> list[list[Any]]:
    """[system, area, ratio, low, high] of the mean of each area."""
    return [
        [
            names.index(whole.system),
            mean.name,
            *map(_ratio, (mean.percent, mean.low_percent, mean.high_percent)),
        ]
        for whole in evaluation.aggregates
        for mean in whole.means
        if mean.kind == "area" and whole.system in names
    ]


def tips(areas: Sequence[Area]) -> list[list[Any]]:
    """The tooltips of the cells of each row: [means, unit, judgements]."""
    found = {
        line.anchor: [
            [mean.detail for mean in line.means],
            line.better,
            [one.detail for one in line.judgements],
        ]
        for area in areas
        for part in area.parts
        for line in part.lines
    }
    return [found[f"row-{place}"] for place in range(len(found))]


def plain(data: dict[str, Any]) -> str:
    """The data as JSON."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def short(value: float | None, digits: int = DIGITS) -> float | int | None:
    """The number with so many significant digits; None where there is none."""
    if value is None or not math.isfinite(value):
        return None
    shortened = float(f"{value:.{digits}g}")
    return int(shortened) if shortened.is_integer() and abs(shortened) < 1e15 else shortened


def rounded(value: float | None) -> float | int | None:
    """A number with the digits that a screen can show."""
    return short(value, SCREEN_DIGITS)


def _row(row: Row, names: list[str], verdicts: list[Verdict]) -> dict[str, Any]:
    size = number(row.case, SIZE)
    summaries = [row.summary(name) for name in names]
    return {
        "k": row.key,
        "i": row.metric,
        "t": row.title,
        "c": row.case_text,
        "g": case_text(without(row.case, SIZE)),
        "a": row.area,
        "w": row.workload,
        "u": row.unit,
        "h": int(row.direction == "higher"),
        "o": int(not row.score),
        "x": None if size is None else int(size),
        "m": [None if one is None else rounded(one.mean) for one in summaries],
        "e": [_comparison(row.comparison(name), verdicts) for name in names],
    }


def _comparison(one: Comparison | None, verdicts: list[Verdict]) -> list[Any] | None:
    """[ratio, low, high, adjusted low, adjusted high, verdict], ratios of speed."""
    if one is None:
        return None
    ratios = [_ratio(None if one.effect is None else getattr(one.effect, name)) for name in ENDS]
    return [*ratios, verdicts.index(one.verdict)]


def _ratio(percent: float | None) -> float | int | None:
    """A speed in percent as a ratio, as far as one is known."""
    return None if percent is None else rounded(min(max(1 + percent / 100, 1 / KNOWN), KNOWN))


def _samples(evaluation: Evaluation, table: pl.DataFrame, names: list[str]) -> list[Any]:
    """For each row a list of boots: [system, block, order, warm-up samples, counted, values...].

    Every raw sample is there, those of warm-up and of cut-off steps too, in the order of the boots.
    """
    places = {row.key: place for place, row in enumerate(evaluation.rows)}
    found: list[list[Any]] = [[] for _ in evaluation.rows]
    boots = (
        table.sort("block", "order", "attempt", "process", "t_ns", maintain_order=True)
        .group_by("key", "system", "block", "order", "attempt", "counted", maintain_order=True)
        .agg((pl.col("phase") == "warmup").sum().alias("warm"), pl.col("value"))
    )
    for key, system, block, order, _, counted, warm, values in boots.iter_rows():
        place = places.get(key)
        if place is not None and system in names:
            found[place].append(
                [
                    names.index(system),
                    block,
                    order,
                    warm,
                    int(bool(counted)),
                    *(rounded(value) for value in values),
                ]
            )
    return found
