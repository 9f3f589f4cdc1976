"""Blocks and iterations for a given time, from the variance components of a pilot.

The variance of a row's paired log-ratio of one block is that between the blocks plus, for each
system, that between iterations over their number (`allocation`; Kalibera and Jones 2013, section
5). With r iterations a block takes c₀ + c₁ r seconds, so that in a given time n(r) blocks fit, and

    (t_{1−α/2} + t_0.8) √(variance(r) / n(r))

is the smallest difference that a row then shows with power 0.8, at its level α. The r is chosen for
which the median over the rows is smallest: it decides by the pilot alone, before anything is
measured that counts. With three blocks a row's own variance says little, so that the variances of a
group of rows are moderated (`estimators.moderated`), as they will be in the study.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.borrowing import FEWEST_BLOCKS as BORROW_FROM
from pentathlon.evaluate.borrowing import groups
from pentathlon.evaluate.estimate import counted
from pentathlon.evaluate.estimators.moderated import FEWEST_ROWS, moderate
from pentathlon.evaluate.estimators.ratio import POWER, percent, t_quantile
from pentathlon.evaluate.model import Effect, Row
from pentathlon.evaluate.planning.allocation import Components, components
from pentathlon.evaluate.planning.cubes import cube
from pentathlon.evaluate.planning.decidable import Decidable
from pentathlon.evaluate.rule import Rule
from pentathlon.store.query import Result

FEWEST_BLOCKS = 3
MOST_ITERATIONS = 30


@dataclass(frozen=True)
class Spread:
    """What a pilot shows of one row.

    Attributes:
        weight: how many of the study's rows it stands for.
        between: variance of the log-ratio between blocks, without what iterations put into it.
        within: components of both systems; () where they have one iteration.
        processes: of each boot.
        freedom: degrees of freedom of the variance, for each block beyond the first.
        level: 1 − confidence at which the row is claimed.
    """

    weight: float
    between: float
    within: tuple[Components, ...]
    processes: int
    freedom: float
    level: float

    def variance(self, iterations: int) -> float:
        """Of the log-ratio of one block."""
        return self.between + sum(one.lower(iterations, self.processes) for one in self.within)


@dataclass(frozen=True)
class Fit:
    """Counts that fit into the time, and what they will decide."""

    iterations: int
    blocks: int
    decidable: Decidable


def spreads(
    result: Result, rows: Iterable[Row], weights: Mapping[tuple[str, str], float]
) -> list[Spread]:
    """What a pilot shows of its rows, in each system that is compared with the reference.

    Args:
        rows: the pilot's evaluation.
        weights: system and workload -> how many rows of the study each row stands for.
    """
    measured = counted(result.samples())
    found: dict[tuple[str, str, str], list[_Measured]] = defaultdict(list)
    usable = [(row, one) for row in rows for one in row.comparisons if _usable(one.effect)]
    names = groups([row.workload for row, _ in usable], [row.area for row, _ in usable])
    for (row, comparison), group in zip(usable, names, strict=True):
        assert comparison.effect is not None
        cubes = [
            cube(measured, row.key, system, range(comparison.effect.blocks))
            for system in (comparison.system, result.study.reference)
        ]
        one = _Measured(
            comparison.effect,
            tuple(components(values) for values in cubes if values is not None),
            next((values.shape for values in cubes if values is not None), (0, 1, 1)),
            weights.get((comparison.system, row.workload), 1.0),
        )
        found[comparison.system, *group].append(one)
    return [spread for group in found.values() for spread in _spreads(group)]


@dataclass(frozen=True)
class _Measured:
    effect: Effect
    within: tuple[Components, ...]
    shape: tuple[int, ...]
    """Blocks, processes and iterations."""
    weight: float


def _usable(effect: Effect | None) -> bool:
    return (
        effect is not None
        and effect.blocks >= FEWEST_BLOCKS
        and effect.installs == 1
        and effect.adjusted_confidence is not None
        and bool(effect.sd)
    )


def _spreads(group: Sequence[_Measured]) -> Iterator[Spread]:
    """The rows of a group that lend each other strength."""
    blocks = group[0].effect.blocks
    if len(group) >= FEWEST_ROWS and all(one.effect.blocks == blocks for one in group):
        lent = moderate(np.array([one.effect.log_ratios for one in group]))
        variances, freedom = lent.variance.tolist(), float(lent.freedom) / (blocks - 1)
    else:
        variances, freedom = [(one.effect.sd or 0.0) ** 2 for one in group], 1.0
    for one, variance in zip(group, variances, strict=True):
        _, processes, iterations = one.shape
        inner = sum(part.lower(iterations, processes) for part in one.within)
        assert one.effect.adjusted_confidence is not None
        yield Spread(
            weight=one.weight,
            between=max(variance - inner, 0.0),
            within=one.within,
            processes=processes,
            freedom=freedom,
            level=1.0 - one.effect.adjusted_confidence,
        )


def choose(
    rows: Sequence[Spread],
    rule: Rule,
    blocks: Callable[[int], int],
    fewest: int = FEWEST_BLOCKS,
) -> Fit | None:
    """The counts that show the smallest differences; None where too few blocks fit, or no row has a
    spread.

    Args:
        rule: that of the study.
        blocks: how many fit, by the iterations.
        fewest: blocks below which nothing is measured.
    """
    fits = [
        Fit(iterations, count, _decidable(rows, rule, iterations, count))
        for iterations in range(1, MOST_ITERATIONS + 1)
        if rows and (count := blocks(iterations)) >= fewest
    ]
    return min(fits, key=lambda one: one.decidable.difference_percent, default=None)


def _decidable(rows: Sequence[Spread], rule: Rule, iterations: int, blocks: int) -> Decidable:
    levels = rule.levels(blocks)
    differences, equalities = [], []
    for row in rows:
        lent = row.freedom if rule.moderated and blocks >= BORROW_FROM else 1.0
        freedom = lent * (blocks - 1.0)
        error = math.sqrt(row.variance(iterations) / blocks)
        claim = t_quantile(levels.nominal(row.level), freedom)
        differences.append((claim + t_quantile(2.0 * (1.0 - POWER), freedom)) * error)
        equalities.append((claim + t_quantile(1.0 - POWER, freedom)) * error)
    weights = [row.weight for row in rows]
    return Decidable(
        round(sum(weights)),
        percent(_median(differences, weights)),
        percent(_median(equalities, weights)),
    )


def _median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The smallest value that has half of the weight at or below it."""
    ordered = sorted(zip(values, weights, strict=True))
    below = np.cumsum([weight for _, weight in ordered])
    return ordered[int(np.searchsorted(below, below[-1] / 2.0))][0]
