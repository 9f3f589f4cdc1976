"""The table of an area, for reading: numbers are rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pentathlon.evaluate.display import scale, signed_percent, significant
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.report.answer import row_name
from pentathlon.report.intervals import percent_interval
from pentathlon.tables.grid import Grid, plain

SIGNS = (
    "Speed % is against the reference, + is faster. Diff % is of the means shown, in the unit "
    "shown: + is a higher number, be it good or bad."
)
"""How the two columns of percentages differ."""


def area_table(evaluation: Evaluation, area: str, title: str) -> Grid:
    """Means of every system, then differences, speeds and verdicts against the reference."""
    return plain(title, headings(evaluation), numeric(evaluation), body(evaluation, area))


def headings(evaluation: Evaluation) -> list[str]:
    """Column headings of the tables for reading."""
    names = [system.name for system in evaluation.systems]
    found = ["Metric", *names, "Unit"]
    of = "paired blocks" if evaluation.study.in_blocks else "unpaired boots"
    for name in names[1:]:
        found += [f"Diff % of means {name}", f"Speed % of {of} {name}", f"Verdict {name}"]
    return found


def numeric(evaluation: Evaluation) -> list[bool]:
    """Whether each column holds numbers."""
    count = len(evaluation.systems)
    return [False, *[True] * count, False, *[True, True, False] * (count - 1)]


def body(evaluation: Evaluation, area: str) -> Iterator[list[str]]:
    """Rows of the tables for reading."""
    names = [system.name for system in evaluation.systems]
    for row in evaluation.rows_of(area):
        yield _reading(row, names)


def _reading(row: Row, names: Sequence[str]) -> list[str]:
    base = row.summary(names[0]) or row.summaries[0]
    divisor, unit = scale(row.unit, base.mean)
    means = [
        "–" if (one := row.summary(name)) is None else significant(one.mean / divisor)
        for name in names
    ]
    title = row_name(row)
    if not row.declared:
        title = f"{title} ({'exploratory' if row.score else 'context'})"
    cells = [title, *means, unit]
    for name in names[1:]:
        cells += _judgement(row.comparison(name))
    return cells


def _judgement(one: Comparison | None) -> list[str]:
    if one is None:
        return ["–", "–", "–"]
    speed = "–"
    if one.effect is not None:
        interval = percent_interval(one.effect.low_percent, one.effect.high_percent)
        speed = f"{signed_percent(one.effect.percent)} {interval}".rstrip()
    raw = "–" if one.difference_percent is None else signed_percent(one.difference_percent)
    sentence = "; ".join(text for text in (one.words, one.reason, *one.cautions) if text)
    return [raw, speed, sentence]
