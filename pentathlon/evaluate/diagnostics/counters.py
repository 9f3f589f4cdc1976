"""Beside a difference of speed: which counters differ too. Candidates for a reader, not causes.

For each counter the boots' values are paired by block, as the speeds are. The sign test needs no
assumption about their distribution, which counts of rare events do not have (Conover 1999,
section 3.4); with n blocks it can give no p value below 2^(1−n).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import scipy

from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_series import Candidate, Why

MOST = 4
LEVEL = 0.1
FEWEST_BLOCKS = 4
SMALLEST_CHANGE = 0.05
"""A counter that changes by less than 5 % is no candidate."""


@dataclass(frozen=True)
class Counter:
    """A quantity made of the counters beside a sample."""

    name: str
    title: str
    unit: str
    value: pl.Expr
    noise: float
    """Smallest difference that is reported, in the unit."""


def _each(name: str) -> pl.Expr:
    return pl.col(name) / pl.col("batch")


def _share(*names: str) -> pl.Expr:
    return (
        pl.sum_horizontal(*(pl.col(n) for n in names), ignore_nulls=False)
        / pl.col("elapsed_ns")
        * 100.0
    )


COUNTERS = (
    Counter("minor_faults", "page faults without input", "per operation", _each("minor_faults"),
            1e-4),
    Counter("major_faults", "page faults with input", "per operation", _each("major_faults"), 1e-6),
    Counter("voluntary_switches", "voluntary context switches", "per operation",
            _each("voluntary_switches"), 1e-4),
    Counter("involuntary_switches", "involuntary context switches", "per second",
            pl.col("involuntary_switches") / pl.col("elapsed_ns") * 1e9, 1.0),
    Counter("interrupts", "interrupts of the whole system", "per second",
            pl.col("interrupts") / pl.col("elapsed_ns") * 1e9, 10.0),
    Counter("system_share", "CPU time in the kernel", "% of the time", _share("cpu_system_ns"),
            1.0),
    Counter("cpu_share", "CPU time", "% of the time", _share("cpu_user_ns", "cpu_system_ns"), 1.0),
    Counter("steal_share", "time kept by the hypervisor", "% of the time", _share("steal_ns"), 0.5),
    Counter("frequency", "CPU frequency", "MHz", pl.col("frequency_khz") / 1000.0, 10.0),
    Counter("instructions", "instructions", "per operation", _each("instructions"), 0.5),
    Counter("cycles", "cycles", "per operation", _each("cycles"), 0.5),
    Counter("instructions_per_cycle", "instructions per cycle", "",
            pl.col("instructions") / pl.col("cycles"), 0.01),
)  # fmt: skip
"""Counts of the work are given per operation, so that a faster system does not seem to do more."""


def find_why(used: pl.DataFrame, rows: Sequence[Row], reference: str) -> tuple[Why, ...]:
    """Candidates beside every difference that was shown; rows without any are left out."""
    wanted = [
        (row.key, one.system)
        for row in rows
        for one in row.comparisons
        if one.verdict.is_difference
    ]
    if not wanted:
        return ()
    keys = list(dict.fromkeys(key for key, _ in wanted))
    boots = (
        used.filter(pl.col("key").is_in(keys) & (pl.col("elapsed_ns") > 0) & (pl.col("batch") > 0))
        .group_by("key", "system", "block")
        .agg(counter.value.mean().alias(counter.name) for counter in COUNTERS)
    )
    values: dict[tuple[str, str], dict[int, Mapping[str, float | None]]] = {}
    for row in boots.iter_rows(named=True):
        values.setdefault((row["key"], row["system"]), {})[row["block"]] = row
    found = []
    for key, system in wanted:
        own, base = values.get((key, system), {}), values.get((key, reference), {})
        candidates = sorted(_candidates(own, base), key=lambda one: -_change(one))
        if candidates:
            found.append(Why(key=key, system=system, candidates=tuple(candidates[:MOST])))
    return tuple(found)


def _candidates(
    own: Mapping[int, Mapping[str, float | None]], base: Mapping[int, Mapping[str, float | None]]
) -> Iterator[Candidate]:
    for counter in COUNTERS:
        pairs = [
            (value, other)
            for block in sorted(own.keys() & base.keys())
            if (value := own[block][counter.name]) is not None
            and (other := base[block][counter.name]) is not None
        ]
        if len(pairs) < FEWEST_BLOCKS:
            continue
        value = sum(pair[0] for pair in pairs) / len(pairs)
        other = sum(pair[1] for pair in pairs) / len(pairs)
        up = value > other
        moved = [pair for pair in pairs if pair[0] != pair[1]]
        agreeing = sum((pair[0] > pair[1]) is up for pair in moved)
        if not moved or abs(value - other) < counter.noise:
            continue
        candidate = Candidate(
            counter=counter.name,
            title=counter.title,
            unit=counter.unit,
            reference=other,
            value=value,
            agreeing=agreeing,
            blocks=len(pairs),
            p=float(scipy.stats.binomtest(agreeing, len(moved)).pvalue),
        )
        if (candidate.p <= LEVEL or agreeing == len(pairs)) and _change(
            candidate
        ) >= SMALLEST_CHANGE:
            yield candidate


def _change(one: Candidate) -> float:
    """Difference relative to the larger side, from 0 to 1: it needs no base that is not 0."""
    return abs(one.value - one.reference) / max(abs(one.value), abs(one.reference))
