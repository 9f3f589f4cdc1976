"""Blocks that depend on their neighbours: found by the rank version of von Neumann's ratio.

The t interval takes the blocks as independent. If their log-ratios wander, it is too narrow, and no
number of further blocks mends that. Bartels 1982 (doi:10.1080/01621459.1982.10477764):

    RVN = Σ (Rᵢ − Rᵢ₊₁)² / Σ (Rᵢ − R̄)²,   Rᵢ the rank of block i in time,

is small where neighbours are alike. Ranks make its distribution the same for every continuous
distribution of the log-ratios: it is tabled exactly up to 8 blocks and from 100,000 seeded
permutations beyond. Only likeness is tested: where neighbours differ more than chance has it, the
interval is too wide, not too narrow.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np
import numpy.typing as npt
import scipy

Values = npt.NDArray[np.float64]

LEVEL = 0.01
"""A row is refused where so strong a dependence would come by chance this seldom."""
FEWEST_BLOCKS = 6
EXACT_BLOCKS = 8
DRAWS = 100_000
SEED = 19820377


@lru_cache(maxsize=64)
def _null(blocks: int) -> Values:
    """Numerators Σ (Rᵢ − Rᵢ₊₁)² of random orders of the ranks 1..n, sorted."""
    if blocks <= EXACT_BLOCKS:
        orders = np.array(list(permutations(range(blocks))), dtype=np.float64)
    else:
        generator = np.random.default_rng([SEED, blocks])
        orders = np.argsort(generator.random((DRAWS, blocks)), axis=1).astype(np.float64)
    return np.sort(np.sum(np.diff(orders, axis=1) ** 2, axis=1))


def p_serial(log_ratios: Values) -> float | None:
    """One-sided p value of "the order of the blocks does not matter"; None below 6 blocks."""
    blocks = len(log_ratios)
    if blocks < FEWEST_BLOCKS or float(np.ptp(log_ratios)) == 0.0:
        return None
    moves = np.sum(np.diff(scipy.stats.rankdata(log_ratios)) ** 2)
    return float(p_values(np.array([moves]), blocks)[0])


def p_values(moves: Values, blocks: int) -> Values:
    """p values of sums Σ (Rᵢ − Rᵢ₊₁)² of so many blocks."""
    null = _null(blocks)
    below = np.searchsorted(null, moves, side="right")
    if blocks <= EXACT_BLOCKS:
        return np.asarray(below / len(null), dtype=np.float64)
    return np.asarray((below + 1) / (len(null) + 1), dtype=np.float64)


def dependence(p_value: float | None) -> str | None:
    """What is wrong about the order of the blocks, in words, or None."""
    if p_value is None or p_value > LEVEL:
        return None
    return (
        "the blocks' ratios depend on their neighbours in time "
        f"(rank von Neumann ratio, p = {p_value:.2g}), so the interval is too narrow"
    )
