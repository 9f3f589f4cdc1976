"""The published evaluation model of martinovic2012, kept exactly.

A repetition of the published procedure starts with a reboot, so a repetition here is one boot:
its value is the arithmetic mean of the samples of that boot. Nothing is rounded in the data; three
significant digits are a matter of display (`display.significant`).
"""

from __future__ import annotations

import math

import numpy as np

from pentathlon.evaluate.values import Values

LEAST, MOST = 1e-120, 1e120
"""Numbers between these have squares, and sums of squares, that are numbers."""

TOLERANCE_PERCENT = 1.0
"""Deviation from the mean that the paper finds for "the vast majority" of its repetitions."""


def mean(repetitions: Values) -> float:
    """x̄ = (1/N) Σ xᵢ (martinovic2012, formula (3), where N = 5)."""
    scale = exponent(repetitions)
    return float(np.ldexp(np.mean(np.ldexp(repetitions, -scale)), scale))


def deviation(values: Values) -> float:
    """Standard deviation with n − 1, of at least two values; NaN where one is not finite."""
    if not np.all(np.isfinite(values)):
        return math.nan
    scale = exponent(values)
    return float(np.ldexp(np.std(np.ldexp(values, -scale), ddof=1), scale))


def exponent(values: Values) -> int:
    """A power of two to divide by so that sums and squares of the values are numbers; 0 for all
    but extreme values.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    extreme = math.isfinite(largest) and largest > 0.0 and not LEAST < largest < MOST
    return int(np.frexp(largest)[1]) if extreme else 0


def difference_percent(value: float, reference: float) -> float:
    """Diff% = (value − reference) / reference × 100 (martinovic2012, formula (4)).

    Raw difference in the metric's own direction: +5 means a higher number, not a better one.
    NaN where the reference is 0.
    """
    if reference == 0:
        return float("nan")
    return (value - reference) / reference * 100.0


def deviation_percent(repetitions: Values) -> float:
    """Largest |xᵢ − x̄| / |x̄| × 100 among the repetitions (martinovic2012, section 6.1).

    NaN where the mean is 0 or no finite number.
    """
    centre = mean(repetitions)
    if centre == 0 or not math.isfinite(centre):
        return float("nan")
    return float(np.max(np.abs(repetitions - centre)) / abs(centre) * 100.0)
