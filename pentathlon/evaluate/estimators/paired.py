"""The paired blocks of one metric, and the units that inference counts.

A block gives one log-ratio. Where a system was installed several times, blocks of one pair of
installs share whatever the install fixed (placement of files, link order), so they are one unit:
their log-ratios are averaged, and the means of the installs are compared (Kalibera and Jones 2013,
section 5: the highest level of repetition decides the interval).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class Paired:
    """One row, block by block."""

    blocks: tuple[int, ...]
    system: Values
    """Boot means of the blocks."""
    reference: Values
    direction: str
    log_ratios: Values
    """Per block, positive is better than the reference."""
    units: Values
    """Per unit of inference: the blocks, or the installs above them."""
    installs: int
    """Pairs of installs; with one of them the blocks are the units."""
    floor: float = 0.0
    """Variance below which no estimate of it is believed (`resolution`)."""
    inflation: float = 1.0
    """Factor on the standard error, for blocks that depend on each other."""

    @property
    def count(self) -> int:
        """Units of inference."""
        return len(self.units)

    @property
    def borrowable(self) -> tuple[tuple[int, ...], int]:
        """What rows share that can be moderated together: their blocks, and how many units."""
        return self.blocks, self.count

    @cached_property
    def estimate(self) -> Estimate:
        """The mean log-ratio with the row's own error, without any allowance for looks."""
        error = max(ratio.ratio_error(self.units), math.sqrt(self.floor / self.count))
        return Estimate(float(np.mean(self.units)), error * self.inflation, self.count - 1.0)


def pair_blocks(system: Series, reference: Series) -> Paired:
    """The blocks that both systems have, in block order."""
    blocks = sorted(system.blocks.keys() & reference.blocks.keys())
    own = np.array([system.blocks[block] for block in blocks], dtype=np.float64)
    other = np.array([reference.blocks[block] for block in blocks], dtype=np.float64)
    ratios = ratio.log_ratios(own, other, system.direction)
    installs = [
        (system.installs.get(block, ""), reference.installs.get(block, "")) for block in blocks
    ]
    units, count = unit_means(ratios, installs), max(1, len(set(installs)))
    return Paired(tuple(blocks), own, other, system.direction, ratios, units, count)


def unit_means(values: Values, installs: Sequence[Hashable]) -> Values:
    """The means of the installs, which are what inference counts; the values where there is one.

    Args:
        installs: what was booted for each value.
    """
    groups: dict[Hashable, list[float]] = {}
    for install, value in zip(installs, values.tolist(), strict=True):
        groups.setdefault(install, []).append(value)
    if len(groups) < 2:
        return values
    return np.array([float(np.mean(own)) for own in groups.values()])
