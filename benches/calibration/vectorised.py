"""The judgement of a single row for many studies at once: the vectorised counterpart of the
evaluation.

`tests/evaluate/test_vectorised.py` checks on every kind of noise that it states what the evaluation
says. Levels of looks, the limits of the instability rule and the null distribution of the test on
order are taken from the evaluation itself; only the loops over studies are replaced by arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from pentathlon.evaluate.diagnostics import serial_correlation, stability
from pentathlon.evaluate.estimators.ratio import delta_log
from pentathlon.evaluate.planning.alpha_spending import BY_PRECISION, Levels, fixed, levels_at

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

DELTA = delta_log(1.0)


@dataclass(frozen=True)
class Verdicts:
    """What is stated of each study at the block where it stopped."""

    blocks: npt.NDArray[np.int64]
    mean: Values
    low: Values
    high: Values
    """Own interval at the study's confidence, repeated where there are looks."""
    p_value: Values
    unstable: Flags
    different: Flags
    """A difference is claimed: the interval excludes 0, and the row is not called unstable."""
    equivalent: Flags


def log_ratios(reference: Values, system: Values) -> Values:
    """ln(reference / system) of the boots' mean times: positive is faster."""
    return np.asarray(np.log(reference.mean(axis=2) / system.mean(axis=2)), dtype=np.float64)


def judge(
    ratios: Values, looks: tuple[int, ...], rate: float, one_look: Levels | None = None
) -> Verdicts:
    """Judge every study: trials x blocks of log-ratios.

    Args:
        looks: blocks after which a study may stop; a single one for a fixed number.
        one_look: levels of a study with a single look; None for those of a fixed number of blocks.
    """
    trials = len(ratios)
    entries = {
        name: np.zeros(trials)
        for name in ("blocks", "mean", "low", "high", "p_value", "unstable", "different", "equal")
    }
    going = np.ones(trials, dtype=np.bool_)
    for look in looks:
        at = np.flatnonzero(going)
        seen = ratios[at, :look]
        levels = levels_at(looks, look) if len(looks) > 1 else one_look or fixed(look)
        level = levels.nominal(rate)
        mean, error = seen.mean(axis=1), seen.std(axis=1, ddof=1) / np.sqrt(look)
        half = special.stdtrit(look - 1, 1.0 - level / 2.0) * error
        low, high = mean - half, mean + half
        shown = (low > 0) | (high < 0)
        equal = (low > -DELTA) & (high < DELTA)
        trouble = unstable(seen)
        separated = np.all(seen > 0, axis=1) | np.all(seen < 0, axis=1)
        refused = trouble & ~(shown & separated)
        stops = shown | equal | (look == looks[-1])
        found = {
            "blocks": np.full(len(at), look),
            "mean": mean,
            "low": low,
            "high": high,
            "p_value": 2.0 * special.stdtr(look - 1, -np.abs(mean) / error),
            "unstable": refused,
            "different": shown & ~refused,
            "equal": equal & ~shown & ~refused,
        }
        for name, values in found.items():
            entries[name][at[stops]] = values[stops]
        going[at[stops]] = False
    return Verdicts(
        entries["blocks"].astype(np.int64),
        entries["mean"],
        entries["low"],
        entries["high"],
        entries["p_value"],
        entries["unstable"].astype(np.bool_),
        entries["different"].astype(np.bool_),
        entries["equal"].astype(np.bool_),
    )


def judge_precision(
    ratios: Values, half_width_percent: float, minimum: int, rate: float
) -> Verdicts:
    """Judge every study by the rule `precision`; the number of columns is the maximum."""
    wanted = np.log1p(half_width_percent / 100)
    stop = np.full(len(ratios), ratios.shape[1])
    for blocks in range(ratios.shape[1] - 1, minimum - 1, -1):
        error = ratios[:, :blocks].std(axis=1, ddof=1) / np.sqrt(blocks)
        level = BY_PRECISION.nominal(rate)
        narrow = special.stdtrit(blocks - 1, 1.0 - level / 2.0) * error <= wanted
        stop = np.where(narrow, blocks, stop)
    parts: list[tuple[npt.NDArray[np.int64], Verdicts]] = []
    for blocks in np.unique(stop):
        at = np.flatnonzero(stop == blocks)
        parts.append((at, judge(ratios[at, :blocks], (int(blocks),), rate, BY_PRECISION)))
    order = np.argsort(np.concatenate([at for at, _ in parts]), kind="stable")
    return Verdicts(
        *(
            np.concatenate([getattr(found, field.name) for _, found in parts])[order]
            for field in fields(Verdicts)
        )
    )


def unstable(ratios: Values) -> Flags:
    """The rules of `stability.instability` and of `serial.dependence`, for many rows."""
    count = ratios.shape[1]
    found = np.zeros(len(ratios), dtype=np.bool_)
    if count >= stability.FEWEST_FOR_MODES:
        ordered = np.sort(ratios, axis=1)
        gaps = np.diff(ordered, axis=1)
        at = gaps.argmax(axis=1)
        rows = np.arange(len(ratios))
        gap = gaps[rows, at]
        widest = np.maximum(
            ordered[rows, at] - ordered[:, 0], ordered[:, -1] - ordered[rows, at + 1]
        )
        groups = np.minimum(at + 1, count - at - 1) >= stability.SMALLEST_GROUP
        found |= groups & (gap > stability.SMALLEST_GAP) & (gap > stability.GAP_OVER_RANGE * widest)
    if count >= stability.FEWEST_FOR_SPREAD:
        found |= ratios.std(axis=1, ddof=1) > stability.SPREAD
    if count >= serial_correlation.FEWEST_BLOCKS:
        ranks = stats.rankdata(ratios, axis=1)
        moves = np.sum(np.diff(ranks, axis=1) ** 2, axis=1)
        dependent = serial_correlation.p_values(moves, count) <= serial_correlation.LEVEL
        found |= dependent & (np.ptp(ratios, axis=1) > 0.0)
    return found
