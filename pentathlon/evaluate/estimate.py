"""From samples to boot means and summaries: the boot is the unit, iterations only its content."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pentathlon.evaluate import published
from pentathlon.evaluate.cases import order
from pentathlon.evaluate.facts import case_of
from pentathlon.evaluate.model import BootMean, Summary
from pentathlon.evaluate.titles import Titles


@dataclass(frozen=True)
class Series:
    """One metric and case on one system."""

    key: str
    system: str
    workload: str
    metric: str
    case_json: str
    unit: str
    direction: str
    units: int
    """Number of different (unit, direction) pairs among the samples: 1 if all is well."""
    checksums: frozenset[str]
    lowest: float
    """The smallest sample; NaN where one is not a finite number."""
    summary: Summary
    blocks: dict[int, float]
    """Block -> boot mean."""
    installs: dict[int, str] = field(default_factory=dict)
    """Block -> the install that was booted."""
    elapsed_ns: float = 0.0
    """Median time of a sample by the clock that timed it; 0 where none is known."""


def place(one: Series, titles: Titles) -> tuple[object, ...]:
    """Sort key of rows: the catalog's order, of cases those with categories before numbers."""
    return titles.place(one.workload, one.metric), order(case_of(one.case_json)), one.key


def value_objection(own: Series, other: Series, *, zero_allowed: bool = False) -> str | None:
    """Why the values of two systems cannot be compared, or None.

    Args:
        zero_allowed: zero is a value of this metric.
    """
    if own.units > 1 or other.units > 1 or own.unit != other.unit:
        return f"the units differ ({other.unit} and {own.unit})"
    if own.direction != other.direction:
        return f"the directions differ ({other.direction} and {own.direction} is better)"
    if math.isnan(own.lowest + other.lowest):
        return "a sample is not a finite number"
    lowest = min(own.lowest, other.lowest)
    if lowest < 0 or (lowest == 0 and not zero_allowed):
        return "a sample is zero or negative, which no time or rate of finished work can be"
    return None


def counted(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples that the evaluation uses: of finished steps, without warm-up."""
    return samples.filter(pl.col("counted") & (pl.col("phase") == "measure"))


def series(used: pl.DataFrame) -> dict[tuple[str, str], Series]:
    """(key, system) -> what was measured there.

    A block has one boot of each system. If a boot was repeated after a cut, the samples of all its
    attempts are one boot's content, as the procedure runs each step in one of them only.
    """
    boots = (
        used.group_by("key", "system", "block")
        .agg(mean_of_values(), pl.col("install").first())
        .sort("key", "system", "block")
        .group_by("key", "system", maintain_order=True)
        .agg("block", "value", "install")
    )
    measured = (
        used.group_by("key", "system")
        .agg(
            pl.col("workload").first(),
            pl.col("metric").first(),
            pl.col("case_json").first(),
            pl.col("unit").min(),
            pl.col("direction").min(),
            pl.struct("unit", "direction").n_unique().alias("units"),
            pl.col("checksum").drop_nulls().unique().alias("checksums"),
            pl.len().alias("samples"),
            pl.col("elapsed_ns").median().alias("elapsed_ns"),
            pl.col("value").min().alias("minimum"),
            pl.col("value").max().alias("maximum"),
            pl.col("value").is_finite().all().alias("finite"),
            deviation_of_values().alias("sd"),
        )
        .join(boots, on=["key", "system"])
        .sort("key", "system")
    )
    return {(row["key"], row["system"]): _series(row) for row in measured.iter_rows(named=True)}


HALVINGS = 2.0**-80
"""A power of two: sums of scaled values are numbers, and no digit of a normal number is lost."""


def mean_of_values() -> pl.Expr:
    """Mean of the column `value` in a group, also where the sum is no floating-point number."""
    mean = pl.col("value").mean()
    scaled = (pl.col("value") * HALVINGS).mean() / HALVINGS
    return (
        pl.when(mean.is_infinite() & pl.col("value").is_finite().all())
        .then(scaled)
        .otherwise(mean)
        .alias("value")
    )


def deviation_of_values() -> pl.Expr:
    """Standard deviation of the column `value` in a group, also where squares are no numbers."""
    largest = pl.col("value").abs().max()
    scaled = (pl.col("value") / largest).std(ddof=1) * largest
    extreme = (largest > published.MOST) | (largest < published.LEAST)
    return pl.when(extreme & (largest > 0)).then(scaled).otherwise(pl.col("value").std(ddof=1))


def _series(row: dict[str, object]) -> Series:
    blocks, values, installs = row["block"], row["value"], row["install"]
    assert isinstance(blocks, list) and isinstance(values, list) and isinstance(installs, list)
    means = np.array(values, dtype=np.float64)
    deviation = published.deviation_percent(means)
    # One boot deviates from nothing, which is not to lie within 0 % of a mean.
    known = len(means) > 1 and bool(np.isfinite(deviation))
    several = len(set(installs)) > 1
    summary = Summary(
        system=str(row["system"]),
        samples=_number(row["samples"]),
        boots=len(means),
        mean=published.mean(means),
        minimum=_real(row["minimum"]),
        maximum=_real(row["maximum"]),
        sd=None if row["sd"] is None else _real(row["sd"]),
        boot_sd=published.deviation(means) if len(means) > 1 else None,
        deviation_percent=deviation if known else None,
        within_one_percent=deviation <= published.TOLERANCE_PERCENT if known else None,
        boot_means=tuple(
            BootMean(block=block, value=value, install=str(install or "") if several else "")
            for block, value, install in zip(blocks, values, installs, strict=True)
        ),
    )
    checksums = row["checksums"]
    assert isinstance(checksums, list)
    return Series(
        key=str(row["key"]),
        system=summary.system,
        workload=str(row["workload"]),
        metric=str(row["metric"]),
        case_json=str(row["case_json"] or ""),
        unit=str(row["unit"]),
        direction=str(row["direction"]),
        units=_number(row["units"]),
        checksums=frozenset(str(one) for one in checksums if one),
        lowest=summary.minimum if row["finite"] else math.nan,
        summary=summary,
        blocks=dict(zip(blocks, values, strict=True)),
        installs=dict(zip(blocks, installs, strict=True)),
        elapsed_ns=0.0 if row["elapsed_ns"] is None else _real(row["elapsed_ns"]),
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _real(value: object) -> float:
    assert isinstance(value, float)
    return value
