"""A share with exact bounds."""

from __future__ import annotations

from pentathlon.evaluate.special import special


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval for a share of `hits` in `trials` > 0: the shares under which neither tail is
    below (1 − confidence)/2.

    Source: Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404; by quantiles of the beta
    distribution.
    """
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else float(special.betaincinv(hits, trials - hits + 1, tail))
    high = 1.0
    if hits < trials:
        high = float(special.betaincinv(hits + 1, trials - hits, 1.0 - tail))
    return low, high
