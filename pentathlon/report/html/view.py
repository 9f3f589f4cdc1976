"""What the HTML template shows, as plain text: tables, chips, lists. Nothing is computed here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pentathlon.evaluate.cases import REPETITIONS, SIZE
from pentathlon.evaluate.display import (
    bytes_text,
    scale,
    signed_percent,
    significant,
)
from pentathlon.evaluate.model import Comparison, Effect, Evaluation, Row, Scaling, Summary
from pentathlon.evaluate.model_curves import CurveLevels
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.report.answer import compared
from pentathlon.report.experiments import registry
from pentathlon.report.html import sweeps
from pentathlon.report.html.sweep import Words
from pentathlon.report.intervals import percent_interval, value_interval
from pentathlon.study.counting import count_text

CURVE_ROWS = 6
"""A workload with at least so many rows gets a section of its own."""
LEVELS = "Cache levels found in the curves"
OPEN_ROWS = 16
"""Longer tables start folded."""

FOREST = (
    "Speed relative to the reference. Thick: the interval of the row alone. Thin: after allowing "
    "for all rows, cut at the edge of the picture. Filled points are differences; the shaded "
    "region is ±δ."
)

OVERVIEW = (
    "Every metric of every area with its interval, coloured by verdict; right of 0 is faster. "
    "The diamond is the mean of the area. Steps of the axis widen towards both ends; the shaded "
    "region is ±δ. A line that ends at the edge goes on."
)

CURVE = (
    "over block size, both axes logarithmic. Dashed rules: caches that the system claims. Bands: "
    "where the curve has its steps."
)

RATIO = (
    "Speed relative to the reference over block size, with the interval of each row; the shaded "
    "region is ±δ."
)

SCALING = (
    "Time of the whole divided by the number of repetitions: a level line is work that scales "
    "linearly, its height the cost of one repetition."
)

GLYPHS = {
    Verdict.FASTER_BY_DELTA: "▲",
    Verdict.FASTER: "△",
    Verdict.SLOWER: "▽",
    Verdict.SLOWER_BY_DELTA: "▼",
    Verdict.HIGHER: "↑",
    Verdict.LOWER: "↓",
    Verdict.NEGLIGIBLE: "≈",
    Verdict.EQUIVALENT: "=",
    Verdict.INCONCLUSIVE: "?",
    Verdict.UNSTABLE: "≀",
    Verdict.INVALID: "×",
    Verdict.NOT_MEASURED: "–",
}


@dataclass(frozen=True)
class Mean:
    """A cell with the mean of one system."""

    text: str
    flagged: bool
    detail: str


@dataclass(frozen=True)
class Judgement:
    """The cells of one comparison."""

    speed: str
    interval: str
    verdict: Verdict | None
    """None where neither of the two measured the row."""
    glyph: str
    words: str
    notes: tuple[str, ...]
    detail: str


UNTOUCHED = Judgement("–", "", None, "–", "", (), "measured by neither of the two")
"""A row that only another system measured; its cells keep their columns."""


@dataclass(frozen=True)
class Line:
    """One row of a table."""

    key: str
    anchor: str
    title: str
    case: str
    unit: str
    better: str
    means: tuple[Mean, ...]
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True)
class Count:
    """How often a verdict was given, for a strip of counts."""

    verdict: Verdict
    glyph: str
    words: str
    count: int
    share: float


@dataclass(frozen=True)
class Tally:
    """The counts of one system in one part of the report."""

    system: str
    counts: tuple[Count, ...]


@dataclass(frozen=True)
class Slope:
    """Scaling of one style of call on one system."""

    style: str
    system: str
    slope: str
    interval: str
    unit: str
    r_squared: str
    worst: str


@dataclass(frozen=True)
class Figure:
    """A place for a picture: what to draw, and its words for those who do not see it."""

    kind: str
    part: str
    """Area, or workload and metric, that the picture shows."""
    caption: str


Figures = tuple[Figure, ...]


def overview_picture(system: str) -> Figure:
    """The picture of all metrics of one system."""
    return Figure("overview", system, OVERVIEW)


@dataclass(frozen=True)
class Part:
    """One workload with its table and its pictures, or the single metrics of an area."""

    anchor: str
    title: str
    lines: tuple[Line, ...]
    cautions: tuple[str, ...]
    """What qualifies every row of the part, stated once."""
    unfolded: bool
    tallies: tuple[Tally, ...]
    figures: Figures
    levels_title: str
    levels: tuple[tuple[str, str, tuple[str, ...]], ...]
    """(system, curve, sentences) on cache levels, or on what else is derived from the curves."""
    slopes: tuple[Slope, ...]


@dataclass(frozen=True)
class Area:
    """One area of the report."""

    name: str
    tallies: tuple[Tally, ...]
    parts: tuple[Part, ...]


def areas(evaluation: Evaluation) -> tuple[Area, ...]:
    """Every area with its tables."""
    return tuple(
        Area(name, tallies(evaluation, rows), _parts(evaluation, name, rows))
        for name in evaluation.areas
        if (rows := evaluation.rows_of(name))
    )


def tallies(evaluation: Evaluation, rows: Sequence[Row]) -> tuple[Tally, ...]:
    """Counts of the verdicts among the rows, for every compared system."""
    found = []
    delta = evaluation.study.delta_percent
    for system in evaluation.systems[1:]:
        counter = Counter(one.verdict for _, one in compared(rows, system.name))
        whole = counter.total()
        counts = (
            Count(verdict, GLYPHS[verdict], words(verdict, delta), count, count / whole)
            for verdict in Verdict
            if (count := counter[verdict])
        )
        found.append(Tally(system.name, tuple(counts)))
    return tuple(found)


def _parts(evaluation: Evaluation, area: str, rows: Sequence[Row]) -> tuple[Part, ...]:
    workloads: dict[str, list[Row]] = {}
    for row in rows:
        workloads.setdefault(row.workload, []).append(row)
    single = [row for own in workloads.values() if len(own) < CURVE_ROWS for row in own]
    parts = []
    if single:
        figures = (Figure("forest", area, FOREST),)
        parts.append(_part(evaluation, f"{area}-single", "", single, figures))
    for workload, own in workloads.items():
        if len(own) >= CURVE_ROWS:
            anchor, title = workload.replace(".", "-"), own[0].workload_title
            parts.append(_part(evaluation, anchor, title, own, _figures(workload, own)))
    return tuple(parts)


def _figures(workload: str, rows: Sequence[Row]) -> tuple[Figure, ...]:
    case = rows[0].case
    sweep = sweeps.find(workload)
    named = [("sweep", sweep.caption)] if sweep is not None else []
    named += registry.pictures(workload).figures
    if not named and SIZE in case:
        what = "Bandwidth" if rows[0].direction == "higher" else "Latency"
        named = [("curve", f"{what} {CURVE}"), ("ratio", RATIO)]
    elif not named:
        named = [("scaling", SCALING) if REPETITIONS in case else ("forest", FOREST)]
    return tuple(Figure(kind, workload, caption) for kind, caption in named)


def _part(
    evaluation: Evaluation, anchor: str, title: str, rows: Sequence[Row], figures: Figures
) -> Part:
    workload = rows[0].workload if title else ""
    sweep = sweeps.find(workload)
    curves = [one for one in evaluation.curves if one.workload == workload and sweep is None]
    alike = bool(title) and len({row.title for row in rows}) == 1
    pictures = registry.pictures(workload)
    make = pictures.words if sweep is None else sweep.words
    derived = None if make is None else make(evaluation)
    shared = _shared(evaluation, rows)
    return Part(
        anchor=anchor,
        title=title,
        lines=tuple(_line(evaluation, row, alike, shared) for row in rows),
        cautions=tuple(f"{name}: {one}" for name, every in shared.items() for one in every),
        unfolded=len(rows) <= OPEN_ROWS,
        tallies=tallies(evaluation, rows),
        figures=tuple(
            one for one in figures if len(evaluation.systems) > 1 or one.kind != "forest"
        ),
        levels_title=LEVELS if derived is None else pictures.words_title,
        levels=tuple(_levels(curves) if derived is None else derived),
        slopes=tuple(_slope(one) for one in evaluation.scalings if one.workload == workload),
    )


def _levels(curves: Sequence[CurveLevels]) -> Words:
    for curve in curves:
        steps = (curve.boundaries[place] for place in curve.unexplained)
        unexplained = (
            f"a step between {bytes_text(step.low_bytes)} and {bytes_text(step.high_bytes)} that "
            "no claimed cache explains; address translation can make one"
            for step in steps
        )
        sentences = (*(check.words for check in curve.checks), *unexplained)
        yield curve.system, _curve_name(curve, curves), sentences


def _curve_name(curve: CurveLevels, curves: Sequence[CurveLevels]) -> str:
    """The case, with the metric where the workload has curves of several."""
    several = len({one.metric for one in curves}) > 1
    return ", ".join(part for part in (curve.metric if several else "", curve.case_text) if part)


def _slope(one: Scaling) -> Slope:
    divisor, unit = scale(one.unit, one.slope)
    return Slope(
        style=one.case_text,
        system=one.system,
        slope=significant(one.slope / divisor),
        interval=value_interval(one.slope_low, one.slope_high, divisor),
        unit=unit,
        r_squared=f"{one.r_squared:.4f}",
        worst=significant(one.worst_percent, 2),
    )


def _shared(evaluation: Evaluation, rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Cautions of each system that all rows of a part have in common, if there are several."""
    found = {}
    whole = {caution for pair in evaluation.pairs for caution in pair.cautions}
    for system in evaluation.systems[1:]:
        each = [one.cautions for _, one in compared(rows, system.name)]
        common = set(each[0]).intersection(*each[1:]) if len(each) > 1 else set()
        found[system.name] = tuple(
            one for one in (each[0] if common else ()) if one in common - whole
        )
    return found


