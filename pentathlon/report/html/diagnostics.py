"""Diagnostics as tables for the HTML page. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pentathlon.evaluate.diagnostics.modes import unseen_bound
from pentathlon.evaluate.diagnostics.qualify import mode_words
from pentathlon.evaluate.diagnostics.read_source import WORDS
from pentathlon.evaluate.diagnostics.steady import NOT_ASSESSED
from pentathlon.evaluate.display import (
    percent_text,
    scale,
    signed_percent,
    significant,
)
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_latency import Latency
from pentathlon.evaluate.model_series import Cold
from pentathlon.report.answer import row_name
from pentathlon.report.intervals import percent_interval
from pentathlon.study.counting import count_text
from pentathlon.tables.grid import Grid, plain

MOST_WHY = 12


@dataclass(frozen=True)
class Sheet:
    """A table of the page.

    Attributes:
        anchor: its id in the page.
        lede: what it holds.
        table: title, headings, rows, and sentences below it.
        unfolded: it is open from the start.
    """

    anchor: str
    lede: str
    table: Grid
    unfolded: bool = False


def _sheet(
    anchor: str,
    title: str,
    lede: str,
    headings: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    *,
    numeric: Collection[int] = (),
    notes: tuple[str, ...] = (),
    unfolded: bool = False,
) -> Sheet | None:
    """A sheet; None without rows. `numeric` are the places of the columns that hold numbers."""
    if not rows:
        return None
    numbers = [place in numeric for place in range(len(headings))]
    return Sheet(anchor, lede, plain(title, headings, numbers, rows, notes), unfolded)


def _without_table(anchor: str, title: str, lede: str, notes: tuple[str, ...] = ()) -> Sheet:
    return Sheet(anchor, lede, plain(title, (), (), (), notes))


def why(evaluation: Evaluation) -> Sheet | None:
    """Candidates beside the differences that were shown, the strongest difference first."""
    lines = []
    for one in evaluation.whys:
        row = evaluation.row(one.key)
        comparison = row.comparison(one.system)
        if comparison is None or comparison.effect is None:
            continue
        for candidate in one.candidates:
            lines.append(
                (
                    -abs(comparison.effect.mean),
                    (
                        row_name(row),
                        one.system,
                        signed_percent(comparison.effect.percent),
                        f"{candidate.title}, {candidate.unit}",
                        significant(candidate.reference),
                        significant(candidate.value),
                        f"{candidate.agreeing} of {candidate.blocks}",
                        significant(candidate.p, 2),
                    ),
                )
            )
    lines.sort(key=lambda line: line[0])
    return _sheet(
        "why",
        "What differs beside the differences",
        "Counters that the system keeps beside each sample, where they differ with the speed. "
        "They are candidates for an explanation and not proved causes: another cause may change "
        "both, or the two may be unrelated. With n blocks the p value of the sign test is at "
        "least 2^(1−n).",
        (
            "Metric",
            "System",
            "Speed %",
            "Counter",
            evaluation.study.reference,
            "there",
            "Blocks",
            "p, sign test",
        ),
        [line for _, line in lines],
        numeric=(2, 4, 5, 6, 7),
        unfolded=len(lines) <= MOST_WHY,
    )


def left_out(evaluation: Evaluation) -> Sheet | None:
    """Rows that carry weight and are in no mean, with the reason."""
    lines = [
        (
            row_name(evaluation.row(one.key)),
            whole.system,
            percent_text(one.weight * 100),
            one.reason,
        )
        for whole in evaluation.aggregates
        for one in whole.left_out
    ]
    return _sheet(
        "left-out",
        "In no mean",
        "Rows that have a weight and were not measured on both sides, or cannot be compared.",
        ("Metric", "System", "Weight", "Reason"),
        lines,
        numeric={2},
    )


def excluded(evaluation: Evaluation) -> Sheet | None:
    """What the declared rules left out, system by system."""
    lines = [
        (
            one.rule,
            one.system,
            f"{one.excluded:,}",
            f"{one.samples:,}",
            f"{one.untold:,}",
            "–" if one.p_uneven is None else significant(one.p_uneven, 2),
        )
        for one in evaluation.excluded
    ]
    return _sheet(
        "excluded",
        "Samples left out by declared rules",
        "The rules look at counters beside a sample, never at its value or its system, and "
        "were part of the plan. Where the systems lose different shares (Fisher's exact "
        "test), the comparison states it.",
        ("Rule", "System", "Left out", "Of", "Not known", "p, same share"),
        lines,
        numeric=(2, 3, 4, 5),
    )


def modes(evaluation: Evaluation) -> Sheet | None:
    """Boots that are slow by a clear step, and what may be unseen."""
    lines = [
        (
            row_name(evaluation.row(one.key)),
            one.system,
            mode_words(one),
            f"{percent_text(one.low_percent)} to {percent_text(one.high_percent)}",
        )
        for one in evaluation.modes
    ]
    confidence = evaluation.study.confidence
    notes = tuple(
        f"{system.name}: a slow mode of fewer than "
        f"{percent_text(unseen_bound(system.boots, confidence) * 100)} of the boots may not have "
        f"shown in {count_text(system.boots, 'boot')}."
        for system in evaluation.systems
        if system.boots
    )
    return _sheet(
        "modes",
        "Slow boots",
        "Boots that are slower than the others by a clear step, with the exact interval of "
        "their share (Clopper-Pearson).",
        ("Metric", "System", "What", "Share of such boots"),
        lines,
        numeric={3},
        notes=notes,
    ) or _without_table(
        "modes", "Slow boots", "No metric has boots that are slow by a clear step.", notes
    )


def warm_up(evaluation: Evaluation) -> Sheet | None:
    """The course of the processes; one line where none was assessed."""
    assessed = [one for one in evaluation.steady if one.verdict != NOT_ASSESSED]
    if not evaluation.steady:
        return None
    lede = (
        "Segments between change points of the iterations of each process (Barrett et al. "
        "2017): flat, warm-up (it ends at its fastest), slowdown (it was faster before), or no "
        "steady state."
    )
    if not assessed:
        first = evaluation.steady[0]
        return _without_table("warm-up", "Warm-up", f"{lede} No row was assessed: {first.words}.")
    lines = [
        (
            row_name(evaluation.row(one.key)),
            one.system,
            one.words,
            f"{one.processes:,}",
            f"{one.iterations:,}",
            "–" if one.steady_after is None else f"{one.steady_after:g}",
        )
        for one in evaluation.steady
    ]
    head = ("Metric", "System", "Course", "Processes", "Iterations", "Steady after")
    return _sheet("warm-up", "Warm-up", lede, head, lines, numeric=(3, 4, 5))


def cold(evaluation: Evaluation) -> Sheet | None:
    """The first sample of every process, compared on its own."""
    names = [system.name for system in evaluation.systems]
    found: dict[str, dict[str, Cold]] = {}
    for one in evaluation.cold:
        found.setdefault(one.key, {})[one.system] = one
    head = ["Metric"]
    for place, name in enumerate(names):
        head += [f"{name}, cold", "Slower %", *([f"Speed % to {names[0]}"] if place else [])]
    lines = []
    for key, own in found.items():
        row = evaluation.row(key)
        divisor, unit = scale(row.unit, next(iter(own.values())).mean)
        cells = [row_name(row)]
        for place, name in enumerate(names):
            cells += _cold_cells(own.get(name), divisor, unit, compared=place > 0)
        lines.append(tuple(cells))
    return _sheet(
        "cold",
        "Cold performance",
        "The first sample of every process: the cost for a program that does the work once. "
        "It may be a single operation, so it is noisier than the others. “Slower” is "
        "against the counted samples of the same boot; “speed” against the reference's "
        "cold samples, with its interval, “different” where Holm's procedure over all cold "
        "rows shows it.",
        head,
        lines,
        numeric=range(1, len(head)),
    )


def _cold_cells(one: Cold | None, divisor: float, unit: str, *, compared: bool) -> list[str]:
    if one is None:
        return ["–"] * (3 if compared else 2)
    cells = [
        f"{significant(one.mean / divisor)} {unit}",
        "–" if one.slower_percent is None else signed_percent(one.slower_percent),
    ]
    if compared:
        speed = "–" if one.percent is None else signed_percent(one.percent)
        interval = percent_interval(one.low_percent, one.high_percent)
        parts = (speed, interval, "different" if one.different else "")
        cells.append(" ".join(filter(None, parts)))
    return cells


def rates(evaluation: Evaluation) -> Sheet | None:
    """W_G of every metric with several cases."""
    names = [system.name for system in evaluation.systems]
    lines = [
        (
            one.title,
            one.workload,
            f"{one.cases}",
            one.unit,
            *(significant(one.values[name]) for name in names),
        )
        for one in evaluation.absolutes
    ]
    return _sheet(
        "rates",
        "Weighted geometric means of the rates",
        "W_G of martinovic2012, formula (2), over the cases of one metric with equal "
        "weights; times as their rates. Ratios of these numbers do not depend on the "
        "reference; the numbers are not rates of a job.",
        ("Metric", "Workload", "Cases", "Unit", *names),
        lines,
        numeric=(2, *range(4, 4 + len(names))),
    )


def reads(evaluation: Evaluation) -> Sheet | None:
    """Which source answered the reads of disk workloads."""
    lines = [
        (row_name(evaluation.row(one.key)), one.system, WORDS[answer], f"{count:,}")
        for one in evaluation.read_sources
        if any(row.key == one.key for row in evaluation.rows)
        for answer, count in one.reads.items()
    ]
    return _sheet(
        "reads",
        "Sources of the reads",
        "Judged from the pages that the cache held before each timed read and from the bytes "
        "that the block layer read meanwhile. A rate of the cache is not a rate of the disk.",
        ("Metric", "System", "Source", "Reads"),
        lines,
        numeric={3},
    )


def latencies(evaluation: Evaluation) -> Sheet | None:
    """Percentiles of every distribution."""
    lines = [line for one in evaluation.latencies for line in _latency(one)]
    notes = tuple(dict.fromkeys(f"{one.title}: {one.words}." for one in evaluation.latencies))
    return _sheet(
        "latencies",
        "Distributions",
        "Histograms of all rounds and boots, merged and never averaged. “One boot” is the "
        "geometric mean of the boots' own percentiles with its interval over the boots. A "
        "percentile is given where at least 10 values lie beyond it.",
        ("Distribution", "System", "Values", "Percentile", "All merged", "One boot", "Interval",
         "Speed %", "Interval"),
        lines,
        numeric=(2, 3, 4, 5, 6, 7, 8),
        notes=notes,
    )  # fmt: skip


def _latency(one: Latency) -> Iterator[tuple[str, ...]]:
    ratios = {ratio.percent: ratio for ratio in one.ratios}
    for part in one.percentiles:
        divisor, unit = scale(one.unit, float(part.merged or part.boot or 1))
        ratio = ratios.get(part.percent)
        boot = "–" if part.boot is None else significant(part.boot / divisor)
        interval = speed = against = ""
        if part.low is not None and part.high is not None:
            interval = f"[{significant(part.low / divisor)}, {significant(part.high / divisor)}]"
        if ratio is not None:
            speed = signed_percent(ratio.speed_percent)
            against = percent_interval(ratio.low_percent, ratio.high_percent)
        yield (
            row_name(one),
            one.system,
            f"{one.count:,}",
            f"{part.percent:g}",
            "too few" if part.merged is None else f"{significant(part.merged / divisor)} {unit}",
            boot,
            interval,
            speed,
            against,
        )


def guarded(evaluation: Evaluation) -> Sheet | None:
    """What was looked at before two systems were compared."""
    lines = [
        (one.what, whole.system, one.outcome, one.words)
        for whole in evaluation.aggregates
        for one in whole.guards
    ]
    odd = sum(line[2] not in {"same", "not known"} for line in lines)
    return _sheet(
        "guards",
        "Comparability",
        "What each system must share with the reference. “Qualified”: the rows are "
        "judged and state it. “Refused”: they are not judged.",
        ("What", "System", "Outcome", "Words"),
        lines,
        unfolded=odd > 0,
    )


def incomparable(evaluation: Evaluation) -> tuple[Sheet, ...]:
    """What is not comparable, or only with a caution, and what was left out of the answer."""
    made = (guarded(evaluation), left_out(evaluation), excluded(evaluation))
    return tuple(one for one in made if one is not None)


def tables(evaluation: Evaluation) -> tuple[Sheet, ...]:
    """The tables after those of the areas."""
    made = (reads, latencies, modes, warm_up, cold, rates)
    return tuple(one for make in made if (one := make(evaluation)) is not None)
