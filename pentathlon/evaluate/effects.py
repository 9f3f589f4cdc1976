"""The effect of one row: the ratio of the blocks with its intervals and everything beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


UNTESTED: dict[str, Any] = dict.fromkeys(
    (
        "low_percent",
        "high_percent",
        "adjusted_confidence",
        "adjusted_low_percent",
        "adjusted_high_percent",
        "p_different",
        "p_equivalent",
        "mde_percent",
    )
)
"""What an effect states by its intervals and tests, where it has none."""


def tested_fields(
    own: Estimate, moderated: Estimate | None, level: float, levels: Levels, rule: Rule
) -> dict[str, Any]:
    """The fields of `UNTESTED` of a tested effect.

    Args:
        own: the estimate of the row alone.
        moderated: the one behind its claims, where it borrows.
        level: that of the family's procedure.
        levels: translate it to the look at hand.
    """
    behind, alone, claimed = moderated or own, levels.nominal(rule.rate), levels.nominal(level)
    ends = (*own.interval(alone), *behind.interval(claimed))
    low, high, adjusted_low, adjusted_high = (ratio.percent(end) for end in ends)
    detectable = behind.detectable(claimed)
    if moderated is not None:
        # A claim needs the row's own interval too.
        detectable = max(detectable, own.detectable(alone))
    return {
        "low_percent": low,
        "high_percent": high,
        "adjusted_confidence": 1.0 - level,
        "adjusted_low_percent": adjusted_low,
        "adjusted_high_percent": adjusted_high,
        "p_different": levels.overall(behind.p_different()),
        "p_equivalent": levels.overall(behind.p_equivalent(rule.delta)),
        "mde_percent": ratio.percent(detectable),
    }


def whole_effect(done: Tested, rule: Rule) -> Effect:
    """The effect of a row with at least two units of inference.

    The checks beside a t interval of blocks have no place in two sets of boots.
    """
    row, own = done.row, done.levels.nominal(rule.rate)
    found = tested_fields(row.estimate, done.moderated, done.level, done.levels, rule)
    found["nominal_confidence"] = 1.0 - own
    if isinstance(row, Independent):
        return unpaired(row).model_copy(update=found)
    found["sd"] = float(np.std(row.units, ddof=1))
    found["moderated"] = None if done.moderated is None else _moderated(done.moderated, own)
    found["checks"] = checks(row.units, row.system, row.reference, row.direction, own)
    return single(row).model_copy(update=found)


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
        installs=paired.installs,
        units=tuple(paired.units.tolist()) if paired.installs > 1 else (),
        **UNTESTED,
    )


def unpaired(row: Independent) -> Effect:
    """The ratio of the means of two sets of boots, without any claim; no block has a ratio."""
    better, worse = np.log(row.system), np.log(row.reference)
    sign = 1.0 if row.direction == "higher" else -1.0
    mean = sign * float(better.mean() - worse.mean())
    percent = ratio.percent(mean)
    return Effect(blocks=row.count, log_ratios=(), mean=mean, sd=None, percent=percent, **UNTESTED)
