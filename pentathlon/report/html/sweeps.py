"""Pictures over a numeric factor, one panel for each case, one line for each system.

What the studies draw over chunk, piece and code sizes, with the derived figures marked where they
lie. The numbers are laid out here; `assets/sweeps.js` only draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pentathlon.evaluate.cases import case_text, number, without
from pentathlon.evaluate.derived.model import CodeSize
from pentathlon.evaluate.display import bytes_text, significant
from pentathlon.evaluate.model import Evaluation, Row
from pentathlon.evaluate.model_curves import CurveLevels
from pentathlon.report.experiments import registry
from pentathlon.report.html.gaps import missing
from pentathlon.report.html.sweep import Mark, Sweep, Words, nothing
from pentathlon.report.intervals import value_interval


def find(workload: str) -> Sweep | None:
    """The layout of a workload's picture; None if it has none of its own."""
    return _SWEEPS.get(workload)


def payload(evaluation: Evaluation, short: Callable[[float], Any]) -> list[dict[str, Any]]:
    """The panels of every such workload, with short names (assets/sweeps.js reads them)."""
    found = []
    for workload, sweep in _SWEEPS.items():
        rows = [
            row
            for row in evaluation.rows
            if row.workload == workload
            and number(row.case, sweep.factor) is not None
            and (not sweep.shown or row.metric in sweep.shown)
        ]
        if rows:
            panels = [
                _panel(evaluation, sweep, title, own, short)
                for title, own in _panels(rows, sweep.factor).items()
            ]
            if workload == "disk.order":
                panels += _advantages(evaluation, short)
            found.append({"w": workload, "x": sweep.x_title, "p": panels})
    return found


def _panels(rows: Sequence[Row], factor: str) -> dict[str, list[Row]]:
    """Rows by case and then by what is measured, so that panels of one case stand together."""
    several = len({row.metric for row in rows}) > 1
    cases: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        case = case_text(without(row.case, factor))
        title = ", ".join(part for part in (case, row.title if several else "") if part)
        cases.setdefault(case, {}).setdefault(title or row.title, []).append(row)
    return {title: own for panels in cases.values() for title, own in panels.items()}


def _panel(
    evaluation: Evaluation,
    sweep: Sweep,
    title: str,
    rows: Sequence[Row],
    short: Callable[[float], Any],
) -> dict[str, Any]:
    names = [system.name for system in evaluation.systems]
    ordered = sorted(rows, key=lambda row: number(row.case, sweep.factor) or 0.0)
    case = case_text(without(ordered[0].case, sweep.factor))
    key = f"{ordered[0].metric}|{case}"
    return {
        "t": title,
        "u": ordered[0].unit,
        "l": [list(_line(evaluation, name, sweep.factor, ordered, short)) for name in names],
        "m": [
            [names.index(mark.system), mark.low, mark.high, mark.best]
            for mark in sweep.marks(evaluation, key)
        ],
        "r": [[size, name] for size, name in dict.fromkeys(sweep.rules(evaluation))],
    }


def _line(
    evaluation: Evaluation,
    system: str,
    factor: str,
    ordered: Sequence[Row],
    short: Callable[[float], Any],
) -> Iterator[list[Any]]:
    """[place, mean] of a system; the mean is None where it failed and its line breaks."""
    found = {
        number(row.case, factor) or 0.0: one.mean
        for row in ordered
        if (one := row.summary(system)) is not None
    }
    breaks = missing(evaluation, system, factor, ordered) if found else []
    for place in sorted([*found, *breaks]):
        mean = found.get(place)
        yield [short(place), None if mean is None else short(mean)]


def _advantages(evaluation: Evaluation, short: Callable[[float], Any]) -> Iterator[dict[str, Any]]:
    """How many times as fast reading in order is, with the limit and what is configured."""
    names = [system.name for system in evaluation.systems]
    cases = dict.fromkeys(one.case_text for one in evaluation.derived.read_ahead)
    for case in cases:
        own = {one.system: one for one in evaluation.derived.read_ahead if one.case_text == case}
        rules = {one.configured_bytes for one in own.values() if one.configured_bytes is not None}
        yield {
            "t": f"sequential / {case}",
            "u": "times as fast",
            "l": [
                [[x, short(y)] for x, y in own[name].points] if name in own else []
                for name in names
            ],
            "m": [
                [names.index(name), one.low_bytes, one.high_bytes, None]
                for name, one in own.items()
                if one.low_bytes is not None
            ],
            "r": [[size, f"read_ahead {bytes_text(size)}"] for size in sorted(rules)],
        }


def _code_caches(evaluation: Evaluation) -> Iterator[tuple[int, str]]:
    return _claims(evaluation.derived.code_sizes)


