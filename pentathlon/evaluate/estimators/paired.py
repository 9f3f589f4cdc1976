"""The paired blocks of one metric, and the units that inference counts.

A block gives one log-ratio. Where a system was installed several times, blocks of one pair of
installs share whatever the install fixed (placement of files, link order), so they are one unit:
their log-ratios are averaged, and the means of the installs are compared (Kalibera and Jones 2013,
section 5: the highest level of repetition decides the interval).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators import ratio

Values = npt.NDArray[np.float64]


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

    @property
    def count(self) -> int:
        """Units of inference."""
        return len(self.units)

    def p_different(self) -> float:
        """Two-sided p value of "the mean log-ratio is 0"."""
        return ratio.p_different(self.units)

    def p_beyond(self, delta: float) -> float:
        """Smallest level whose interval lies wholly beyond ±delta."""
        return ratio.p_beyond(self.units, delta)

    def p_equivalent(self, delta: float) -> float:
        """Smallest level whose interval lies inside ±delta."""
        return ratio.p_equivalent(self.units, delta)


def pair_blocks(system: Series, reference: Series) -> Paired:
    """The blocks that both systems have, in block order."""
    blocks = sorted(system.blocks.keys() & reference.blocks.keys())
    own = np.array([system.blocks[block] for block in blocks], dtype=np.float64)
    other = np.array([reference.blocks[block] for block in blocks], dtype=np.float64)
    ratios = ratio.log_ratios(own, other, system.direction)
    groups: dict[tuple[str, str], list[float]] = {}
    for block, value in zip(blocks, ratios.tolist(), strict=True):
        installs = (system.installs.get(block, ""), reference.installs.get(block, ""))
        groups.setdefault(installs, []).append(value)
    units = ratios
    if len(groups) > 1:
        units = np.array([float(np.mean(values)) for values in groups.values()])
    return Paired(tuple(blocks), own, other, system.direction, ratios, units, max(1, len(groups)))
