"""How much the answer depends on the weights: of all possible ones, how many say the same?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pentathlon.evaluate.aggregate import simplex
from pentathlon.evaluate.aggregate.weighting import Weighed, block_means, parts_of, units
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model_aggregate import Member, Sensitivity, Share, SystemAggregate, Turn
from pentathlon.evaluate.values import Values

MOST_PARTS = 1000
"""More parts have no sensitivity: every set of weights of so many parts states nearly the same."""


def sensitivity(kept: Sequence[Weighed], blocks: Sequence[int], rate: float) -> Sensitivity | None:
    """Shares of all weights that favour each side, and the nearest weights that change the winner.

    The parts are the areas; the workloads where there is one area. None with a single part, and
    with more than `MOST_PARTS`.
    """
    kind = "area"
    parts = parts_of(kept, "area")
    if len(parts) < 2:
        kind, parts = "workload", parts_of(kept, "workload")
    if not 2 <= len(parts) <= MOST_PARTS:
        return None
    names = list(parts)
    total = sum(one.weight for one in kept)
    weights = [sum(one.weight for one in own) / total for own in parts.values()]
    grid = np.array(
        [units(block_means(own, blocks), blocks, kept[0].installs) for own in parts.values()]
    )
    scores = [float(row.mean()) for row in grid]
    moved = simplex.smallest_change(weights, scores)
    faster, slower = _shown(grid, rate)
    return Sensitivity(
        kind=kind,
        parts=tuple(
            Member(name=name, weight=weight, mean=score)
            for name, weight, score in zip(names, weights, scores, strict=True)
        ),
        share_faster=simplex.share_above(scores),
        share_shown_faster=faster,
        share_shown_slower=slower,
        smallest_change=None if moved is None else moved[0],
        moved_to=None if moved is None else names[moved[1]],
        turns=tuple(
            Turn(name=name, weight=weights[k], at=simplex.turning_share(weights, scores, k))
            for k, name in enumerate(names)
        ),
    )


def _shown(grid: Values, rate: float) -> tuple[float, float]:
    """Shares of all weights whose interval lies above, and below, equality."""
    blocks = grid.shape[1]
    if blocks < 2:
        return 0.0, 0.0
    samples = simplex.points(len(grid)) @ grid
    centres = samples.mean(axis=1)
    widths = samples.std(axis=1, ddof=1) / np.sqrt(blocks) * ratio.t_quantile(rate, blocks - 1)
    return float(np.mean(centres - widths > 0)), float(np.mean(centres + widths < 0))


def best_shares(aggregates: Sequence[SystemAggregate], reference: str) -> tuple[Share, ...]:
    """Of all weights of the areas: how often each system, the reference too, has the best mean.

    Only the areas that every comparison has count; () with fewer than two systems or areas, and
    with more than `MOST_PARTS` of these.
    """
    if len(aggregates) < 2:
        return ()
    of_areas = [{m.name: m.mean for m in one.means if m.kind == "area"} for one in aggregates]
    shared = [
        mean.name
        for mean in aggregates[0].means
        if mean.kind == "area" and all(mean.name in own for own in of_areas)
    ]
    if not 2 <= len(shared) <= MOST_PARTS:
        return ()
    scores = [[0.0] * len(shared)]
    scores += [[own[name] for name in shared] for own in of_areas]
    best = np.argmax(simplex.points(len(shared)) @ np.array(scores).T, axis=1)
    names = [reference, *(whole.system for whole in aggregates)]
    return tuple(
        Share(system=name, share=float(np.mean(best == place))) for place, name in enumerate(names)
    )
