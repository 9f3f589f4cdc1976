"""Rows with their weights, and the blocks that a mean over them is taken in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pentathlon.evaluate.estimators.paired import unit_means
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class Weighed:
    """A row with its share of the weight and its log-ratio in every block."""

    row: Row
    weight: float
    ratios: dict[int, float]
    stable: bool
    installs: Mapping[int, str] = field(default_factory=dict)
    """Block -> the pair of installs that it booted, where there are several."""


WORTH_MORE = 1 + 1e-9
"""Blocks must be worth more than others by this factor, which rounding does not make."""


def worth_of(weight: Any, blocks: Any) -> Any:
    """What blocks are worth: the weight of the rows that have them, times degrees of freedom.

    A single block is worth a little: it has a mean, though no interval.
    """
    return weight * (blocks - 0.9)


def complete(chosen: Sequence[Weighed]) -> tuple[list[Weighed], list[int]]:
    """The rows and the blocks that a mean is taken over: every row is there in every block.

    Where a row lacks a block, either the row or the block must go. The blocks are taken that keep
    the most weight times degrees of freedom; rows that lack one of them are left out.
    """
    best: tuple[float, list[Weighed], list[int]] = (-1.0, [], [])
    sets = dict.fromkeys(frozenset(one.ratios) for one in chosen)
    common = frozenset.intersection(*sets) if sets else frozenset()
    for blocks in dict.fromkeys((*sets, common)):
        kept = [one for one in chosen if blocks <= one.ratios.keys()]
        worth = worth_of(sum(one.weight for one in kept), len(blocks))
        if blocks and worth > best[0] * WORTH_MORE:
            best = (worth, kept, sorted(blocks))
    return best[1], best[2]


def block_means(kept: Sequence[Weighed], blocks: Sequence[int]) -> Values:
    """The weighted mean log-ratio of every block."""
    weights = np.array([one.weight for one in kept])
    grid = np.array([[one.ratios[block] for block in blocks] for one in kept])
    return np.asarray(weights @ grid / weights.sum(), dtype=np.float64)


def units(values: Values, blocks: Sequence[int], installs: Mapping[int, str]) -> Values:
    """The means of the installs, which are what inference counts; the blocks where there are none.

    Blocks of one pair of installs share whatever the installs fixed (`estimators.paired`).
    """
    return unit_means(values, [installs.get(block, "") for block in blocks])


def parts_of(rows: Sequence[Weighed], by: str) -> dict[str, list[Weighed]]:
    """The rows by "area" or "workload", in their order."""
    found: dict[str, list[Weighed]] = {}
    for one in rows:
        found.setdefault(one.row.area if by == "area" else one.row.workload, []).append(one)
    return found
