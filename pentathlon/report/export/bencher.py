"""The means of an evaluation in the Bencher Metric Format (bencher.dev).

A benchmark is a system with workload and case. Measures of this format have no unit, so a measure
carries it in its name, but for those that every project of Bencher has: latency in ns and
throughput in operations per second.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pentathlon.evaluate.model import Evaluation, Row, Summary
from pentathlon.report.export.units import SECONDS, is_time
from pentathlon.safeio.escaping import json_document
from pentathlon.study.catalog import metric_key

LATENCIES = frozenset({"latency", "time", "wall"})
"""Metrics that are Bencher's latency, if they are times."""
NS = 1e9


def to_bencher(evaluation: Evaluation) -> str:
    """Every metric of every system: its mean, and the least and the greatest boot where there are
    several."""
    found: dict[str, dict[str, Any]] = {}
    for row in evaluation.rows:
        for summary in row.summaries:
            measure, factor = _measure(row)
            found.setdefault(_benchmark(row, summary), {})[measure] = _value(summary, factor)
    return json_document(json.dumps(found, indent=2, ensure_ascii=False)) + "\n"


def _benchmark(row: Row, summary: Summary) -> str:
    case = ",".join(f"{name}={value}" for name, value in row.case.items())
    key = metric_key(row.workload, "", case).replace(".[", "[").removesuffix(".")
    return f"{summary.system}/{key}"


def _measure(row: Row) -> tuple[str, float]:
    """The measure's name, and what values are multiplied by."""
    if is_time(row) and row.metric in LATENCIES:
        return "latency", SECONDS[row.unit] * NS
    if row.metric == "throughput" and row.unit == "1/s" and row.direction == "higher":
        return "throughput", 1.0
    unit = "per-s" if row.unit == "1/s" else re.sub(r"[^a-z0-9]+", "-", row.unit.lower()).strip("-")
    named = {"%": "percent", "1": "count"}.get(row.unit, unit)
    return f"{row.metric.replace('_', '-')}-{named}", 1.0


def _value(summary: Summary, factor: float) -> dict[str, float]:
    boots = [one.value * factor for one in summary.boot_means]
    found = {"value": summary.mean * factor}
    if len(boots) > 1:
        found |= {"lower_value": min(boots), "upper_value": max(boots)}
    return found
