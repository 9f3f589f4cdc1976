"""Two systems without common blocks: the ratio of speeds from independent boots.

Welch 1947, doi:10.1093/biomet/34.1-2.28: the difference of two means of logarithms of boot means
has the variance s₁²/n₁ + s₂²/n₂, with the degrees of freedom of Satterthwaite 1946. What few boots
and looks cost is allowed for as in `planning/alpha_spending.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pentathlon.evaluate.estimators.ratio import detectable_by, percent, ratio_error, standard_error
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, Levels, fixed
from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

NO_PERCENTS: dict[str, Any] = dict.fromkeys(("percent", "low_percent", "high_percent"))
"""What stands for `Estimate.percents` where there is no estimate."""


@dataclass(frozen=True)
class Estimate:
    """A mean log-ratio with its standard error; + is faster than the baseline."""

    mean: float
    error: float
    freedom: float
    levels: Levels = ONE_LOOK
    """Overall level of a claim against that of its test."""

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided interval of overall confidence 1 − level."""
        if self.error == 0.0:
            return self.mean, self.mean
        nominal = self.levels.nominal(level)
        half = float(special.stdtrit(self.freedom, 1.0 - nominal / 2.0)) * self.error
        return self.mean - half, self.mean + half

    def percents(self, level: float) -> dict[str, float]:
        """The mean and its interval in percent, by the fields of those who report them."""
        low, high = self.interval(level)
        ends = {"percent": self.mean, "low_percent": low, "high_percent": high}
        return {name: percent(end) for name, end in ends.items()}

    def p_different(self) -> float:
        """Two-sided p value of "both are equally fast"."""
        return self._p(abs(self.mean), at_zero=self.mean == 0.0)

    def p_beyond(self, delta: float) -> float:
        """Smallest level whose interval lies wholly beyond ±delta; 1 if the mean does not."""
        excess = abs(self.mean) - delta
        return 1.0 if excess <= 0 else self._p(excess)

    def p_equivalent(self, delta: float) -> float:
        """Smallest level whose two-sided interval lies inside ±delta; 1 if the mean does not.

        Twice the larger p value of the two one-sided tests (Schuirmann 1987,
        doi:10.1007/BF01068419): the doubling makes the claim agree with the interval that the
        report shows, where the two tests alone would need only the narrower interval of confidence
        1 − 2·level.
        """
        room = delta - abs(self.mean)
        return 1.0 if room <= 0 else self._p(room)

    def p_not_worse(self, delta: float) -> float:
        """Smallest level whose interval lies above −delta; 1 if the mean does not."""
        room = self.mean + delta
        return 1.0 if room <= 0 else self._p(room)

    def detectable(self, level: float) -> float:
        """Smallest mean log-ratio that a test at the nominal `level` finds with power 0.8."""
        return detectable_by(self.error, self.freedom, level)

    def _p(self, distance: float, *, at_zero: bool = False) -> float:
        if self.error == 0.0:
            return 1.0 if at_zero else 0.0
        p_value = float(2.0 * special.stdtr(self.freedom, -distance / self.error))
        return self.levels.overall(min(1.0, p_value))


def welch(system: Values, baseline: Values, direction: str) -> Estimate:
    """The log-ratio of two sets of boot means, at least two on each side, all positive."""
    sign = 1.0 if direction == "higher" else -1.0
    first, second = sign * np.log(system), sign * np.log(baseline)
    shares = [standard_error(one - one[0]) ** 2 for one in (first, second)]
    whole = sum(shares)
    freedom = float(len(first) + len(second) - 2)
    apart = float(first.mean() - second.mean())
    if whole == 0.0:
        # Every boot of a system read the same: the tick is what lies between them (`resolution`).
        whole = apart**2 / 12.0 * (1.0 / len(first) + 1.0 / len(second))
    else:
        freedom = whole**2 / sum(
            share**2 / (len(one) - 1) for share, one in zip(shares, (first, second), strict=True)
        )
    levels = fixed(min(len(first), len(second)))
    return Estimate(apart, math.sqrt(whole), freedom, levels)


def paired(log_ratios: Values, levels: Levels = ONE_LOOK) -> Estimate:
    """The same from the log-ratios of at least two common blocks, and the levels of their study."""
    count = len(log_ratios)
    return Estimate(float(log_ratios.mean()), ratio_error(log_ratios), count - 1.0, levels)
