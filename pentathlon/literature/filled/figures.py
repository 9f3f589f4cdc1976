"""Lines of derived figures: values with their intervals, and no verdict.

Paths: `regions/REGION/read|write|page`, `regions/BETWEEN/latency`, and, each with a cache and
`cache|drop|size`, `code-size` (memory.code_size) and `data-size` (memory.code_plus_data);
`difference/METRIC of network.traffic/PROTOCOL-largest|mean`, over the packet sizes;
`forwarding/capacity|peak|sustained|delay|idle/alone`, and `forwarding/capacity|delay|lost/beside`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.display import signed_percent, significant
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_curves import CacheCheck
from pentathlon.evaluate.published import difference_percent
from pentathlon.literature.filled import forwarding, traffic
from pentathlon.literature.filled.figure import Figure, of_mean
from pentathlon.literature.filled.load import Entry
from pentathlon.literature.filled.table import ABSENT, BETTER, Cell, Judgement, Line
from pentathlon.literature.filled.units import convert

OPT_LEVEL = "3"


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
        better=BETTER[entry.direction],
        cells=cells,
        judgements=tuple(
            _judgement(system.name, one, found[0])
            for system, one in zip(evaluation.systems[1:], found[1:], strict=True)
        ),
        measured=any(not cell.missing for cell in cells),
        group=entry.group,
        note=entry.row.note,
    )


def _cell(entry: Entry, one: Figure | None) -> Cell:
    if one is None:
        return Cell(ABSENT, missing=True)
    if one.words:
        return Cell(one.words, missing=True)
    interval = ""
    low, high = _converted(entry, one.low), _converted(entry, one.high)
    if low is not None and high is not None:
        interval = f"{significant(low)} to {significant(high)}"
    value = _converted(entry, one.value)
    if value is not None:
        detail = f"interval {interval}" if interval else one.at or "one boot, so no interval"
        return Cell(significant(value), value, low, high, detail=detail, interval=interval)
    if interval:
        detail = "the interval; no place inside it is likelier"
        return Cell(interval, None, low, high, detail=detail)
    return Cell("not seen", missing=True, detail=one.why)


def _converted(entry: Entry, value: float | None) -> float | None:
    if value is None:
        return None
    return convert(entry.row.convert, value) if value else 0.0


def _judgement(system: str, own: Figure | None, base: Figure | None) -> Judgement:
    if own is None or base is None or own.value is None or not base.value:
        return Judgement(system, "–", None, "")
    difference = difference_percent(own.value, base.value)
    return Judgement(system, signed_percent(difference), None, "", difference)


def _regions(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Bandwidths in MB/s, times and latencies in s."""
    found = next((one for one in evaluation.derived.regions if one.system == system), None)
    if found is None:
        return None
    why = f"{found.case_text or 'memory'}: {'; '.join(found.words)}" if found.words else ""
    if part == "latency":
        latency = found.latency(what)
        return Figure(why=why) if latency is None else of_mean(latency.seconds)
    region = found.region(what)
    if region is None:
        return Figure(why=why)
    if part == "page":
        for latency in found.latencies:
            faster, _, slower = latency.between.partition("–")
            if what in (faster, slower):
                return Figure(latency.faster_seconds if what == faster else latency.slower_seconds)
        return Figure(why=why)
    return of_mean(region.read if part == "read" else region.write)


def _code_size(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Sizes of code in bytes, at optimisation level 3."""
    for one in evaluation.derived.code_sizes:
        if (one.system, one.opt_level) == (system, OPT_LEVEL):
            return size(one.checks, what, part)
    return None


def _data_size(evaluation: Evaluation, system: str, what: str, part: str) -> Figure | None:
    """Sizes of data in bytes at which the published loop reads more slowly, at level 3."""
    wanted = case_text({"opt_level": OPT_LEVEL})
    for one in evaluation.curves:
        named = (one.system, one.workload, one.metric, one.case_text)
        if named == (system, "memory.code_plus_data", "read", wanted):
            return size(one.checks, what, part)
    return None


def size(checks: Sequence[CacheCheck], what: str, part: str) -> Figure:
    """Approximate size of code = cache − drop (venkata2003, section 3.2.1), with the interval.

    No size is negative, so the part of the interval below zero cannot hold the truth.
    """
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
    if low >= claimed:
        return Figure(
            why=f"{what}: it slows down only beyond the cache that is claimed, which leaves no "
            "size for the code"
        )
    return Figure(None, max(0.0, claimed - high), claimed - low)


_FINDERS: dict[str, Callable[[Evaluation, str, str, str], Figure | None]] = {
    "regions": _regions,
    "code-size": _code_size,
    "data-size": _data_size,
    "difference": traffic.find,
    "forwarding": forwarding.find,
}
