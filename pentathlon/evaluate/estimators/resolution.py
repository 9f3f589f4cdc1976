"""How finely a metric can be read, and the variance that this alone gives its log-ratios.

A reading that comes in ticks of q is known to q/2 on both sides; taken as uniform its error has the
variance q²/12 (Sheppard 1898, doi:10.1112/plms/s1-29.1.353), and a log-ratio of two readings has
twice that. Boots that read the same tick show a smaller variance than the truth can have, none at
all in the end, and a t test takes this for certainty.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pentathlon.evaluate.estimators.ratio import ROUNDING
from pentathlon.evaluate.values import Values


def floor(system: Values, reference: Values, known: float = 0.0) -> Values:
    """Variance of a log-ratio below which no estimate is believed: (...), from (..., boots).

    The tick is the smallest difference between values of either system, where at least half of
    them are repeated; values that are (nearly) all different show no tick of their own.

    Args:
        known: a tick that the clock is known to have, as a share of what it times.
    """
    logs = np.sort(np.log(np.concatenate([system, reference], axis=-1)), axis=-1)
    gaps = np.diff(logs, axis=-1)
    apart = gaps > ROUNDING
    coarse = apart.sum(axis=-1) + 1 <= logs.shape[-1] // 2
    tick = np.min(np.where(apart, gaps, np.inf), axis=-1)
    tick = np.maximum(np.where(coarse & np.isfinite(tick), tick, 0.0), known)
    return np.asarray(tick**2 / 6.0, dtype=np.float64)


def clock_tick(sides: Iterable[tuple[float, float]]) -> float:
    """The coarser clock's resolution as a share of what it timed.

    Args:
        sides: resolution of the clock and length of a sample, in the same unit; 0 if unknown.
    """
    return max((clock / sample for clock, sample in sides if sample > 0.0), default=0.0)
