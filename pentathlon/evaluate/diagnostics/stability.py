"""The rule, declared beforehand, that calls a comparison unstable.

It looks at the log-ratios of the blocks, blind to which system is faster. What disturbs both
systems of a block alike cancels there; what remains is one system that is not always the same.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.values import Values

SPREAD = math.log(1.10)
"""Standard deviation of the log-ratios above which a row is unstable (10 %)."""
FEWEST_FOR_SPREAD = 3
FEWEST_FOR_MODES = 5
SMALLEST_GROUP = 2
GAP_OVER_RANGE = 6.0
"""Two modes: the gap between the groups is this many times the wider group."""
SMALLEST_GAP = math.log(1.02)
"""Gaps below 2 % are never called modes."""


def instability(log_ratios: Values) -> str | None:
    """What is unstable about the blocks, in words, or None.

    Modes: the sorted log-ratios split at their largest gap into two groups of at least 2 blocks,
    and the gap is above 2 % and above 6 times the range of the wider group (5 blocks or more).
    Spread: the standard deviation is above 10 % (3 blocks or more).
    """
    count = len(log_ratios)
    if count >= FEWEST_FOR_MODES:
        ordered = np.sort(log_ratios)
        at, gap = clear_gap(ordered)
        if gap is not None and min(at, count - at) >= SMALLEST_GROUP:
            return (
                f"the blocks fall into two groups ({at} and {count - at} of {count}) "
                f"that lie {ratio.percent(gap):.1f} % apart"
            )
    if count >= FEWEST_FOR_SPREAD:
        spread = float(np.std(log_ratios, ddof=1))
        if spread > SPREAD:
            factor = math.exp(min(spread, ratio.CUT))
            text = f"{(factor - 1) * 100:.0f} %" if factor < 2 else f"a factor of {factor:.2g}"
            return f"the blocks' ratios have a standard deviation of {text}"
    return None


def clear_gap(ordered: Values) -> tuple[int, float | None]:
    """How many values lie below the largest gap, and the gap; None where it makes no two groups.

    It is above 2 % and above 6 times the range of the wider group.
    """
    gaps = np.diff(ordered)
    at = int(np.argmax(gaps)) + 1
    gap = float(gaps[at - 1])
    widest = max(float(np.ptp(ordered[:at])), float(np.ptp(ordered[at:])))
    return at, gap if gap > SMALLEST_GAP and gap > GAP_OVER_RANGE * widest else None


def two_modes(log_ratios: Values) -> npt.NDArray[np.bool_]:
    """The rule for modes of `instability` for many rows: (...), from (..., blocks)."""
    count = log_ratios.shape[-1]
    if count < FEWEST_FOR_MODES:
        return np.zeros(log_ratios.shape[:-1], dtype=np.bool_)
    ordered = np.sort(log_ratios, axis=-1)
    gaps = np.diff(ordered, axis=-1)
    at = gaps.argmax(axis=-1)
    gap = gaps.max(axis=-1)
    last_below = np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0]
    first_above = np.take_along_axis(ordered, at[..., None] + 1, axis=-1)[..., 0]
    widest = np.maximum(last_below - ordered[..., 0], ordered[..., -1] - first_above)
    groups = np.minimum(at + 1, count - at - 1) >= SMALLEST_GROUP
    return np.asarray(groups & (gap > SMALLEST_GAP) & (gap > GAP_OVER_RANGE * widest))


def of_boots(instability: str) -> str:
    """The words of `instability` where boots were given that no block pairs."""
    return instability.replace("blocks' ratios", "boots").replace("blocks", "boots")


def separated(log_ratios: Values) -> bool:
    """Whether every block agrees on which system is faster."""
    return bool(np.all(log_ratios > 0) or np.all(log_ratios < 0))
