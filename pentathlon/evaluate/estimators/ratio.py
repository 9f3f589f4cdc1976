"""The ratio of two systems from paired blocks: log-ratios, t interval, detectable effect.

The boot is the unit: the iterations of a boot are averaged first, and a block gives one log-ratio.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

CUT = 700.0
"""Largest log-ratio whose percentage is a floating-point number."""
CUT_PERCENT = math.expm1(CUT) * 100.0

LEAST_QUOTIENT = 1e-290
"""Quotients that are nearer to 0, or to infinity, have lost digits or are none."""
ROUNDING = 1e-12
"""Log-ratios that differ by less are alike: arithmetic makes such differences, no clock."""

POWER = 0.8
"""Power for which the minimum detectable effect is stated (Cohen 1988, section 2.4)."""


def log_ratios(system: Values, reference: Values, direction: str) -> Values:
    """ln(system / reference) per block, signed so that positive is better than the reference.

    Args:
        system, reference: boot means of the same blocks, all positive.
        direction: "higher" or "lower", which of them is better.

    Source: Fleming and Wallace 1986 (ratios of benchmarks are averaged geometrically). The sign
    makes exp(mean) a ratio of speeds for both directions.
    """
    sign = 1.0 if direction == "higher" else -1.0
    with np.errstate(over="ignore", under="ignore"):
        quotients = system / reference
    if np.all((quotients > LEAST_QUOTIENT) & (quotients < 1.0 / LEAST_QUOTIENT)):
        return sign * np.log(quotients)
    # The quotient of two numbers need not be one; the logarithms of both are.
    return np.asarray(sign * (np.log(system) - np.log(reference)), dtype=np.float64)


def log_ratio(system: float, reference: float, direction: str) -> float:
    """`log_ratios` of one block."""
    return float(log_ratios(np.array([system]), np.array([reference]), direction)[0])


def standard_error(sample: Values) -> float:
    """s / √n with s² = Σ(xᵢ − x̄)² / (n − 1), in the unit of the sample."""
    return float(np.std(sample, ddof=1) / math.sqrt(len(sample)))


def ratio_error(sample: Values) -> float:
    """Standard error of the mean of log-ratios, which boots that are all alike do not make 0.

    Where all values are alike, but for rounding, nothing is known of how they vary except that they
    were read in ticks, and that the mean is one tick or several. The largest tick that can be is
    taken, the mean itself, with the variance of two readings of it, tick²/6 (`resolution`); with a
    mean of 0 the error is 0.
    """
    centre = float(np.mean(sample))
    if float(np.ptp(sample)) <= ROUNDING * max(1.0, abs(centre)):
        return abs(centre) / math.sqrt(6.0 * len(sample))
    return standard_error(sample)


def t_quantile(level: float, freedom: float) -> float:
    """Two-sided critical value of Student's t: P(|T| > t) = level (Student 1908)."""
    return float(special.stdtrit(freedom, 1.0 - level / 2.0))


def t_interval(sample: Values, level: float) -> tuple[float, float]:
    """Interval of confidence 1 − level for the mean: x̄ ± t s/√n with n − 1 degrees of freedom."""
    centre = float(np.mean(sample))
    error = standard_error(sample)
    if error == 0.0:
        return centre, centre
    half = t_quantile(level, len(sample) - 1) * error
    return centre - half, centre + half


FAR = 1e4
"""Critical value beyond which the noncentral t is that of its limit, to 1e-8; its own series takes
time in proportion to the value, at an early look of many blocks for ever."""


@lru_cache(maxsize=4096)
def _noncentrality(freedom: float, level: float) -> float:
    """Noncentrality of t at which |T| exceeds its critical value with probability POWER."""
    critical = t_quantile(level, freedom)
    if critical > FAR:
        # (Z + λ) / √(χ²/ν) > t, where Z is nothing beside λ.
        return critical * math.sqrt(special.chdtri(freedom, 1.0 - POWER) / freedom)
    low, high = 0.0, 2.0 * critical + 10.0
    while special.nctdtr(freedom, high, critical) > 1.0 - POWER:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if special.nctdtr(freedom, middle, critical) > 1.0 - POWER:
            low = middle
        else:
            high = middle
    return high


def detectable_by(error: float, freedom: float, level: float) -> float:
    """Smallest mean log-ratio that a test at `level` finds with power 0.8, for this standard error
    and its degrees of freedom.

    δ = λ s/√n, where λ is the noncentrality at which P(T' > t) = 0.8 (Cohen 1988, section 2.4; the
    far tail is left out). It depends on the estimated s, so it is an estimate itself.
    """
    return 0.0 if error == 0.0 else _noncentrality(freedom, level) * error


def percent(log_ratio: float) -> float:
    """A log-ratio as a percentage: +5 means 1.05 times the reference's speed."""
    return math.expm1(min(log_ratio, CUT)) * 100.0


def log_of(percentage: float) -> float:
    """The log-ratio of a percentage, the inverse of `percent`: −100 (or less) is −∞, and what
    `percent` had to cut is ∞."""
    if percentage <= -100.0:
        return -math.inf
    return math.inf if percentage >= CUT_PERCENT else math.log1p(percentage / 100.0)


def delta_log(delta_percent: float) -> float:
    """Half width of the region of equivalence as a log-ratio: ln(1 + δ/100)."""
    return math.log1p(delta_percent / 100.0)