def _line(
    evaluation: Evaluation, row: Row, alike: bool, of_part: Mapping[str, tuple[str, ...]]
) -> Line:
    """One row; where all rows of a part measure alike, the case alone names it. `of_part` has been
    said above the rows."""
    largest = max((summary.mean for summary in row.summaries), default=0.0)
    reference = row.summary(evaluation.study.reference)
    divisor, unit = scale(row.unit, largest if reference is None else reference.mean)
    # What qualifies a whole comparison is stated once, above.
    shared = {
        pair.system: tuple(one for one in pair.cautions if not one.startswith("compares"))
        for pair in evaluation.pairs
    }
    return Line(
        key=row.key,
        anchor=f"row-{evaluation.place(row.key)}",
        title=row.case_text if alike else row.title,
        case="" if alike else row.case_text,
        unit=unit,
        better=_better(row),
        means=tuple(_mean(row.summary(system.name), divisor) for system in evaluation.systems),
        judgements=tuple(
            UNTOUCHED
            if (one := row.comparison(system.name)) is None
            else _judgement(
                one,
                (*shared.get(system.name, ()), *of_part.get(system.name, ())),
                mark="" if row.declared or not row.score else "exploratory",
            )
            for system in evaluation.systems[1:]
        ),
    )


def _mean(summary: Summary | None, divisor: float) -> Mean:
    if summary is None:
        return Mean("–", False, "no counted sample")
    spread = "" if summary.sd is None else f", SD {significant(summary.sd / divisor)}"
    deviation = (
        ""
        if summary.deviation_percent is None
        else f"; boots within {significant(summary.deviation_percent, 2)} % of the mean"
    )
    return Mean(
        significant(summary.mean / divisor),
        summary.within_one_percent is False,
        f"{count_text(summary.samples, 'sample')} in {count_text(summary.boots, 'boot')}, "
        f"{significant(summary.minimum / divisor)} to {significant(summary.maximum / divisor)}"
        f"{spread}{deviation}",
    )


