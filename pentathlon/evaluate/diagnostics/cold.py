"""Cold performance: the first sample of every process, compared on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from pentathlon.evaluate import published
from pentathlon.evaluate.estimate import mean_of_values
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.welch import paired
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_series import Cold
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.values import Values


def find_cold(
    samples: pl.DataFrame, rows: Sequence[Row], reference: str, rate: float
) -> tuple[Cold, ...]:
    """The cold samples of every metric on every system.

    The first sample that a process reports for a case is taken, in whatever phase: what a program
    pays that does the work once. A boot's value is the mean over its processes. Holm's procedure
    holds over all cold comparisons of a system, which are a family of their own.
    """
    boots = (
        samples.filter(pl.col("counted"))
        .sort("key", "system", "block", "attempt", "process", "t_ns", maintain_order=True)
        .group_by("key", "system", "block", "attempt", "process", maintain_order=True)
        .agg(pl.col("value").first())
        .filter((pl.col("value") > 0) & pl.col("value").is_finite())
        .group_by("key", "system", "block", maintain_order=True)
        .agg(mean_of_values())
    )
    values: dict[tuple[str, str], dict[int, float]] = {}
    for key, system, block, value in boots.iter_rows():
        values.setdefault((key, system), {})[block] = value
    sampled = {row.key: _ratios(row, values, reference) for row in rows}
    shown = _shown(rows, sampled, rate)
    return tuple(
        _cold(
            row,
            summary.system,
            values[row.key, summary.system],
            np.array(sampled[row.key].get(summary.system, [])),
            rate,
        ).model_copy(update={"different": (row.key, summary.system) in shown})
        for row in rows
        for summary in row.summaries
        if (row.key, summary.system) in values
    )


Ratios = dict[str, list[float]]


def _ratios(row: Row, values: Mapping[tuple[str, str], dict[int, float]], reference: str) -> Ratios:
    """System -> log-ratios of its cold samples to the reference's, in block order."""
    base = values.get((row.key, reference), {})
    return {
        summary.system: [
            ratio.log_ratio(own[block], base[block], row.direction)
            for block in sorted(own.keys() & base.keys())
        ]
        for summary in row.summaries
        if summary.system != reference
        for own in [values.get((row.key, summary.system), {})]
    }


def _shown(rows: Sequence[Row], sampled: Mapping[str, Ratios], rate: float) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for system in {name for ratios in sampled.values() for name in ratios}:
        tested = [row for row in rows if len(sampled[row.key].get(system, ())) > 1]
        p_values = [paired(np.array(sampled[row.key][system])).p_different() for row in tested]
        weights = holm.workload_weights([row.workload for row in tested])
        chosen = holm.step_down(np.array(p_values), weights, rate).selected
        found |= {(row.key, system) for row, one in zip(tested, chosen, strict=True) if one}
    return found


def _cold(row: Row, system: str, own: dict[int, float], ratios: Values, rate: float) -> Cold:
    low = high = None
    if len(ratios) > 1:
        low, high = (ratio.percent(edge) for edge in paired(ratios).interval(rate))
    return Cold(
        key=row.key,
        system=system,
        boots=len(own),
        mean=published.mean(np.array(list(own.values()))),
        slower_percent=_slower(row, system, own),
        percent=ratio.percent(float(ratios.mean())) if len(ratios) else None,
        low_percent=low,
        high_percent=high,
        different=False,
    )


def _slower(row: Row, system: str, own: dict[int, float]) -> float | None:
    """exp(mean log(cold cost / counted cost)) − 1 over the boots, in percent."""
    summary = row.summary(system)
    if summary is None or summary.minimum <= 0:
        return None
    worse = "lower" if row.direction == "higher" else "higher"
    logs = [
        ratio.log_ratio(own[boot.block], boot.value, worse)
        for boot in summary.boot_means
        if boot.block in own
    ]
    return ratio.percent(float(np.mean(logs))) if logs else None
