"""Bencher Metric Format: JSON, {benchmark: {measure: {"value": number}}} (bencher.dev, reference).

The file has neither units nor directions. They are known of the measures that every project of
Bencher has; those of others the user gives.
"""

from __future__ import annotations

from pentathlon.extraction.tools.json_document import Node, document
from pentathlon.extraction.tools.rows import (
    Extracted,
    ExtractError,
    Extractor,
    Measure,
    Metric,
    Options,
    Row,
    metric_id,
)
from pentathlon.safeio.clipping import described

WANTED = "JSON of the Bencher Metric Format"
BUILT_IN = {
    "latency": Measure("ns", "lower"),
    "throughput": Measure("1/s", "higher"),
    "build-time": Measure("s", "lower"),
    "file-size": Measure("B", "lower"),
}
"""Slugs of Bencher's own measures: nanoseconds, operations per second, seconds, bytes."""


def read(text: str, options: Options) -> Extracted:
    """Every value. Lower and upper values are bounds of unknown meaning, and no values.

    Raises:
        ExtractError: it is no such text, or a measure's unit is not known.
    """
    known = BUILT_IN | dict(options.measures)
    rows: list[Row] = []
    bounds = 0
    names: dict[str, str] = {}
    for benchmark, measures in _members(document(text, WANTED)):
        for measure, values in _members(measures):
            if measure not in known:
                raise ExtractError(
                    f"has the measure {described(measure)}, whose unit and direction it does not "
                    f"say; give them with --measure '{measure}=UNIT,higher' or ',lower'"
                )
            name = metric_id(measure)
            if names.setdefault(name, measure) != measure:
                raise ExtractError(
                    f"has the measures {described(names[name])} and {described(measure)}, whose "
                    f"names are both {name}; rename one"
                )
            metric = Metric(name, measure, known[measure].unit, known[measure].direction)
            value = values["value"]
            bounds += any(values.find(name) for name in ("lower_value", "upper_value"))
            rows.append(
                Row("bmf", "Benchmark", metric, {"benchmark": benchmark}, (value.number(),),
                    value.place)
            )  # fmt: skip
    left_out = (f"lower and upper values of {bounds} measures",) if bounds else ()
    return Extracted(None, tuple(rows), left_out)


def _members(node: Node) -> list[tuple[str, Node]]:
    return [(name, node[name]) for name in node.members()]


EXTRACTOR = Extractor("bmf", "JSON of the Bencher Metric Format", read, frozenset({"measures"}))