def _checks(effect: Effect) -> tuple[str, ...]:
    """The other estimates of a row, for its details."""
    found = effect.checks
    if found is None:
        return ()
    sentences = [f"Median {signed_percent(found.median_percent)}"]
    ends = percent_interval(found.median_low_percent, found.median_high_percent, "{} to {}")
    if ends and found.median_confidence is not None:
        sentences[0] += f" ({ends} at {found.median_confidence * 100:.1f} %)"
    sentences.append(f"sign flips p = {significant(found.p_sign_flip, 2)}")
    ends = percent_interval(found.means_low_percent, found.means_high_percent, " ({} to {})")
    after = ", unbounded" if found.means_unbounded else ends
    sentences.append(f"ratio of means {signed_percent(found.means_percent)}{after}")
    if found.p_max_t is not None:
        sentences.append(f"adjusted for all systems p = {significant(found.p_max_t, 2)}")
    share = found.probability_faster * 100
    sentences.append(f"a boot is faster than one of the reference in {share:.0f} % of pairs")
    return ("; ".join(sentences),)


def _better(row: Row) -> str:
    if not row.score:
        return "context, no score"
    return "more is better" if row.direction == "higher" else "less is better"


def _judgement(one: Comparison, shared: Sequence[str], *, mark: str = "") -> Judgement:
    effect = one.effect
    interval, wider, detail = "", "", one.reason
    if effect is not None:
        interval = percent_interval(effect.low_percent, effect.high_percent, "{} to {}")
        ends = (effect.adjusted_low_percent, effect.adjusted_high_percent)
        wider = percent_interval(*ends, "{} to {}")
    if effect is not None and effect.adjusted_confidence is not None and wider:
        level = f"{effect.adjusted_confidence * 100:.3f} %"
        adjusted = f"{count_text(effect.blocks, 'block')}; {level} interval {wider}"
        borrowed = ""
        if effect.moderated is not None:
            ends = (effect.moderated.low_percent, effect.moderated.high_percent)
            borrowed = f"with the variance of its group {percent_interval(*ends, '{} to {}')}"
        parts = [part for part in (detail, adjusted, borrowed, *_checks(effect)) if part]
        detail = ". ".join(parts)
    if one.difference_percent is not None:
        raw = f"the means shown differ by {signed_percent(one.difference_percent)} %"
        detail = f"{detail}. {raw}" if detail else raw
    return Judgement(
        speed="–" if effect is None else signed_percent(effect.percent),
        interval=interval,
        verdict=one.verdict,
        glyph=GLYPHS[one.verdict],
        words=one.words,
        notes=(
            *((mark,) if mark else ()),
            *(note for note in (one.reason, *one.cautions) if note and note not in shared),
        ),
        detail=detail,
    )
