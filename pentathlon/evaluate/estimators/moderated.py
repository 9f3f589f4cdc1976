"""The variance of a row, moderated by the rows that it was measured with.

With five blocks a row's own variance has four degrees of freedom. Rows of one workload have similar
variances, so each is shrunk towards what its group has in common: the empirical Bayes estimate of
Smyth 2004 ("Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments", doi:10.2202/1544-6115.1027), with a prior s0² on d0 degrees of freedom
that is fitted to the logarithms of the group's variances.

Smyth takes the rows as independent; rows of one boot are not. Their variances then differ less
between each other than from the truth, and the prior seems better known than it is. Three terms
allow for it, with ρ² the mean squared correlation of the rows' residuals, less 1/ν, which
independent rows have:

* the spread of log s² that ν degrees of freedom make is ψ′(ν/2) (1 − ρ²);
* a mean over m variances has the variance of R = (1 + (m − 1) ρ²) / m of them, so the prior is
  worth d0′ = 1 / (1/d0 + R/ν) degrees of freedom and not d0;
* a row's own variance is part of the prior: with w = ν / (ν + d0′) the moderated variance
  w s² + (1 − w) s0² has ν / [w² + 2 w (1 − w) R + (1 − w)² ν / d0′] degrees of freedom, those of
  a scaled χ² with its variance (Satterthwaite 1946, doi:10.2307/3002019).

Boots of two modes are the exception to similar variances: where five blocks happen to show the same
two of them, a row looks quiet among noisy ones. If modes show in more than a tenth of the rows of a
group, none of its variances is taken to be below their arithmetic mean.

The moderated interval covers on average over the rows of a group. It covers less often in its
noisiest rows and more often in its quietest (docs/evaluation.md has figures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.diagnostics.stability import two_modes
from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

FEWEST_ROWS = 3
"""Rows of a group below which nothing is known of how its variances are spread."""
MODES = 0.1
"""Share of a group's rows that fall into two modes from which on the others are taken to have them
too; normal noise makes them in 0.6 % of rows."""
NEWTON_STEPS = 50


@dataclass(frozen=True)
class Moderated:
    """The variances of the rows of one group, or of one group in each of many studies.

    Attributes:
        variance: w s² + (1 − w) s0², one for each row, in the unit of the log-ratios squared.
        freedom: degrees of freedom of these variances.
        prior: s0².
        prior_freedom: d0; infinite where the rows' variances do not differ.
        shared: R, the variance of the mean of the rows' variances over that of one of them.
        own: w, the weight of a row's own variance.
        typical: variance below which no row's is, where the group's boots have two modes; else 0.
    """

    variance: Values
    freedom: Values
    prior: Values
    prior_freedom: Values
    shared: Values
    own: Values
    typical: Values

    def of(self, variance: Values | float) -> Values:
        """The moderated variance of a row of the group that lent nothing, from its own one."""
        lent = self.own * variance + (1.0 - self.own) * self.prior
        return np.asarray(np.maximum(lent, self.typical), dtype=np.float64)


def moderate(ratios: Values, floor: Values | float = 0.0) -> Moderated:
    """Moderated variances of the rows of a group.

    Args:
        ratios: log-ratios, (studies..., rows, blocks): at least FEWEST_ROWS rows and 3 blocks, and
            no row whose blocks are all alike, unless it has a floor.
        floor: variances below which no row's can be (`resolution`), (studies..., rows).
    """
    rows, blocks = ratios.shape[-2:]
    free = float(blocks - 1)
    variance = np.maximum(ratios.var(axis=-1, ddof=1), floor)
    alike = likeness(ratios)
    shared = (1.0 + (rows - 1) * alike) / rows

    logs = np.log(variance) - special.digamma(free / 2.0) + np.log(free / 2.0)
    centre = logs.mean(axis=-1)
    spread = logs.var(axis=-1, ddof=1) - special.polygamma(1, free / 2.0) * (1.0 - alike)
    prior_freedom = np.where(
        spread > 0.0, 2.0 * trigamma_inverse(np.where(spread > 0.0, spread, 1.0)), np.inf
    )
    half = np.where(np.isfinite(prior_freedom), prior_freedom, 2.0) / 2.0
    shift = np.where(np.isfinite(prior_freedom), special.digamma(half) - np.log(half), 0.0)
    prior = np.exp(centre + shift)

    worth = 1.0 / (1.0 / prior_freedom + shared / free)
    own = free / (free + worth)
    rest = 1.0 - own
    freedom = free / (own**2 + 2.0 * own * rest * shared + rest**2 * free / worth)
    lent = own[..., None] * variance + (rest * prior)[..., None]
    modes = np.mean(two_modes(ratios), axis=-1) > MODES
    typical = np.where(modes, variance.mean(axis=-1), 0.0)
    return Moderated(
        variance=np.maximum(lent, typical[..., None]),
        freedom=freedom,
        prior=prior,
        prior_freedom=prior_freedom,
        shared=shared,
        own=own,
        typical=typical,
    )


def likeness(ratios: Values) -> Values:
    """ρ̂²: the mean squared correlation of different rows' residuals less its bias 1/ν, from 0 to 1.

    Args:
        ratios: log-ratios, (studies..., rows, blocks).
    """
    rows, blocks = ratios.shape[-2:]
    scaled = standardised(ratios)
    # Σ r² over all pairs of rows is that of the blocks' products, which are far fewer.
    products = np.swapaxes(scaled, -1, -2) @ scaled
    squares = np.sum(products**2, axis=(-1, -2))
    mean = (squares - rows) / max(rows * (rows - 1), 1)
    return np.asarray(np.clip(mean - 1.0 / (blocks - 1), 0.0, 1.0), dtype=np.float64)


def standardised(ratios: Values) -> Values:
    """Residuals of each row, scaled to a sum of squares of 1; 0 where all blocks are alike."""
    residuals = ratios - ratios.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.sum(residuals**2, axis=-1, keepdims=True))
    scaled = np.divide(residuals, length, out=np.zeros_like(residuals), where=length > 0.0)
    return np.asarray(scaled, dtype=np.float64)


def trigamma_inverse(value: Values) -> Values:
    """y with ψ′(y) = value, for positive values (Smyth 2004, appendix): Newton's method on 1/ψ′,
    which is convex, so it converges from the left.
    """
    value = np.asarray(value, dtype=np.float64)
    # ψ′(y) is 1/y far out and 1/y² near 0, where the method's own steps are lost in rounding.
    inner = np.clip(value, 1e-6, 1e7)
    found = 0.5 + 1.0 / inner
    for _ in range(NEWTON_STEPS):
        slope = special.polygamma(1, found)
        step = slope * (1.0 - slope / inner) / special.polygamma(2, found)
        found = found + step
        if np.all(-step / found < 1e-8):
            break
    found = np.where(value > 1e7, 1.0 / np.sqrt(value), found)
    return np.asarray(np.where(value < 1e-6, 1.0 / value, found), dtype=np.float64)
