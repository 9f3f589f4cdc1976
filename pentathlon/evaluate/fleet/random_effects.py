"""The effect over machines, and how much it differs between them.

Machine i has the mean log-ratio yᵢ of its blocks (or installs), with the variance vᵢ of that mean
and fᵢ degrees of freedom of vᵢ. The model is yᵢ = θ + uᵢ + eᵢ with var(uᵢ) = τ² between machines.

θ: Student's t over the machines' means, each machine counted alike. Its error holds both variances
together, so that no boot is counted as if it were a machine. It keeps its level where the machines'
variances differ, for two-sided levels up to 8.3 % and any number of machines (Bakirov and Székely
2006; Ibragimov and Müller 2010, doi:10.1198/jbes.2009.08046, theorem 1). DerSimonian and Laird's
normal interval has no such property: with three machines it alarms several times too often
(benches/campaign_simulation.py).

τ: the value at which the weighted sum of squares Q(τ²) = Σ wᵢ (yᵢ − ȳ_w)², wᵢ = 1 / (τ² + vᵢ), is
what is expected of it (Paule and Mandel 1982), and its interval the values at which Q is no
surprise (Q-profile, Viechtbauer 2007, doi:10.1002/sim.2514). The vᵢ are estimates from few blocks,
which Q with quantiles of χ² takes for the truth; Welch's correction (1951,
doi:10.1093/biomet/38.3-4.330) is applied at each τ², with fᵢ / (vᵢ wᵢ)² degrees of freedom for the
estimated part of the variance. At τ² = 0 it is Welch's test that the machines agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from pentathlon.evaluate.estimators.ratio import ratio_error, t_quantile
from pentathlon.evaluate.estimators.welch import Estimate, paired
from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

FEWEST_MACHINES = 2
LEAST_VARIANCE = 1e-18
"""Of a machine's mean, as a log-ratio squared: smaller ones are rounding."""


def fleet_estimate(means: Values) -> Estimate:
    """The mean over at least two machines. No allowance for skewness is made as for few blocks:
    each mean is one of several blocks, and differs from the others by more than its boots do."""
    return paired(means)


@dataclass(frozen=True)
class Heterogeneity:
    """How much the true effects of the machines differ, as log-ratios.

    Attributes:
        tau: standard deviation of the true effects.
        low, high: its interval; `high` may be infinite.
        share: I², the share of the variance of the machines' means that is no noise of boots.
        share_low, share_high: its interval.
        p_alike: p value of "all machines have the same effect".
        prediction_low, prediction_high: where the true effect of one more machine lies.
    """

    tau: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float
    p_alike: float
    prediction_low: float
    prediction_high: float


def heterogeneity(
    means: Values, variances: Values, freedoms: Values, level: float
) -> Heterogeneity:
    """Of at least two machines whose blocks have a variance each.

    Args:
        means, variances, freedoms: of the machines.
        level: 1 − confidence of the intervals.
    """
    profile = _Profile(means, np.maximum(variances, LEAST_VARIANCE), freedoms)
    count = len(means)
    # Q falls as τ² rises: where it is as large as expected lies the estimate.
    tau2 = profile.root(lambda f1, f2: _mean_of_f(f2))
    low = profile.root(lambda f1, f2: _quantile(1.0 - level / 2.0, f1, f2))
    high = profile.root(lambda f1, f2: _quantile(level / 2.0, f1, f2))
    typical = _typical(profile.variances)
    statistic, f1, f2 = profile.statistic(0.0)
    error = ratio_error(means)
    half = t_quantile(level, count - 1) * math.sqrt(tau2 + error**2)
    centre = float(np.mean(means))
    return Heterogeneity(
        tau=math.sqrt(tau2),
        low=math.sqrt(low),
        high=math.sqrt(high),
        share=tau2 / (tau2 + typical),
        share_low=low / (low + typical),
        share_high=1.0 if math.isinf(high) else high / (high + typical),
        p_alike=float(special.fdtrc(f1, f2, statistic)),
        prediction_low=centre - half,
        prediction_high=centre + half,
    )


