"""Leave samples out by the study's rules, and count what was left out, system by system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import scipy

from pentathlon.evaluate.diagnostics.share import FEWEST_STEPS, USUAL_RESOLUTION_NS
from pentathlon.evaluate.model_series import Excluded
from pentathlon.study.exclusion import Exclusion

UNEVEN = 0.01
"""Level at which a rule is reported to have excluded the systems unevenly."""

STEP = "cpu_step_ns"
"""Column with the resolution of a system's CPU clock while rules are applied."""


def _seconds() -> pl.Expr:
    return pl.col("elapsed_ns") / 1e9


def quantity(name: str) -> pl.Expr:
    """The expression of a quantity (`pentathlon.study.exclusion.QUANTITIES`) over a sample."""
    cpu_ns = pl.col("cpu_user_ns") + pl.col("cpu_system_ns")
    return {
        "steal_percent": pl.col("steal_ns") / pl.col("elapsed_ns") * 100.0,
        "run_delay_percent": pl.col("run_delay_ns") / pl.col("elapsed_ns") * 100.0,
        "lost_cpu_percent": pl.when(
            (pl.col("voluntary_switches") == 0)
            & (pl.col("elapsed_ns") >= FEWEST_STEPS * pl.col(STEP))
        ).then(100.0 - cpu_ns / pl.col("elapsed_ns") * 100.0),
        "cpu_percent": cpu_ns / pl.col("elapsed_ns") * 100.0,
        "interrupts_per_s": pl.col("interrupts") / _seconds(),
        "involuntary_switches_per_s": pl.col("involuntary_switches") / _seconds(),
        "frequency_mhz": pl.col("frequency_khz") / 1000.0,
    }.get(name, pl.col(name).cast(pl.Float64))


def _hit(rule: Exclusion) -> pl.Expr:
    value = quantity(rule.quantity)
    return {
        "<": value < rule.limit,
        "<=": value <= rule.limit,
        ">": value > rule.limit,
        ">=": value >= rule.limit,
    }[rule.sign]


def exclude(
    used: pl.DataFrame,
    rules: Sequence[Exclusion],
    systems: Sequence[str],
    steps: Mapping[str, float] | None = None,
) -> tuple[pl.DataFrame, tuple[Excluded, ...]]:
    """The samples that no rule leaves out, and what each rule left out.

    A sample beside which the system does not report the quantity is kept: it is counted as untold.

    Args:
        used: counted, measured samples.
        systems: the reference first.
        steps: resolution of the systems' CPU clocks in nanoseconds, where it is known.
    """
    if not rules:
        return used, ()
    used = used.with_columns(
        pl.col("system")
        .replace_strict(dict(steps or {}), default=USUAL_RESOLUTION_NS, return_dtype=pl.Float64)
        .alias(STEP)
    )
    found = []
    keep = pl.lit(True)
    for rule in rules:
        hit = _hit(rule)
        keep &= ~hit.fill_null(False)
        values = {
            name: (samples, hits, untold)
            for name, samples, hits, untold in used.group_by("system")
            .agg(pl.len().alias("n"), hit.sum().alias("hit"), hit.is_null().sum().alias("untold"))
            .iter_rows()
        }
        base = values.get(systems[0], (0, 0, 0))
        for place, name in enumerate(systems):
            samples, hits, untold = values.get(name, (0, 0, 0))
            table = np.array([[hits, samples - hits], [base[1], base[0] - base[1]]])
            found.append(
                Excluded(
                    rule=rule.text,
                    system=name,
                    samples=samples,
                    excluded=hits,
                    untold=untold,
                    p_uneven=float(scipy.stats.fisher_exact(table)[1]) if place else None,
                )
            )
    return used.filter(keep).drop(STEP), tuple(found)


def cautions(found: Sequence[Excluded], system: str) -> tuple[str, ...]:
    """What the rules' uneven effect means for a comparison, one sentence each."""
    parts = []
    for one in found:
        if one.system != system or one.p_uneven is None or one.p_uneven >= UNEVEN:
            continue
        base = next(other for other in found if other.rule == one.rule)
        parts.append(
            f'the rule "{one.rule}" left out {_share(one)} of the samples of {one.system} and '
            f"{_share(base)} of those of {base.system}; a disturbance that depends on the system "
            "may be part of the difference"
        )
    return tuple(parts)


def _share(one: Excluded) -> str:
    return f"{one.excluded / max(one.samples, 1) * 100:.1f}\N{NO-BREAK SPACE}%"
