"""Many metrics are judged at once: control of false claims in the whole comparison.

Holm's step-down procedure with weights (Holm 1979, "A simple sequentially rejective multiple test
procedure", sections 3 and 4). The chance that any true hypothesis of the family is rejected is at
most the rate, whatever the dependence between the rows; rows of one boot do depend on each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class Selection:
    """Which hypotheses were rejected, and the level at which each was tested."""

    selected: npt.NDArray[np.bool_]
    levels: Values
    """A hypothesis is selected exactly where its p value is not above its level."""


def workload_weights(workloads: Sequence[str]) -> Values:
    """Weights with mean 1 that give every workload the same share of the error budget.

    A curve over 34 block sizes asks one question in 34 rows; without weights it would drown a
    workload with a single row. The weights depend on what was measured, never on a value.
    """
    sizes = Counter(workloads)
    total = len(workloads)
    return np.array([total / (len(sizes) * sizes[name]) for name in workloads], dtype=np.float64)


def step_down(p_values: Values, weights: Values, rate: float) -> Selection:
    """Reject by weighted step-down at the family-wise error rate `rate`.

    In the order of p/w each hypothesis is tested at rate · w / Σ w of those not yet rejected; the
    first that fails ends the rejections, and the rest keep the levels of that step.
    """
    count = len(p_values)
    selected = np.zeros(count, dtype=np.bool_)
    levels = np.zeros(count, dtype=np.float64)
    if count == 0:
        return Selection(selected, levels)
    order = np.argsort(p_values / weights, kind="stable")
    remaining = np.cumsum(weights[order][::-1])[::-1]
    tested = rate * weights[order] / remaining
    passed = p_values[order] <= tested
    rejected = count if passed.all() else int(np.argmin(passed))
    selected[order[:rejected]] = True
    levels[order] = tested
    if rejected < count:
        rest = order[rejected:]
        levels[rest] = rate * weights[rest] / remaining[rejected]
    return Selection(selected, levels)
