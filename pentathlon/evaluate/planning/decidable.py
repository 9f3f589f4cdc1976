"""What a number of blocks will decide, by the spread that an earlier run of the study found.

For each row as in `deciding`: with n blocks a test at the row's level has power 0.8 for a
difference of (t_{1−α/2} + t_0.8) s/√n, and for equality within (t_{1−α/2} + t_0.9) s/√n. Half of
the rows need no more than the median that is stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from pentathlon.evaluate.estimators.ratio import POWER, percent, t_quantile
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.rule import Rule


@dataclass(frozen=True)
class Decidable:
    """Medians over rows, in percent of the reference.

    Attributes:
        rows: how many rows they are of.
        difference_percent: the smallest difference that is found with power 0.8.
        equality_percent: the smallest region in which equality is shown with power 0.8.
    """

    rows: int
    difference_percent: float
    equality_percent: float


def decidable(rows: Iterable[Row], rule: Rule, blocks: int) -> Decidable | None:
    """The medians for a study of so many blocks; None if no row has a spread.

    Args:
        rows: those of an earlier run.
        rule: that of the study that is planned.
    """
    differences, equalities = [], []
    levels = rule.levels(blocks)
    for row in rows:
        for one in row.comparisons:
            effect = one.effect
            if effect is None or not effect.sd or effect.adjusted_confidence is None:
                continue
            if effect.installs > 1 or blocks < 2:
                continue
            error, freedom = effect.sd / math.sqrt(blocks), blocks - 1.0
            if effect.moderated is not None:
                # What the row borrows is known better with every block.
                done = effect.blocks
                error = effect.moderated.error * math.sqrt(done / blocks)
                freedom = effect.moderated.freedom * (blocks - 1) / (done - 1)
            claim = t_quantile(levels.nominal(1.0 - effect.adjusted_confidence), freedom)
            found = t_quantile(2.0 * (1.0 - POWER), freedom)
            equal = t_quantile(1.0 - POWER, freedom)
            differences.append((claim + found) * error)
            equalities.append((claim + equal) * error)
    if not differences:
        return None
    return Decidable(len(differences), percent(median(differences)), percent(median(equalities)))
