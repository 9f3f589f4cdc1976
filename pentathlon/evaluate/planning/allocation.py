"""How to spend machine time: iterations, processes and boots from a pilot's variance components.

Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time" (doi:10.1145/2464157.2464160),
sections 5 and 6, with the formulas as corrected in the authors' technical report (University of
Kent, 2012). Values are logarithms, so variances are squared relative deviations. S²ᵢ is the
variance of the means of level i within level i + 1; the share of level i alone is estimated without
bias by

    T²₁ = S²₁,   T²ᵢ = S²ᵢ − S²ᵢ₋₁ / rᵢ₋₁,

and the counts that reach a variance in the least time are, cᵢ being the time that one more
repetition of level i adds by itself,

    rᵢ = ⌈ √( (cᵢ₊₁ / cᵢ) · (T²ᵢ / T²ᵢ₊₁) ) ⌉   below the top level.

The top level is the block: its variance is that of the paired log-ratios, so that what both systems
of a block share is left out, less what the levels below put into it; half of it is each system's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.estimators.ratio import t_quantile
from pentathlon.evaluate.planning.fewest import MOST_BLOCKS, fewest
from pentathlon.evaluate.values import Values

MOST_REPEATS = 1_000
FEWEST_BLOCKS = 3


@dataclass(frozen=True)
class Components:
    """T² of one system: iterations within processes, processes within boots.

    Estimates without bias can be negative; there is then no sign of variance at that level.
    """

    iteration: float
    process: float | None
    """None where every boot has one process: its share is then in the boot's."""

    def lower(self, iterations: int, processes: int) -> float:
        """What the levels below the boot put into the variance of a boot mean."""
        part = max(self.process or 0.0, 0.0) / processes
        return part + max(self.iteration, 0.0) / (iterations * processes)


def components(values: Values) -> Components:
    """The components of one system.

    Args:
        values: logarithms, boots x processes x iterations, at least 2 iterations.
    """
    iterations = values.shape[2]
    s1 = float(values.var(axis=2, ddof=1).mean())
    if values.shape[1] < 2:
        return Components(s1, None)
    s2 = float(values.mean(axis=2).var(axis=1, ddof=1).mean())
    return Components(s1, s2 - s1 / iterations)


@dataclass(frozen=True)
class Costs:
    """Seconds that one more repetition adds by itself, the levels below it not counted."""

    iteration: float
    process: float
    boot: float


@dataclass(frozen=True)
class Allocation:
    """Recommended counts for one metric, and what a block of it then costs both systems.

    Attributes:
        half_width_percent: expected half width with these counts.
    """

    iterations: int
    processes: int
    blocks: int
    half_width_percent: float
    reached: bool
    """The wanted half width is reached within 10,000 blocks."""


def allocate(
    log_ratios: Values,
    sides: Sequence[Values],
    costs: Costs,
    half_width_percent: float,
    level: float,
) -> Allocation:
    """The cheapest counts for a wanted half width of the interval of the mean log-ratio.

    Args:
        log_ratios: the pilot's paired log-ratios, one for each block, at least 3.
        sides: logarithms of both systems, boots x processes x iterations each.
        costs: time of the repetitions.
        level: 1 − confidence.
    """
    parts = [components(side) for side in sides]
    measured = sum(
        part.lower(side.shape[2], side.shape[1]) for part, side in zip(parts, sides, strict=True)
    )
    top = max(float(np.var(log_ratios, ddof=1)) - measured, 0.0)
    own = top / 2.0
    iteration = float(np.mean([part.iteration for part in parts]))
    process = None
    if all(part.process is not None for part in parts):
        process = float(np.mean([part.process for part in parts if part.process is not None]))
    if process is None:
        processes = 1
        iterations = _repeats(costs.boot + costs.process, costs.iteration, iteration, own)
    else:
        processes = _repeats(costs.boot, costs.process, process, own)
        iterations = _repeats(costs.process, costs.iteration, iteration, process)
    variance = top + sum(part.lower(iterations, processes) for part in parts)
    wanted = math.log1p(half_width_percent / 100.0)
    found = fewest(
        lambda n: t_quantile(level, n - 1) * math.sqrt(variance / n) <= wanted, FEWEST_BLOCKS
    )
    blocks = MOST_BLOCKS if found is None else found
    half = t_quantile(level, blocks - 1) * math.sqrt(variance / blocks)
    return Allocation(iterations, processes, blocks, math.expm1(half) * 100.0, found is not None)


def _repeats(above: float, below: float, inner: float, outer: float) -> int:
    """rᵢ from the costs and components of level i and the level above it."""
    if inner <= 0.0:
        return 1
    if outer <= 0.0 or below <= 0.0:
        # All variance is within: as many repetitions as the next level is worth.
        return MOST_REPEATS if below <= 0.0 else min(MOST_REPEATS, max(1, math.ceil(above / below)))
    return min(MOST_REPEATS, max(1, math.ceil(math.sqrt(above / below * inner / outer))))
