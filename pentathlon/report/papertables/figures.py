"""Lines of derived figures: values with their intervals, and no verdict.

Paths: `regions/REGION/read|write|page`, `regions/BETWEEN/latency`, and, each with a cache and
`cache|drop|size`, `code-size` (memory.code_size) and `data-size` (memory.code_plus_data).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.derived.model import Mean
from pentathlon.evaluate.display import signed_percent, significant
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_curves import CacheCheck
from pentathlon.evaluate.published import difference_percent
from pentathlon.report.papertables.filled import ABSENT, Cell, Judgement, Line
from pentathlon.report.papertables.load import Entry
from pentathlon.report.papertables.units import convert

OPT_LEVEL = "3"


@dataclass(frozen=True)
class Figure:
    """A derived figure with its interval, or why there is none."""

    value: float | None = None
    """None where it is only known to lie in the interval, or not at all."""
    low: float | None = None
    high: float | None = None
    why: str = ""


def line(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Line:
    """The line of a derived figure on every system; reasons why one has none are added."""
    kind, what, part = (entry.row.derived or "").split("/")
    found = [_FINDERS[kind](evaluation, system.name, what, part) for system in evaluation.systems]
    for system, one in zip(evaluation.systems, found, strict=True):
        if one is not None and one.why:
            reasons.setdefault(f"{system.name}: {one.why}.")
    cells = tuple(_cell(entry, one) for one in found)
    return Line(
        label=entry.label,
        unit=entry.unit,
        better="",
        cells=cells,
        judgements=tuple(Judgement(_difference(one, found[0]), None, "") for one in found[1:]),
        measured=any(not cell.missing for cell in cells),
    )


def _cell(entry: Entry, one: Figure | None) -> Cell:
    if one is None:
        return Cell(ABSENT, missing=True)
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f"{_shown(entry, one.low)} to {_shown(entry, one.high)}"
    if one.value is not None:
        detail = f"interval {interval}" if interval else "one boot, so no interval"
        return Cell(_shown(entry, one.value), detail=detail, interval=interval)
    if interval:
        return Cell(interval, detail="the interval; no place inside it is likelier")
    return Cell("not seen", missing=True, detail=one.why)


def _shown(entry: Entry, value: float) -> str:
    return significant(convert(entry.row.convert, value) if value else 0.0)


def _difference(own: Figure | None, base: Figure | None) -> str:
    if own is None or base is None or own.value is None or not base.value:
        return "–"
    return signed_percent(difference_percent(own.value, base.value))


def _of(mean: Mean | None) -> Figure | None:
    return None if mean is None else Figure(mean.value, mean.low, mean.high)


def _regions(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Bandwidths in MB/s, times and latencies in s."""
    found = next((one for one in evaluation.derived.regions if one.system == system), None)
    if found is None:
        return None
    why = f"{found.case_text or 'memory'}: {'; '.join(found.words)}" if found.words else ""
    if part == "latency":
        latency = found.latency(what)
        return Figure(why=why) if latency is None else _of(latency.seconds)
    region = found.region(what)
    if region is None:
        return Figure(why=why)
    if part == "page":
        for latency in found.latencies:
            faster, _, slower = latency.between.partition("–")
            if what in (faster, slower):
                return Figure(latency.faster_seconds if what == faster else latency.slower_seconds)
        return Figure(why=why)
    return _of(region.read if part == "read" else region.write)


def _code_size(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Sizes of code in bytes, at optimisation level 3."""
    for one in evaluation.derived.code_sizes:
        if (one.system, one.opt_level) == (system, OPT_LEVEL):
            return _size(one.checks, what, part)
    return None


def _data_size(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Sizes of data in bytes at which the published loop reads more slowly, at level 3."""
    wanted = case_text({"opt_level": OPT_LEVEL})
    for one in evaluation.curves:
        named = (one.system, one.workload, one.indicator, one.case_text)
        if named == (system, "memory.code_plus_data", "read", wanted):
            return _size(one.checks, what, part)
    return None


def _size(checks: Sequence[CacheCheck], what: str, part: str) -> Figure:
    """Approximate size of code = cache − drop (venkata2003, section 3.2.1), with the interval."""
    check = next((one for one in checks if one.level == what), None)
    if check is None:
        return Figure(why=f"the system claims no {what}")
    claimed = float(check.claimed_bytes)
    if part == "cache":
        return Figure(claimed)
    if check.found_low_bytes is None or check.found_high_bytes is None:
        return Figure(why=check.words)
    low, high = float(check.found_low_bytes), float(check.found_high_bytes)
    if part == "drop":
        return Figure(None, low, high)
    return Figure(None, claimed - high, claimed - low)


_FINDERS: dict[str, Callable[[Evaluation, str, str, str], Figure | None]] = {
    "regions": _regions,
    "code-size": _code_size,
    "data-size": _data_size,
}
