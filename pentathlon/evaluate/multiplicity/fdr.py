"""Exploratory metrics: which differences are worth a study of their own.

Benjamini and Hochberg 1995 (doi:10.1111/j.2517-6161.1995.tb02031.x), weighted as Genovese, Roeder
and Wasserman 2006: among the rows that are called different, the expected share of false ones is at
most the rate, for independent and for positively dependent rows (Benjamini and Yekutieli 2001). The
interval of each selected row is widened to the level R · rate · w / m, R the number of selected
rows of m (Benjamini and Yekutieli 2005, doi:10.1198/016214504000001907): of the intervals that are
reported because they were selected, at most the rate misses its truth on average.
"""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.multiplicity.holm import Selection
from pentathlon.evaluate.values import Values


def step_up(p_values: Values, weights: Values, rate: float) -> Selection:
    """Select by step-up at the false discovery rate `rate`; weights have mean 1.

    A hypothesis is selected exactly where its p value is not above its level; the levels are those
    of the selection, or of one selected row where there is none.
    """
    count = len(p_values)
    if count == 0:
        return Selection(np.zeros(0, dtype=np.bool_), np.zeros(0))
    ordered = np.sort(p_values / weights)
    steps = rate * np.arange(1, count + 1) / count
    passed = np.flatnonzero(ordered <= steps)
    chosen = int(passed[-1]) + 1 if len(passed) else 0
    levels = rate * max(chosen, 1) * weights / count
    return Selection(np.asarray(p_values <= levels, dtype=np.bool_), levels)
