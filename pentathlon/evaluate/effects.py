"""The effect of one row: the ratio of the blocks with its intervals and everything beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.checks import checks, disagreement
from pentathlon.evaluate.estimators.independent import Independent
from pentathlon.evaluate.estimators.paired import Paired
from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.model import Effect, Moderated
from pentathlon.evaluate.planning.alpha_spending import Levels
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Claims


@dataclass(frozen=True)
class Tested:
    """A row with enough units of inference: its ratios, its level, its claims.

    `level` is that of the family's procedure; `levels` translates it to the look at hand.
    `moderated` is the estimate behind the claims where the row borrows from others.
    """

    row: Paired | Independent
    level: float
    levels: Levels
    claims: Claims
    moderated: Estimate | None = None

    @property
    def behind(self) -> Estimate:
        """The estimate that the claims rest on."""
        return self.moderated or self.row.estimate


def whole_effect(done: Tested, rule: Rule) -> Effect:
    """The effect of a row with at least two units of inference."""
    if isinstance(done.row, Independent):
        return _independent_effect(done.row, done, rule)
    paired, sample = done.row, done.row.units
    own, level = done.levels.nominal(rule.rate), done.levels.nominal(done.level)
    low, high = paired.estimate.interval(own)
    adjusted_low, adjusted_high = done.behind.interval(level)
    detectable = done.behind.detectable(level)
    if done.moderated is not None:
        # A claim needs the row's own interval too.
        detectable = max(detectable, paired.estimate.detectable(own))
    return single(paired).model_copy(
        update={
            "sd": float(np.std(sample, ddof=1)),
            "low_percent": ratio.percent(low),
            "high_percent": ratio.percent(high),
            "adjusted_confidence": 1.0 - done.level,
            "adjusted_low_percent": ratio.percent(adjusted_low),
            "adjusted_high_percent": ratio.percent(adjusted_high),
            "p_different": done.levels.overall(done.behind.p_different()),
            "p_equivalent": done.levels.overall(done.behind.p_equivalent(rule.delta)),
            "mde_percent": ratio.percent(detectable),
            "nominal_confidence": 1.0 - own,
            "moderated": None if done.moderated is None else _moderated(done.moderated, own),
            "checks": checks(sample, paired.system, paired.reference, paired.direction, own),
        }
    )


def _independent_effect(row: Independent, done: Tested, rule: Rule) -> Effect:
    """The effect of two sets of boots. The checks beside a t interval of blocks have no place."""
    estimate = row.estimate
    own, level = done.levels.nominal(rule.rate), done.levels.nominal(done.level)
    low, high = estimate.interval(own)
    adjusted_low, adjusted_high = estimate.interval(level)
    return unpaired(row).model_copy(
        update={
            "low_percent": ratio.percent(low),
            "high_percent": ratio.percent(high),
            "adjusted_confidence": 1.0 - done.level,
            "adjusted_low_percent": ratio.percent(adjusted_low),
            "adjusted_high_percent": ratio.percent(adjusted_high),
            "p_different": done.levels.overall(estimate.p_different()),
            "p_equivalent": done.levels.overall(estimate.p_equivalent(rule.delta)),
            "mde_percent": ratio.percent(estimate.detectable(level)),
            "nominal_confidence": 1.0 - own,
        }
    )


def _moderated(estimate: Estimate, level: float) -> Moderated:
    """The row's interval at the level of its own one, by the variance that it borrowed."""
    low, high = estimate.interval(level)
    return Moderated(
        low_percent=ratio.percent(low),
        high_percent=ratio.percent(high),
        error=estimate.error,
        freedom=estimate.freedom,
    )


def contradiction(effect: Effect, done: Tested, rule: Rule) -> str | None:
    """Where the estimates beside the t interval say otherwise, in words, or None."""
    if effect.checks is None or effect.low_percent is None or effect.high_percent is None:
        return None
    level, units = done.levels.nominal(rule.rate), done.row.count
    return disagreement(effect.checks, effect.low_percent, effect.high_percent, units, level)


def holds_zero(effect: Effect) -> bool:
    """Whether the row's own interval leaves no difference possible."""
    return (
        effect.low_percent is not None
        and effect.high_percent is not None
        and effect.low_percent <= 0 <= effect.high_percent
    )


def single(paired: Paired) -> Effect:
    """The ratio of the blocks without any claim."""
    mean = float(np.mean(paired.units))
    return Effect(
        blocks=len(paired.blocks),
        log_ratios=tuple(paired.log_ratios.tolist()),
        mean=mean,
        sd=None,
        percent=ratio.percent(mean),
        low_percent=None,
        high_percent=None,
        adjusted_confidence=None,
        adjusted_low_percent=None,
        adjusted_high_percent=None,
        p_different=None,
        p_equivalent=None,
        mde_percent=None,
        installs=paired.installs,
        units=tuple(paired.units.tolist()) if paired.installs > 1 else (),
    )


def unpaired(row: Independent) -> Effect:
    """The ratio of the means of two sets of boots, without any claim; no block has a ratio."""
    better, worse = np.log(row.system), np.log(row.reference)
    sign = 1.0 if row.direction == "higher" else -1.0
    mean = sign * float(better.mean() - worse.mean())
    return Effect(
        blocks=row.count,
        log_ratios=(),
        mean=mean,
        sd=None,
        percent=ratio.percent(mean),
        low_percent=None,
        high_percent=None,
        adjusted_confidence=None,
        adjusted_low_percent=None,
        adjusted_high_percent=None,
        p_different=None,
        p_equivalent=None,
        mde_percent=None,
    )
