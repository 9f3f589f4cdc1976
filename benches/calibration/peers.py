"""The rules by which other tools call one system faster, for many simulated studies at once.

Each takes times of reference and system (trials x boots x iterations) and reports where it claims a
difference. None of them reboots between iterations; a rule that pools boots is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

WIN = 0.01
PTS_RUNS, PTS_THRESHOLD = 3, 3.5


@dataclass(frozen=True)
class Rule:
    """A peer's rule: its name, what it measures, and what it claims."""

    name: str
    boots: int
    iterations: int
    claims: Callable[[Values, Values], Flags]


def _welch(reference: Values, system: Values) -> Flags:
    """Welch's t test at 5 % on the iterations of one boot."""
    p_values = stats.ttest_ind(reference[:, 0], system[:, 0], axis=1, equal_var=False).pvalue
    return np.asarray(p_values <= 0.05)


def _mann_whitney(reference: Values, system: Values) -> Flags:
    """Mann-Whitney U at 5 % on the iterations of all boots pooled (benchstat's test)."""
    both = np.concatenate([times.reshape(len(times), -1) for times in (reference, system)], axis=1)
    size = both.shape[1] // 2
    # Continuous times have no ties; scipy's own function is far slower over many rows.
    ranks = np.argsort(np.argsort(both, axis=1), axis=1) + 1
    u = ranks[:, :size].sum(axis=1) - size * (size + 1) / 2
    spread = np.sqrt(size * size * (2 * size + 1) / 12)
    z = (np.abs(u - size * size / 2) - 0.5) / spread
    return np.asarray(2 * special.ndtr(-z) <= 0.05)


def _hyperfine(reference: Values, system: Values) -> Flags:
    """The printed "r ± s times faster" excludes 1; s propagates the SDs of the runs, not of means.

    hyperfine prints no verdict; this is how its line is read.
    """
    one, other = reference[:, 0], system[:, 0]
    ratio = one.mean(axis=1) / other.mean(axis=1)
    slow = np.maximum(ratio, 1.0 / ratio)
    relative = [times.std(axis=1, ddof=1) / times.mean(axis=1) for times in (one, other)]
    return np.asarray(slow - 1.0 > slow * np.hypot(*relative))


def _fixed_margin(reference: Values, system: Values) -> Flags:
    """Means of the dynamic number of runs differ by 1 % or more (Phoronix Test Suite)."""
    means = [_dynamic_mean(times[:, 0]) for times in (reference, system)]
    return np.asarray(np.abs(means[0] / means[1] - 1.0) >= WIN)


def _dynamic_mean(runs: Values) -> Values:
    """Mean of 3 runs, or more while their SD is 3.5 % or more: up to 6, and up to 9 while it falls
    below half of the first SD (increase_run_count_check of the Phoronix Test Suite)."""
    count = np.full(len(runs), PTS_RUNS)
    first = np.full(len(runs), np.nan)
    going = np.ones(len(runs), dtype=np.bool_)
    for done in range(PTS_RUNS, 3 * PTS_RUNS):
        spread = runs[:, :done].std(axis=1, ddof=1) / runs[:, :done].mean(axis=1) * 100
        first = np.where(np.isnan(first), spread, first)
        more = spread >= PTS_THRESHOLD
        if done >= 2 * PTS_RUNS:
            more &= first - spread > first / 2
        going &= more
        count[going] = done + 1
    taken = np.arange(runs.shape[1]) < count[:, None]
    return np.asarray((runs * taken).sum(axis=1) / count, dtype=np.float64)


PEERS: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("t test, one boot, 5 iterations", 1, 5, _welch),
        Rule("t test, one boot, 20 iterations", 1, 20, _welch),
        Rule("dynamic run count, ±1 %", 1, 9, _fixed_margin),
        Rule("Mann-Whitney, 5 boots x 20 pooled", 5, 20, _mann_whitney),
        Rule("ratio ± propagated SD, 10 runs", 1, 10, _hyperfine),
    )
}
