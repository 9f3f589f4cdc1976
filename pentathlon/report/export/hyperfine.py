"""The times of an evaluation as the JSON of `hyperfine --export-json`.

Its scripts (plots, statistics) read it. A command is a metric with its case and its system, which
is also its parameter `system`, and a run a boot: the means of the boots are what may be compared.
User and system time and exit statuses are not known and are left out.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

from pentathlon.evaluate.model import Evaluation, Row, Summary
from pentathlon.report import posthoc
from pentathlon.report.export.refusal import ExportError
from pentathlon.report.export.units import SECONDS, is_time
from pentathlon.safeio.escaping import json_document


def to_hyperfine(evaluation: Evaluation) -> str:
    """Every metric that is a time, in seconds.

    Raises:
        ExportError: none is one.
    """
    results = [
        _result(row, summary)
        for row in evaluation.rows
        if is_time(row)
        for summary in row.summaries
    ]
    if not results:
        raise ExportError("no metric of this result is a time, and hyperfine's format holds times")
    unfinished = evaluation.study.unfinished
    marks = {"unfinished": unfinished, "post_hoc": posthoc.short(evaluation)}
    document = {name: text for name, text in marks.items() if text} | {"results": results}
    return json_document(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _result(row: Row, summary: Summary) -> dict[str, Any]:
    times = [one.value * SECONDS[row.unit] for one in summary.boot_means]
    return {
        # The scripts name what they draw by the command alone.
        "command": f"{row.key} on {summary.system}",
        "mean": statistics.fmean(times),
        "stddev": statistics.stdev(times) if len(times) > 1 else None,
        "median": statistics.median(times),
        "min": min(times),
        "max": max(times),
        "times": times,
        "parameters": {"system": summary.system},
    }
