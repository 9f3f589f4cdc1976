"""What stands beside the primary t interval of a row: other estimates of the same difference."""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.diagnostics.serial_correlation import p_serial
from pentathlon.evaluate.display import significant
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.fieller import ratio_of_means
from pentathlon.evaluate.estimators.order_statistics import median_interval
from pentathlon.evaluate.estimators.sign_flip import least_p, p_sign_flip
from pentathlon.evaluate.estimators.superiority import cliffs_delta, probability_faster
from pentathlon.evaluate.model import Checks
from pentathlon.evaluate.values import Values


def checks(
    units: Values, system: Values, reference: Values, direction: str, level: float
) -> Checks:
    """Every other estimate of one row.

    Args:
        units: log-ratios of the units of inference (blocks, or installs), at least two.
        system, reference: boot means of the same blocks.
        level: nominal level of the row's own interval.
    """
    middle = median_interval(units, level)
    better, worse = (system, reference) if direction == "higher" else (reference, system)
    means = ratio_of_means(better, worse, level)
    probability = probability_faster(system, reference, direction)
    return Checks(
        median_percent=ratio.percent(float(np.median(units))),
        median_low_percent=None if middle is None else ratio.percent(middle.low),
        median_high_percent=None if middle is None else ratio.percent(middle.high),
        median_confidence=None if middle is None else middle.confidence,
        p_sign_flip=p_sign_flip(units),
        means_percent=(means.ratio - 1.0) * 100.0,
        means_low_percent=None if means.low is None else (means.low - 1.0) * 100.0,
        means_high_percent=None if means.high is None else (means.high - 1.0) * 100.0,
        means_unbounded=means.unbounded,
        probability_faster=probability,
        cliffs_delta=cliffs_delta(probability),
        p_serial=p_serial(units),
    )


def disagreement(
    found: Checks, low_percent: float, high_percent: float, units: int, level: float
) -> str | None:
    """A sentence where median or sign flips contradict what the row's own t interval states, or
    None.

    A check takes part only where so many units could satisfy it at all. A t interval that holds 0
    is contradicted by both checks together only, as one that excludes 0 is by either.
    """
    shown = not low_percent <= 0.0 <= high_percent
    words = {}
    if least_p(units) <= level:
        text = f"the sign-flip check (p = {significant(found.p_sign_flip, 2)})"
        words[text] = found.p_sign_flip <= level
    if found.median_low_percent is not None and found.median_high_percent is not None:
        outside = not found.median_low_percent <= 0.0 <= found.median_high_percent
        words["the median's interval"] = outside
    against = [text for text, says in words.items() if says != shown]
    if shown and against:
        verb = "do" if len(against) > 1 else "does"
        return f"its t interval excludes 0, {' and '.join(against)} {verb} not"
    if not shown and len(against) == 2:
        return f"its t interval holds 0, but {' and '.join(against)} exclude it"
    return None
