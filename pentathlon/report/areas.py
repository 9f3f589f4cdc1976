"""The answer in one sentence for each area, then for all of them together: which system is faster,
by how much, and whether that is sure.

Every size is one of speed against the reference, so + is faster, whatever the unit of a metric.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pentathlon.evaluate.aggregate.aggregate import direction
from pentathlon.evaluate.display import is_known, percent_text, signed_percent
from pentathlon.evaluate.estimators.ratio import log_of
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.evaluate.verdict import Verdict
from pentathlon.evaluate.wording import QUALITY, SPEED, Wording
from pentathlon.report.answer import (
    HUGE,
    between,
    compared,
    mostly_unstable,
    shown_equal,
    speed_words,
)
from pentathlon.study.counting import count_text

SURE, EQUAL, OPEN = "sure", "equal", "open"
GLYPHS = {SURE: {1: "▲", -1: "▼"}, EQUAL: {0: "="}, OPEN: {0: "?"}}
TOGETHER = "Together"
LEAST_SHARE = 0.005
"""A share of the weight that no percentage without decimals shows."""


@dataclass(frozen=True)
class AreaLine:
    """One area of one system, or everything together.

    Attributes:
        area: its name; "" for everything together.
        title: for the start of the sentence.
        state: `SURE`, `EQUAL` or `OPEN`.
        sign: +1 for faster than the reference and −1 for slower where that is sure, else 0.
        words: the size and how sure it is.
        interval: the interval of the speed in percent; "" where there is none.
        detail: how many metrics are decided, or the weights.
    """

    area: str
    title: str
    state: str
    sign: int
    words: str
    interval: str
    detail: str
    unstable: bool = False
    """Most metrics are, so that the mean shows nothing and more blocks do not help."""

    @property
    def glyph(self) -> str:
        """A sign that stands for direction and sureness without a colour."""
        return GLYPHS[self.state][self.sign]

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        interval = f" ({self.interval})" if self.interval else ""
        return f"{self.title}: {self.words}{interval}; {self.detail}."


@dataclass(frozen=True)
class Overview:
    """The lines of one system."""

    system: str
    reference: str
    lines: tuple[AreaLine, ...]
    strength: float
    """The speed of everything together as a log-ratio, and 0 where no difference is sure."""


def overviews(evaluation: Evaluation) -> tuple[Overview, ...]:
    """The lines of each system of which something was compared with the reference."""
    found = []
    for pair in evaluation.pairs:
        lines = tuple(_lines(evaluation, pair.system))
        whole = _mean(evaluation, pair.system, "all", "")
        unstable = mostly_unstable(evaluation, pair.system)
        shown = whole is not None and direction(whole) and not unstable
        strength = whole.mean if shown and whole is not None else 0.0
        if lines:
            found.append(Overview(pair.system, evaluation.study.reference, lines, strength))
    return tuple(found)


def legend(evaluation: Evaluation) -> str:
    """What the words and signs of the lines mean."""
    study = evaluation.study
    delta = percent_text(study.delta_percent)
    confidence = percent_text(study.confidence * 100)
    return (
        f"Speed against {study.reference}, + is faster. Sure: the {confidence} interval in "
        f"brackets, of each line alone, does not contain 0. Equal: it lies within ±{delta}. "
        "Open: neither is shown."
    )


def _lines(evaluation: Evaluation, system: str) -> Iterator[AreaLine]:
    areas = [line for area in evaluation.areas if (line := _area(evaluation, system, area))]
    stated = evaluation.study.weights
    if len(areas) == 1 and stated:
        # Within one area workloads are weighed.
        own = ", ".join(f"{name} {weight:g}" for name, weight in stated.items())
        areas = [replace(areas[0], detail=f"{areas[0].detail}; weights {own}")]
    yield from areas
    whole = _mean(evaluation, system, "all", "")
    if len(areas) > 1 and whole is not None:
        unstable = mostly_unstable(evaluation, system)
        judged = _judged(evaluation, whole, SPEED, unstable=unstable)
        yield AreaLine("", TOGETHER, *judged, weights_used(whole), unstable)


def weights_used(whole: Mean) -> str:
    """The shares that the areas really have in a mean, such as "weights: process 33 %"."""
    shares = [
        f"{one.name}\N{NO-BREAK SPACE}{percent_text(one.weight * 100)}"
        for one in whole.members
        if one.weight >= LEAST_SHARE
    ]
    less = ""
    if whole.weight < 1 - LEAST_SHARE:
        less = f"; {percent_text((1 - whole.weight) * 100)} of the weight could not be compared"
    return f"weights {', '.join(shares)}{less}"


def _area(evaluation: Evaluation, system: str, area: str) -> AreaLine | None:
    scores = [row for row in evaluation.rows_of(area) if row.score]
    every = list(compared(scores, system))
    if not every:
        return None
    mean = _mean(evaluation, system, "area", area)
    kind = QUALITY if all(row.kind == QUALITY for row, _ in every) else SPEED
    unstable = mostly_unstable(evaluation, system, area)
    if mean is not None:
        judged = _judged(evaluation, mean, kind, unstable=unstable)
    else:
        judged = (*_of_rows(every, kind), "")
    return AreaLine(area, area.capitalize(), *judged, _counts(every, kind), unstable)


def _judged(
    evaluation: Evaluation, mean: Mean, kind: Wording, *, unstable: bool
) -> tuple[str, int, str, str]:
    """State, sign, words and interval of a mean over rows; an open one has no interval."""
    delta_percent = evaluation.study.delta_percent
    if unstable:
        return OPEN, 0, f"open, {speed_words(mean.mean, kind)} on average but unstable", ""
    if mean.low_percent is None or mean.high_percent is None:
        return OPEN, 0, f"open, {speed_words(mean.mean, kind)} in the only block", ""
    low, high = log_of(mean.low_percent), log_of(mean.high_percent)
    if shown_equal(mean, delta_percent):
        return EQUAL, 0, f"equal within {percent_text(delta_percent)}, sure", _interval(mean, kind)
    sign = direction(mean)
    if sign:
        return SURE, sign, f"{speed_words(mean.mean, kind)}, sure", _interval(mean, kind)
    if mean.below_floor and mean.floor_percent is not None and (low > 0 or high < 0):
        floor = percent_text(mean.floor_percent)
        return OPEN, 0, f"open, within the noise floor of this machine of {floor}", ""
    return OPEN, 0, f"open, {_bounds(low, high, mean, kind)}", ""


def _bounds(low: float, high: float, mean: Mean, kind: Wording) -> str:
    """What an interval leaves possible; an end that bounds nothing is not printed."""
    known = is_known(mean.low_percent or 0.0), is_known(mean.high_percent or 0.0)
    if not any(known):
        return f"not bounded by {count_text(mean.blocks, 'block')}"
    if not all(known):
        return f"at most {speed_words(low if known[0] else high, kind)}"
    return f"{speed_words(low, kind)} to {speed_words(high, kind)}"


def _interval(mean: Mean, kind: Wording) -> str:
    if mean.low_percent is None or mean.high_percent is None:
        return ""
    if not is_known(mean.low_percent) or not is_known(mean.high_percent):
        return ""
    low, high = log_of(mean.low_percent), log_of(mean.high_percent)
    if min(abs(low), abs(high)) >= math.log(HUGE) and low * high > 0:
        near, far = sorted((low, high), key=abs)
        return between(near, far, kind)
    ends = signed_percent(mean.low_percent), signed_percent(mean.high_percent)
    return f"{ends[0]} to {ends[1]}\N{NO-BREAK SPACE}%"


def _of_rows(every: Sequence[tuple[Row, Comparison]], kind: Wording) -> tuple[str, int, str]:
    """State, sign and words where there is no mean: what is shown of single metrics."""
    signs = {one.verdict.sign for _, one in every} - {0}
    means = sorted(
        (one.effect.mean for _, one in every if one.verdict.sign and one.effect is not None),
        key=abs,
    )
    if len(signs) == 1:
        (sign,) = signs
        return SURE, sign, f"{between(means[0], means[-1], kind)} where it differs, sure"
    if signs:
        return OPEN, 0, f"{kind.up} for some metrics and {kind.down} for others, sure"
    if all(one.verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE) for _, one in every):
        return EQUAL, 0, "equal, sure"
    return OPEN, 0, "open"


def _counts(every: Sequence[tuple[Row, Comparison]], kind: Wording) -> str:
    """How many metrics are decided and which way."""
    verdicts = Counter(_column(one.verdict, kind) for _, one in every)
    order = (kind.up, kind.down, "equal", "open", "unstable", "not comparable")
    first, *rest = [name for name in order if verdicts[name]]
    if len(every) == 1:
        return f"1 metric, {first}"
    head = f"{verdicts[first]} of {len(every)} metrics {first}"
    # No line ends between a number and what it counts.
    return ", ".join((head, *(f"{verdicts[name]}\N{NO-BREAK SPACE}{name}" for name in rest)))


def _column(verdict: Verdict, kind: Wording) -> str:
    if verdict.sign:
        return kind.up if verdict.sign > 0 else kind.down
    if verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE):
        return "equal"
    if verdict is Verdict.UNSTABLE:
        return "unstable"
    return "open" if verdict is Verdict.INCONCLUSIVE else "not comparable"


def _mean(evaluation: Evaluation, system: str, kind: str, name: str) -> Mean | None:
    whole = next((one for one in evaluation.aggregates if one.system == system), None)
    if whole is None:
        return None
    return whole.everything if kind == "all" else whole.mean(kind, name)