def _region_caches(evaluation: Evaluation) -> Iterator[tuple[int, str]]:
    return _claims(one for one in evaluation.curves if one.workload == "memory.regions")


def _claims(curves: Iterable[CodeSize | CurveLevels]) -> Iterator[tuple[int, str]]:
    for curve in curves:
        for check in curve.checks:
            yield check.claimed_bytes, f"{check.level} {bytes_text(check.claimed_bytes)}"


def _optima(evaluation: Evaluation, key: str) -> Iterator[Mark]:
    for one in evaluation.derived.optima:
        if one.seen and key.endswith(f"|{one.case_text}"):
            yield Mark(one.system, one.set_bytes[0], one.set_bytes[-1], one.best_bytes)


def _optimum_words(evaluation: Evaluation) -> Words:
    for one in evaluation.derived.optima:
        words = one.words
        if one.gain is not None and (ends := value_interval(one.gain.low, one.gain.high)):
            times = significant(one.gain.value)
            words += f"; the undivided loop takes {times} times as long ({ends})"
        yield one.system, one.case_text, (words,)


def _knees(evaluation: Evaluation, key: str) -> Iterator[Mark]:
    for one in evaluation.derived.code_sizes:
        if key.endswith(f"|{one.case_text}"):
            for knee in one.knees:
                yield Mark(one.system, knee.low_bytes, knee.high_bytes)


def _knee_words(evaluation: Evaluation) -> Words:
    for one in evaluation.derived.code_sizes:
        yield one.system, one.case_text, one.words


def _boundaries(evaluation: Evaluation, key: str) -> Iterator[Mark]:
    for one in evaluation.derived.regions:
        if key == f"read|{one.case_text}":
            for _, low, high in one.boundaries:
                yield Mark(one.system, low, high)


def _region_words(evaluation: Evaluation) -> Words:
    for one in evaluation.derived.regions:
        sentences = [
            f"{region.name}: {bytes_text(region.low_bytes)} to {bytes_text(region.high_bytes)}"
            + "".join(
                f", {name} {significant(mean.value)} MB/s"
                for name, mean in (("read", region.read), ("write", region.write))
                if mean is not None
            )
            for region in one.regions
        ]
        sentences += [
            f"{between} boundary between {bytes_text(low)} and {bytes_text(high)}"
            for between, low, high in one.boundaries
        ]
        for latency in one.latencies:
            text = f"{latency.between} latency {significant(latency.seconds.value * 1e6)} µs a page"
            if latency.seconds.low is not None and latency.seconds.high is not None:
                ends = value_interval(latency.seconds.low * 1e6, latency.seconds.high * 1e6)
                text += f" ({ends})"
            sentences.append(text)
        yield one.system, one.case_text, (*sentences, *one.words)


def _ahead_words(evaluation: Evaluation) -> Words:
    for one in evaluation.derived.read_ahead:
        yield one.system, f"sequential against {one.case_text}", (f"limit {one.words}",)


_SWEEPS: dict[str, Sweep] = {
    **{
        workload: pictures.sweep
        for entry in registry.SHOWN
        for workload, pictures in entry.pictures.items()
        if pictures.sweep is not None
    },
    "memory.regions": Sweep(
        "block_bytes",
        "block size, bytes",
        "Bandwidth over the size of the block. Bands: the boundaries between cache, RAM and swap "
        "with their intervals, on the read curve, which they come from.",
        _boundaries,
        _region_caches,
        _region_words,
    ),
    "memory.code_size": Sweep(
        "code_bytes",
        "size of the code, bytes",
        "Time over the size of the code, by level of optimisation. Bands: where the curve has its "
        "knees. Dashed rules: caches that hold instructions, as the systems claim them.",
        _knees,
        _code_caches,
        _knee_words,
    ),
    "memory.sub_looping": Sweep(
        "piece_bytes",
        "size of the piece, bytes",
        "Time for each element and pass over the size of the piece. Ringed: the lowest mean; "
        "bands: from the smallest to the largest piece that may be the best.",
        _optima,
        nothing,
        _optimum_words,
    ),
    "disk.access": Sweep(
        "chunk_bytes",
        "chunk, bytes",
        "Bandwidth over the size of the chunk, for each interface: first read, write, second read.",
    ),
    "disk.order": Sweep(
        "chunk_bytes",
        "chunk, bytes",
        "Rate over the size of the chunk in each order, and how many times as fast reading in "
        "order is. Bands: from where it gains no more. Dashed rules: the configured read-ahead.",
        nothing,
        nothing,
        _ahead_words,
    ),
    "disk.phases": Sweep(
        "chunk_bytes",
        "chunk, bytes",
        "Time of each phase over the size of the chunk, by read and write and by mmap.",
    ),
}
