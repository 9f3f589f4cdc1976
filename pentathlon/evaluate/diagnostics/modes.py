"""Boots that are slow by a clear step: how many, how often to expect them, what may be unseen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.diagnostics.stability import clear_gap
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.model import Row, Summary
from pentathlon.evaluate.model_series import Mode
from pentathlon.evaluate.values import Values

FEWEST_BOOTS = 6
"""Fewer boots cannot determine a mode from a stray one."""


def unseen_bound(count: int, confidence: float) -> float:
    """Largest share of boots that a mode can have and still not be seen in `count` boots.

    1 − (1 − confidence)^(1/n), the exact form of the rule of three (Hanley and Lippman-Hand 1983).
    """
    return 1.0 - math.pow(1.0 - confidence, 1.0 / count)


def slow_boots(costs: Values) -> npt.NDArray[np.bool_] | None:
    """Which boots are slow by a step; None if there is no step.

    The rule is that of `stability`: the sorted logarithms of the costs split at their largest gap,
    which is above 2 % and above 6 times the range of the wider group. A single boot may be a mode.

    Args:
        costs: logarithm of the cost of every boot, higher is slower.
    """
    if len(costs) < FEWEST_BOOTS:
        return None
    ordered = np.sort(costs)
    at, gap = clear_gap(ordered)
    if gap is None:
        return None
    return np.asarray(costs > (ordered[at - 1] + ordered[at]) / 2.0)


def find_modes(rows: Sequence[Row], confidence: float) -> tuple[Mode, ...]:
    """The modes of every metric on every system."""
    found = []
    for row in rows:
        modes = [
            mode
            for summary in row.summaries
            if row.score
            and summary.minimum > 0
            and (mode := _mode(row, summary, confidence)) is not None
        ]
        for one in modes:
            also = tuple(o.system for o in modes if o is not one and o.blocks == one.blocks)
            found.append(one.model_copy(update={"also": also}))
    return tuple(found)


def _mode(row: Row, summary: Summary, confidence: float) -> Mode | None:
    sign = -1.0 if row.direction == "higher" else 1.0
    costs = sign * np.log([boot.value for boot in summary.boot_means])
    slow = slow_boots(costs)
    if slow is None:
        return None
    count = int(slow.sum())
    low, high = clopper_pearson(count, len(costs), confidence)
    return Mode(
        key=row.key,
        system=summary.system,
        slow=count,
        boots=len(costs),
        percent=ratio.percent(float(costs[slow].mean() - costs[~slow].mean())),
        low_percent=low * 100.0,
        high_percent=high * 100.0,
        blocks=tuple(
            boot.block for boot, is_slow in zip(summary.boot_means, slow, strict=True) if is_slow
        ),
        also=(),
    )
