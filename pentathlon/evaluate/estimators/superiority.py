"""How often one system's boot beats the other's: an effect size without a unit.

A = P(x > y) + P(x = y)/2 over all pairs of boots (Vargha and Delaney 2000), and Cliff's delta
d = P(x > y) − P(x < y) = 2A − 1 (Cliff 1993, doi:10.1037/0033-2909.114.3.494). They describe these
boots; no claim is tested with them.
"""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.values import Values


def probability_faster(system: Values, reference: Values, direction: str) -> float:
    """P(a boot of the system is better than a boot of the reference), ties counted half."""
    order = np.sign(system[:, None] - reference[None, :])
    share = float(np.mean(order)) / 2.0
    return 0.5 + share if direction == "higher" else 0.5 - share


def cliffs_delta(probability: float) -> float:
    """Cliff's delta of that probability: −1 always slower, +1 always faster."""
    return 2.0 * probability - 1.0
