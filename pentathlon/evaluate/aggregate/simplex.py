"""The set of all weights of some parts: how much of it favours a system, and where it turns.

Weights are shares of at least 0 that add up to 1, all equally likely (the uniform distribution on
the simplex): what can be said without knowing the reader's weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from pentathlon.evaluate.aggregate.sobol import BITS, sobol
from pentathlon.evaluate.values import Values

POINTS = 1 << BITS
"""Points that stand for the simplex where there is no formula."""


def share_above(scores: Sequence[float]) -> float:
    """Share of all weights w under which Σ w·score is above 0, exactly.

    A score of exactly 0 counts as below. Source: Varsi 1973, "The multidimensional content of the
    frustum of the simplex", Pacific J. Math. 46(1), in the recursive form without cancellation:
    with x < 0 the negative and y ≥ 0 the other scores, A₀ = 1 and A_k ← (y_k·A_k − x·A_{k−1}) /
    (y_k − x) for every x in turn; the last A is the share below.
    """
    below = [score for score in scores if score < 0]
    above = [score for score in scores if score >= 0]
    if not below:
        return 1.0 if any(score > 0 for score in above) else 0.0
    if not above:
        return 0.0
    column = [1.0] + [0.0] * len(above)
    for x in below:
        for place, y in enumerate(above, start=1):
            column[place] = (y * column[place] - x * column[place - 1]) / (y - x)
    return 1.0 - column[-1]


@cache
def points(parts: int) -> Values:
    """Weights that fill the simplex evenly and are always the same: POINTS × parts, read-only.

    Spacings of sorted coordinates of a Sobol sequence (Devroye 1986, chapter V, theorem 2.1).
    """
    if parts == 1:
        return np.ones((1, 1))
    # The sequence begins with 0, where every weight but one is 0; half a step avoids the border.
    draws = sobol(parts - 1) + 0.5 / POINTS
    edges = np.sort(draws, axis=1)
    padded = np.hstack([np.zeros((POINTS, 1)), edges, np.ones((POINTS, 1))])
    weights = np.clip(np.diff(padded, axis=1), 0.0, 1.0)
    weights.flags.writeable = False
    return weights


def smallest_change(weights: Sequence[float], scores: Sequence[float]) -> tuple[float, int] | None:
    """Least share of the weight that must move so that Σ w·score changes its sign, and whereto.

    The best move takes weight from the part that speaks most for the winner and gives it to the
    part that speaks most against it (a linear program whose solution is greedy).

    Returns:
        (share moved, place of the part that receives it), or None if no weights change the sign.
    """
    total = float(np.dot(weights, scores))
    sign = 1.0 if total >= 0 else -1.0
    own = [sign * score for score in scores]
    target = int(np.argmin(own))
    if own[target] >= 0:
        return None
    left, moved = abs(total), 0.0
    for place in sorted(range(len(own)), key=lambda k: -own[k]):
        gain = own[place] - own[target]
        if left <= 0 or gain <= 0:
            break
        step = min(weights[place], left / gain)
        moved += step
        left -= step * gain
    return moved, target


def turning_share(weights: Sequence[float], scores: Sequence[float], place: int) -> float | None:
    """Share of one part at which Σ w·score is 0, the others in proportion; None if there is none.

    With r the mean score of the others in their present proportion it is r / (r − score).
    """
    rest = 1.0 - weights[place]
    if rest <= 0:
        return None
    others = (float(np.dot(weights, scores)) - weights[place] * scores[place]) / rest
    if others == scores[place]:
        return None
    at = others / (others - scores[place])
    return at if 0.0 <= at <= 1.0 else None