def _typical(variances: Values) -> float:
    """A single variance for all machines (Higgins and Thompson 2002, formula 9)."""
    weights = 1.0 / variances
    whole = float(weights.sum())
    return (len(weights) - 1.0) * whole / (whole**2 - float((weights**2).sum()))


def _mean_of_f(freedom: float) -> float:
    return freedom / (freedom - 2.0) if freedom > 2.0 else math.inf


def _quantile(probability: float, f1: float, f2: float) -> float:
    return float(special.fdtri(f1, min(f2, 1e9), probability))


class _Profile:
    """Q as a function of τ², in Welch's form."""

    def __init__(self, means: Values, variances: Values, freedoms: Values) -> None:
        self.means, self.variances, self.freedoms = means, variances, freedoms
        self._largest = max(float(np.var(means, ddof=1)), float(variances.max())) * 1e8

    def statistic(self, tau2: float) -> tuple[float, float, float]:
        """Welch's F at τ² and its degrees of freedom."""
        count = len(self.means)
        weights = 1.0 / (tau2 + self.variances)
        shares = weights / weights.sum()
        centre = float(shares @ self.means)
        between = float(weights @ (self.means - centre) ** 2) / (count - 1.0)
        # Only a part of the variance is an estimate; the other is τ² as it is assumed here.
        freedoms = self.freedoms / (self.variances * weights) ** 2
        spread = float(((1.0 - shares) ** 2 / freedoms).sum())
        corrected = between / (1.0 + 2.0 * (count - 2.0) / (count**2 - 1.0) * spread)
        return corrected, count - 1.0, (count**2 - 1.0) / (3.0 * spread)

    def root(self, wanted: Callable[[float, float], float]) -> float:
        """τ² at which the statistic is what is wanted of it there; 0 if it is smaller at 0."""

        def excess(tau2: float) -> float:
            statistic, f1, f2 = self.statistic(tau2)
            goal = wanted(f1, f2)
            return -1.0 if math.isinf(goal) else statistic - goal

        if excess(0.0) <= 0.0:
            return 0.0
        if excess(self._largest) > 0.0:
            return math.inf
        scale = float(self.variances.min())
        # The variances lie on all scales: the root is looked for in ln(τ² + the smallest one).
        found = optimize.brentq(
            lambda x: excess(max(math.exp(x) - scale, 0.0)),
            math.log(scale),
            math.log(self._largest + scale),
            xtol=1e-10,
        )
        return max(math.exp(float(found)) - scale, 0.0)


def disagreeing(
    means: Values, variances: Values, freedoms: Values, level: float
) -> list[tuple[int, float]]:
    """Machines whose effect is not the mean of the others', with the p value of each.

    In each step the machine with the largest t against the mean of the others (Welch) is taken out,
    as long as it differs at `level` after allowing for all that are left (Holm 1979): where one
    machine differs, it does not make the others look as if they did. Of two machines that differ
    neither is the odd one, and both are named.
    """
    left = list(range(len(means)))
    variances = np.maximum(variances, LEAST_VARIANCE)
    found: list[tuple[int, float]] = []
    while len(left) >= FEWEST_MACHINES:
        # By t and not by p: far out in the tails p depends on the degrees of freedom alone.
        tested = [(*_apart(one, left, means, variances, freedoms), one) for one in left]
        _, p_value, which = max(tested)
        adjusted = min(1.0, p_value * (len(left) if len(left) > FEWEST_MACHINES else 1))
        if adjusted > level:
            break
        if len(left) == FEWEST_MACHINES:
            found += [(one, adjusted) for one in left]
            break
        found.append((which, adjusted))
        left.remove(which)
    return found


def _apart(
    one: int, left: list[int], means: Values, variances: Values, freedoms: Values
) -> tuple[float, float]:
    """t of a machine against the mean of the others, and its p value."""
    others = [other for other in left if other != one]
    parts = np.array([variances[one], *(variances[others] / len(others) ** 2)])
    own = np.array([freedoms[one], *freedoms[others]])
    freedom = float(parts.sum() ** 2 / (parts**2 / own).sum())
    distance = abs(float(means[one] - np.mean(means[others])))
    t = distance / math.sqrt(float(parts.sum()))
    return t, float(2.0 * special.stdtr(freedom, -t))
