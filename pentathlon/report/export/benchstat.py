"""The boots of an evaluation in the Go benchmark format, which `benchstat -col system` reads.

The format: https://go.dev/design/14313-benchmark-format, its units:
https://pkg.go.dev/golang.org/x/perf/benchfmt. A line is a boot's mean of one metric; times are in
ns/op.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pentathlon.evaluate.model import Evaluation, Row
from pentathlon.report import posthoc
from pentathlon.report.export.units import SECONDS, is_time
from pentathlon.safeio.escaping import one_line

NS = 1e9
_NOT_IN_NAME = re.compile(r"\s+")


def to_benchstat(evaluation: Evaluation) -> str:
    """Every metric of every system, with a line for each boot."""
    return "".join(f"{line}\n" for line in _lines(evaluation))


def _lines(evaluation: Evaluation) -> Iterator[str]:
    if evaluation.study.unfinished:
        yield f"unfinished: {one_line(evaluation.study.unfinished)}"
    if short := posthoc.short(evaluation):
        yield f"post-hoc: {one_line(short)}"
    directions: dict[str, set[str]] = {}
    for row in evaluation.rows:
        directions.setdefault(_unit(row), set()).add(row.direction)
    for unit, used in directions.items():
        # A unit of which some metrics want more and others less has no direction of its own.
        if len(used) == 1:
            yield f"Unit {unit} better={min(used)}"
    for system in evaluation.systems:
        yield ""
        yield f"system: {one_line(system.name)}"
        for row in evaluation.rows:
            summary = row.summary(system.name)
            for boot in () if summary is None else summary.boot_means:
                value = boot.value * SECONDS[row.unit] * NS if is_time(row) else boot.value
                yield f"{_name(row)} 1 {value!r} {_unit(row)}"


def _unit(row: Row) -> str:
    return "ns/op" if is_time(row) else _NOT_IN_NAME.sub("_", one_line(row.unit))


def _name(row: Row) -> str:
    """Benchmark names have no blanks, and their parts are NAME=VALUE behind slashes."""
    workload = _word(row.workload)
    parts = [f"{_word(name)}={_word(str(value))}" for name, value in row.case.items()]
    return "/".join(
        [f"Benchmark{workload[:1].upper()}{workload[1:]}", f"metric={_word(row.metric)}", *parts]
    )


def _word(text: str) -> str:
    return _NOT_IN_NAME.sub("_", one_line(text).strip()).replace("/", "_")
