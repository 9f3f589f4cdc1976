"""Further runs where one run does not decide: at which level each is judged, and how long it is.

A gate that finds a row not known well enough may measure again. The data then decide whether there
is another run, and how many blocks it has, so that adding its blocks to the first ones and judging
the sum at the old level would raise the rate of false claims (Armitage, McPherson and Rowe 1969).
Here each run is judged by itself: run k, the first one being 1, at the level alpha / 2^k. Given
what was measured before, its number of blocks is a constant and its data are new, so a true
hypothesis is rejected in it with that chance at most, and in any of them with
alpha (1/2 + 1/4 + ...) < alpha, whatever made the runs before it inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import polars as pl

from pentathlon.evaluate.estimators.ratio import POWER, t_quantile
from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.multiplicity.holm import workload_weights
from pentathlon.evaluate.planning.alpha_spending import fixed
from pentathlon.evaluate.planning.deciding import block_seconds
from pentathlon.evaluate.planning.fewest import fewest

MOST_RUNS = 6
"""The most runs of one gate; the last one is judged at alpha / 64."""
FEWEST_BLOCKS = 3


class Open(Frozen):
    """A row that is not known well enough: its mean log-ratio (+ is faster), and the standard
    deviation of its blocks."""

    key: str
    workload: str
    system: str
    mean: float | None = None
    sd: float | None = None


def confidence_of(confidence: float, run: int) -> float:
    """Confidence at which a run is judged.

    Args:
        confidence: that of the whole.
        run: its number, the first one being 1.
    """
    return 1.0 - (1.0 - confidence) / 2.0**run


def blocks_for(
    rows: Sequence[Open], confidence: float, delta: float, *, only_by_delta: bool
) -> int | None:
    """Blocks of a new run from which each row is known with power 0.8; None where not one is.

    Args:
        rows: those that are open, which are the family of the new run.
        confidence: at which the new run is judged.
        delta: half width of the region of equivalence as a log-ratio.
        only_by_delta: only slowdowns of at least delta are regressions.
    """
    needed = []
    for system in dict.fromkeys(one.system for one in rows):
        family = [one for one in rows if one.system == system]
        weights = workload_weights([one.workload for one in family])
        for one, weight in zip(family, weights, strict=True):
            # The level of the first step of Holm's procedure; later ones are wider.
            level = (1.0 - confidence) * float(weight) / len(family)
            found = _blocks(one, level, delta, only_by_delta=only_by_delta)
            if found is not None:
                needed.append(found)
    return max(needed, default=None)


def _blocks(one: Open, level: float, delta: float, *, only_by_delta: bool) -> int | None:
    if one.mean is None or one.sd is None or not math.isfinite(one.mean + one.sd):
        return None
    # The farther of two borders: of "not slower by delta or more", and of "slower".
    slower = -one.mean - delta if only_by_delta else -one.mean
    distance = max(one.mean + delta, slower)
    if distance <= 0.0:
        return None
    sd = one.sd

    def enough(blocks: int) -> bool:
        free, nominal = blocks - 1.0, fixed(blocks).nominal(level)
        needed = t_quantile(nominal, free) + t_quantile(2.0 * (1.0 - POWER), free)
        return needed * sd / math.sqrt(blocks) <= distance

    return fewest(enough, FEWEST_BLOCKS)


def block_seconds_of(samples: pl.DataFrame, workloads: Collection[str]) -> float | None:
    """Mean time of a block with these workloads alone, by a run with more; None if unknown.

    The time between two samples of a boot belongs to the later one's workload, and what remains of
    a block, such as the boots, is needed for any workload.
    """
    whole = block_seconds(samples)
    if whole is None:
        return None
    between = (
        samples.select(
            "boot",
            "workload",
            pl.col("utc").str.to_datetime(format="%+", time_zone="UTC", strict=False),
        )
        .drop_nulls()
        .sort("utc")
        .with_columns(pl.col("utc").diff().over("boot").dt.total_microseconds().alias("us"))
    )
    left_out = between.filter(~pl.col("workload").is_in(list(workloads)))
    other = float(left_out.select(pl.col("us").sum()).item() or 0)
    return max(whole - other / 1e6 / max(1, samples["block"].n_unique()), whole / 100.0)
