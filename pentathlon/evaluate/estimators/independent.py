"""One metric of two systems that were not measured in blocks: their boots are independent samples.

What changes between boots stays in both, and what changed between the systems' measurements (the
time of day, the temperature, another tenant) looks like a difference of the systems: no block takes
it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators.welch import Estimate, welch
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK
from pentathlon.evaluate.values import Values


@dataclass(frozen=True)
class Independent:
    """One row; it is to have two boots or more on each side before anything is asked of it."""

    system: Values
    """Boot means."""
    reference: Values
    direction: str

    @property
    def count(self) -> int:
        """Boots of the side that has fewer, which few boots are allowed for by."""
        return min(len(self.system), len(self.reference))

    @cached_property
    def estimate(self) -> Estimate:
        """The mean log-ratio by Welch, without any allowance for looks and few boots."""
        found = welch(self.system, self.reference, self.direction)
        return Estimate(found.mean, found.error, found.freedom, ONE_LOOK)

    @property
    def apart(self) -> bool:
        """Whether every boot of one system is better than every boot of the other."""
        return bool(
            self.system.min() > self.reference.max() or self.system.max() < self.reference.min()
        )


def independent(system: Series, reference: Series) -> Independent:
    """The boots of two systems."""
    own, other = (np.array(list(one.blocks.values()), dtype=np.float64)
                  for one in (system, reference))  # fmt: skip
    return Independent(own, other, system.direction)
