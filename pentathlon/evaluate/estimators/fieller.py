"""The ratio of two arithmetic means, with Fieller's interval.

The mean log-ratio compares typical boots; for total time the ratio of the means counts.
Its interval is the set of ratios θ that a t test of mean(x − θ y) = 0 does not reject (Fieller
1954, "Some problems in interval estimation"). Where the denominator's own interval holds 0 the set
has no ends: it is unbounded, and is called so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.estimators.ratio import CUT, t_quantile
from pentathlon.evaluate.published import exponent
from pentathlon.evaluate.values import Values

LARGEST = math.exp(CUT)


@dataclass(frozen=True)
class RatioOfMeans:
    """mean(x)/mean(y) with its interval; the ends are None where the set is unbounded."""

    ratio: float
    low: float | None
    high: float | None

    @property
    def unbounded(self) -> bool:
        """Whether the ratios that the data allow have no ends."""
        return self.low is None


def ratio_of_means(numerator: Values, denominator: Values, level: float) -> RatioOfMeans:
    """Fieller's interval of confidence 1 − level from paired values, at least two of them.

    The ends solve (ȳ² − k s_yy) θ² − 2 (x̄ȳ − k s_xy) θ + (x̄² − k s_xx) = 0 with k = t²/n.
    """
    count = len(numerator)
    # Powers of two: squares of what is left are numbers, and no digit is lost.
    up, down = exponent(numerator), exponent(denominator)
    numerator, denominator = np.ldexp(numerator, -up), np.ldexp(denominator, -down)
    top, bottom = float(np.mean(numerator)), float(np.mean(denominator))
    covariance = np.cov(numerator, denominator, ddof=1)
    k = t_quantile(level, count - 1) ** 2 / count
    a = bottom**2 - k * float(covariance[1, 1])
    b = top * bottom - k * float(covariance[0, 1])
    c = top**2 - k * float(covariance[0, 0])
    ratio = _scaled(top / bottom, up - down) if bottom else math.nan
    if a <= 0.0:
        return RatioOfMeans(ratio, None, None)
    root = math.sqrt(max(b * b - a * c, 0.0))
    return RatioOfMeans(ratio, *(_scaled(end / a, up - down) for end in (b - root, b + root)))


def _scaled(value: float, exponent: int) -> float:
    """value · 2^exponent, cut to the largest ratio that can be printed."""
    with np.errstate(over="ignore"):
        return float(np.clip(np.ldexp(value, exponent), -LARGEST, LARGEST))
