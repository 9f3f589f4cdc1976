"""Looks at the data before the end: how much of the error budget each may use.

Alpha spending of Lan and DeMets 1983 (doi:10.1093/biomet/70.3.659) with the function that behaves
like O'Brien and Fleming's bounds: at the information fraction t each side has spent
2 − 2 Φ(z / √t), z the normal quantile of 1 − α/4, which is α/2 at the end. The bounds follow by
recursive numerical integration (Armitage, McPherson and Rowe 1969; Jennison and Turnbull 2000,
chapter 19). The number of looks and their times may follow anything but the data's direction.

Bounds are kept as nominal two-sided levels, so that Student's t with n − 1 degrees of freedom can
stand for the normal statistic (Jennison and Turnbull 2000, section 4.4). An interval at the nominal
level of its look is a repeated confidence interval (section 9.1 there; Jennison and Turnbull 1989):
all looks' intervals hold the truth together with the overall confidence, whatever made the study
stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

POINTS = 401
"""Nodes of Simpson's rule over the region of continuation."""
FARTHEST = 37.0
"""Bounds beyond this many standard errors are not distinguished: their level is below 1e-299."""
EXACT_LEVELS = (*np.geomspace(1e-12, 0.04, 30), *np.linspace(0.05, 0.98, 30))
DENSE_LEVELS = 4000


def spent(level: float, fraction: float) -> float:
    """Error of both sides together that may be spent up to an information fraction in (0, 1]."""
    z = -float(special.ndtri(level / 4.0))
    return 4.0 * float(special.ndtr(-z / math.sqrt(fraction)))


def bounds(level: float, fractions: Sequence[float]) -> Values:
    """Bounds of |Z| at each look, for two-sided error `level` over all looks to fraction 1.

    Args:
        level: overall two-sided error, 0 < level < 1.
        fractions: information fractions of the looks, rising, at most 1.
    """
    found: list[float] = []
    before = 0.0
    nodes, density = np.zeros(1), np.ones(1)  # all mass in 0 at time 0
    weights = np.ones(1)
    elapsed = 0.0
    for fraction in fractions:
        budget = max(0.0, spent(level, fraction) - before)
        step = math.sqrt(fraction - elapsed)
        mass = weights * density

        def crossed(bound: float, at: float = fraction, mass: Values = mass) -> float:
            edge = bound * math.sqrt(at)
            above = special.ndtr((nodes - edge) / step) + special.ndtr((-nodes - edge) / step)  # noqa: B023
            return float(mass @ above)

        if crossed(FARTHEST) >= budget:
            bound = FARTHEST
        elif crossed(0.0) <= budget:
            bound = 0.0
        else:
            bound = float(
                scipy.optimize.brentq(
                    lambda value: math.log(max(crossed(value), 1e-320)) - math.log(budget),  # noqa: B023
                    0.0,
                    FARTHEST,
                    xtol=1e-12,
                )
            )
        found.append(bound)
        edge = max(bound, 1e-9) * math.sqrt(fraction)
        fresh = np.linspace(-edge, edge, POINTS)
        jump = (fresh[:, None] - nodes[None, :]) / step
        density = np.exp(-0.5 * jump**2) @ mass / (step * math.sqrt(2.0 * math.pi))
        nodes, weights = fresh, _simpson(fresh)
        before += budget
        elapsed = fraction
    return np.array(found)


def _simpson(nodes: Values) -> Values:
    """Weights of Simpson's rule over evenly spaced nodes, an odd number of them."""
    weights = np.full(len(nodes), 2.0)
    weights[1::2] = 4.0
    weights[0] = weights[-1] = 1.0
    return weights * float(nodes[1] - nodes[0]) / 3.0


@dataclass(frozen=True)
class Levels:
    """Overall level of a claim against the nominal level of its test at the present look.

    A study with a fixed number of blocks has one look; both differ by a share alone (`fixed`).
    """

    logs: tuple[Values, Values] | None = None
    """Logarithms of overall and nominal levels, both rising; None for one look."""
    share: float = 1.0
    """Nominal level over overall level where there is one look."""

    def nominal(self, level: float) -> float:
        """Level of the test, and 1 − confidence of the repeated interval, at this look."""
        if self.logs is None or level <= 0.0:
            return level * self.share
        return math.exp(float(np.interp(math.log(level), self.logs[0], self.logs[1])))

    def overall(self, p_value: float) -> float:
        """The smallest overall level at which the test at this look is significant.

        The inverse of `nominal`: the p value of a study with looks (Jennison and Turnbull 2000,
        section 8.4, for repeated intervals).
        """
        if self.logs is None or p_value <= 0.0:
            return min(1.0, p_value / self.share)
        return math.exp(float(np.interp(math.log(p_value), self.logs[1], self.logs[0])))


ONE_LOOK = Levels()
BY_PRECISION = Levels(share=0.7)
"""A study that stops once its intervals are narrow stops rather where the spread was estimated too
small: Anscombe 1953, "Sequential estimation", section 4. Tests at 70 % of the level make it up,
also for heavy tails (docs/calibration.md)."""


SKEWED = 3.0
"""What a skewed distribution costs the two-sided t interval, in error rates times blocks."""


def fixed(blocks: int) -> Levels:
    """Levels of a study with one look after a fixed number of blocks: 1 / (1 + 3 / n) of the rate.

    Boots that are slow now and then, on one system, make the log-ratios skewed, and few blocks need
    not show it. The t interval then misses by an error that falls as 1/n (Hall 1992, "The Bootstrap
    and Edgeworth Expansion", section 2.6). With skewness γ it is 2 φ(z) z γ² (z⁴ + 2 z² − 3) / 18n;
    for γ = 0.8 and 95 % that is 3.2 / n of the error rate, and so much is allowed for.
    """
    return Levels(share=1.0 / (1.0 + SKEWED / blocks)) if blocks else ONE_LOOK


@lru_cache(maxsize=64)
def levels_at(looks: tuple[int, ...], blocks: int) -> Levels:
    """Levels of a study with looks when so many blocks are done.

    A number of blocks between two looks (the run was cut off there, or a block failed) is taken as
    a look of its own: alpha spending needs no looks planned before.

    Args:
        looks: planned looks, rising; the last is the end of the study.
        blocks: blocks that are done; beyond the last look it counts as the last.
    """
    now = min(blocks, looks[-1])
    times = [look for look in looks if look < now] + [now]
    if times == [looks[-1]]:
        return ONE_LOOK
    fractions = [time / looks[-1] for time in times]
    overall = np.array(EXACT_LEVELS)
    last = np.array([bounds(float(level), fractions)[-1] for level in overall])
    # log of 2 Φ(−c), which does not vanish far out.
    nominal = math.log(2.0) + special.log_ndtr(-last)
    dense = np.linspace(math.log(overall[0]), math.log(overall[-1]), DENSE_LEVELS)
    curve = scipy.interpolate.PchipInterpolator(np.log(overall), nominal)(dense)
    return Levels((np.append(dense, 0.0), np.append(curve, 0.0)))
