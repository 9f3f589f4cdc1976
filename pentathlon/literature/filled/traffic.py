"""Differences from the reference over packet sizes, IPv4, in percent (vdovjak2021, section 5).

The largest is that of the largest magnitude, with its sign.
"""

from __future__ import annotations

import math

from pentathlon.evaluate.model import Evaluation
from pentathlon.literature.filled.figure import Figure

WORKLOAD = "network.traffic"


def find(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """A figure of one system; None if the result measured none of it.

    Args:
        what: the metric.
        part: `PROTOCOL-largest` or `PROTOCOL-mean`, over the packet sizes.
    """
    protocol, _, kind = part.partition("-")
    found: dict[str, float] = {}
    measured = False
    for row in evaluation.rows:
        wanted = (row.workload, row.metric, row.case.get("protocol"), row.case.get("ip_version"))
        if wanted != (WORKLOAD, what, protocol, 4):
            continue
        measured = True
        comparison = row.comparison(system)
        if comparison is not None and comparison.difference_percent is not None:
            found[row.case_text] = comparison.difference_percent
    if measured and system == evaluation.study.reference:
        return Figure(words="reference")
    found = {at: value for at, value in found.items() if math.isfinite(value)}
    if not found:
        return None
    if kind == "mean":
        return Figure(sum(found.values()) / len(found), at=f"mean of {len(found)} packet sizes")
    at = max(found, key=lambda name: abs(found[name]))
    return Figure(found[at], at=f"at {at}")
