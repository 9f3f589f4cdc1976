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

from pentathlon.evaluate.values import Values

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


def ranks(values: Values) -> Values:
    """Ranks from 1; equal values have the mean of theirs (SciPy's take long to load)."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], dtype=np.float64)


def p_serial(log_ratios: Values) -> float | None:
    """One-sided p value of "the order of the blocks does not matter"; None below 6 blocks."""
    blocks = len(log_ratios)
    if blocks < FEWEST_BLOCKS or float(np.ptp(log_ratios)) == 0.0:
        return None
    moves = np.sum(np.diff(ranks(log_ratios)) ** 2)
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


POOLED_LEVELS = ((10, 0.02), (0, 0.05))
"""(blocks from which on, level): rows do not borrow from each other where all rows together show a
dependence this seldom. In few blocks the test sees little. From 10 on it finds a correlation of 0.3
between independent rows at 2 % as well as at 5 %, and every study that it withholds by chance costs
power (docs/calibration.md has figures).
"""
LIKENESS, COMMON_LEVEL, COMMON_BLOCKS = 0.03, 0.4, 10
"""Rows of which ρ̂² is above the first are in part one series, in which fewer blocks than the last
seldom show a dependence: the pooled test is then made at the second level. Rows of measured studies
have 0 to 0.02, rows that share half of their variance 0.14 in five blocks on average.
"""
POOLED_DRAWS = 9_999


def pooled_level(blocks: int, likeness: Values | float) -> Values:
    """Level of the pooled test with so many blocks.

    Args:
        likeness: ρ̂² of the rows (`estimators.moderated`), (studies...).
    """
    level = next(level for least, level in POOLED_LEVELS if blocks >= least)
    common = (np.asarray(likeness) > LIKENESS) & (blocks < COMMON_BLOCKS)
    return np.asarray(np.where(common, COMMON_LEVEL, level), dtype=np.float64)


@lru_cache(maxsize=64)
def _orders(blocks: int) -> npt.NDArray[np.int64]:
    """Orders of the blocks, the observed one first: all of them up to 7 blocks, else a sample."""
    if blocks <= 7:
        return np.array(list(permutations(range(blocks))))
    generator = np.random.default_rng([SEED, blocks, 1])
    drawn = np.argsort(generator.random((POOLED_DRAWS, blocks)), axis=1)
    return np.vstack([np.arange(blocks), drawn])


def p_pooled(scaled: Values) -> Values:
    """One-sided p value of "the order of the blocks does not matter", of all rows together.

    The statistic is the sum over the rows of the products of neighbouring residuals, r₁ of each row
    but for a factor. All rows are put in the same random order, so whatever they share stays
    shared and the test is exact however they depend on each other (Pesarin and Salmaso 2010,
    section 4.2). Five blocks have 60 orders and their reverses: the smallest p value is 1/60.

    Args:
        scaled: standardised residuals, (studies..., rows, blocks).
    """
    products = np.swapaxes(scaled, -1, -2) @ scaled
    orders = _orders(scaled.shape[-1])
    moves = np.zeros((*products.shape[:-2], len(orders)))
    for place in range(orders.shape[1] - 1):
        moves += products[..., orders[:, place], orders[:, place + 1]]
    observed = moves[..., :1]
    tolerance = 1e-12 * np.abs(observed)
    return np.asarray(np.mean(moves >= observed - tolerance, axis=-1), dtype=np.float64)


def pooled_inflation(scaled: Values) -> Values:
    """Factor on standard errors for the dependence that all rows together show, at least 1.

    The blocks are taken as an autoregression of first order. Its correlation is that whose expected
    share of neighbours' products in the residuals' squares is the mean one of the rows (with n
    blocks that share is −1/n where there is no dependence; else it is taken from seeded draws). The
    factor follows exactly: the variance of the mean over the one that the residuals show, σ̂²/n.

    Args:
        scaled: standardised residuals, (studies..., rows, blocks).
    """
    squares = np.maximum(np.sum(scaled**2, axis=(-1, -2)), 1.0)
    shares = np.sum(scaled[..., 1:] * scaled[..., :-1], axis=(-1, -2)) / squares
    correlations, expected, factors = _autoregressions(scaled.shape[-1])
    found = np.interp(shares, expected, correlations)
    return np.asarray(np.interp(found, correlations, factors), dtype=np.float64)


@lru_cache(maxsize=64)
def _autoregressions(blocks: int) -> tuple[Values, Values, Values]:
    """Correlations from 0 to 0.9, the expected share of each, and its factor."""
    apart = np.abs(np.subtract.outer(np.arange(blocks), np.arange(blocks)))
    centring = np.eye(blocks) - 1.0 / blocks
    drawn = np.random.default_rng([SEED, blocks, 2]).standard_normal((20_000, blocks))
    correlations = np.linspace(0.0, 0.9, 19)
    shares, factors = [], []
    for one in correlations:
        covariance = one**apart
        residuals = drawn @ np.linalg.cholesky(covariance).T @ centring
        products = np.sum(residuals[:, 1:] * residuals[:, :-1], axis=1)
        shares.append(float(np.mean(products / np.sum(residuals**2, axis=1))))
        within = float(np.trace(centring @ covariance))
        factors.append(np.sqrt(covariance.mean() * blocks * (blocks - 1) / within))
    return correlations, np.array(shares), np.array(factors)
