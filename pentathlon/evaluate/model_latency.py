"""Distributions of latencies as data."""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen


class Percentile(Frozen):
    """One percentile of one distribution, in its unit."""

    percent: float
    merged: int | None
    """Of all boots together; None where fewer than 10 values lie beyond it."""
    boot: float | None
    """Geometric mean of the boots' own percentiles."""
    low: float | None
    """t interval of that mean over the boots, at the study's confidence."""
    high: float | None


class Ratio(Frozen):
    """One percentile against the reference's, from the paired boots; + is faster."""

    percent: float
    speed_percent: float
    low_percent: float | None
    high_percent: float | None


class Latency(Frozen):
    """One distribution on one system: all its histograms, merged."""

    key: str
    system: str
    workload: str
    title: str
    case_text: str
    unit: str
    boots: int
    count: int
    lowest: int
    highest: int
    percentiles: tuple[Percentile, ...]
    ratios: tuple[Ratio, ...]
    corrected_for: int | None
    """Expected interval between requests for which omitted ones were added; None if none were."""
    words: str
    """Whether coordinated omission was corrected, and why or why not."""
