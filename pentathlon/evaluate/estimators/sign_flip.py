"""Sign flips of whole blocks: a check of the t test that assumes symmetry only.

If a system is the reference under another name, a block's log-ratio is as likely to be d as −d, so
all 2ⁿ ways to sign the blocks are equally likely (Fisher 1935, "The Design of Experiments", section
21; Pesarin and Salmaso 2010, section 1.9). The p value is the share of signings whose |mean| is at
least the observed one: exact up to 14 blocks, by 9,999 seeded random signings beyond, where the
observed one is counted in (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pentathlon.evaluate.values import Values

EXACT_BLOCKS = 14
DRAWS = 9_999
SEED = 20130901
TOLERANCE = 1e-12
"""Signings whose statistics agree to this relative precision are ties."""


@lru_cache(maxsize=64)
def signings(blocks: int) -> Values:
    """Signs of the blocks, one signing in each row; the first row is the observed one.

    The exact set holds one of each pair of opposite signings: a two-sided statistic is the same.
    """
    if blocks <= EXACT_BLOCKS:
        codes = np.arange(1 << (blocks - 1))
        bits = (codes[:, None] >> np.arange(blocks)) & 1
        return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)
    drawn = np.random.default_rng([SEED, blocks]).integers(0, 2, (DRAWS, blocks))
    return np.vstack([np.ones(blocks), 1.0 - 2.0 * drawn])


def p_sign_flip(sample: Values) -> float:
    """Two-sided p value of "the log-ratios are symmetric around 0", from their mean."""
    means = np.abs(signings(len(sample)) @ sample)
    return float(np.mean(means >= means[0] * (1.0 - TOLERANCE)))


def least_p(blocks: int) -> float:
    """The smallest p value that so many blocks can give."""
    return 1.0 / len(signings(blocks))


def p_max_t(samples: Values) -> Values:
    """Adjusted p values of several systems against one reference, from the same blocks.

    A block is flipped in all systems at once, which keeps their dependence through the common
    reference, and each |t| is compared with the largest |t| over the systems: single-step max-T of
    Westfall and Young 1993, section 2.3. The chance of any false claim among the systems is at most
    the level, if no system differs.

    Args:
        samples: log-ratios, blocks x systems.
    """
    blocks = len(samples)
    signs = signings(blocks)
    means = signs @ samples / blocks
    # Flips leave the sum of squares as it is.
    squares = np.sum(samples**2, axis=0)
    spread = np.maximum(squares / blocks - means**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.abs(means) / np.sqrt(spread)
    statistics = np.where(means == 0.0, 0.0, statistics)
    largest = statistics.max(axis=1)
    observed = statistics[0] * (1.0 - 1e-9)
    return np.asarray(np.mean(largest[:, None] >= observed[None, :], axis=0), dtype=np.float64)
