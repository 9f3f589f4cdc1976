"""The decision in words: which system for the stated weights, how sure, how sensitive."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pentathlon.evaluate.aggregate.aggregate import direction
from pentathlon.evaluate.display import interval_text, is_known, percent_text, signed_percent
from pentathlon.evaluate.estimators.ratio import delta_log, log_of, percent
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_aggregate import Dominance, Mean, Sensitivity, SystemAggregate
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report import posthoc
from pentathlon.report.answer import (
    between,
    distinguished,
    mostly_unstable,
    row_name,
    sentence,
    shown_equal,
    speed_words,
)
from pentathlon.study.counting import count_text, listed

NEARLY_ALL = 0.995
FEW_TURNS = 3
MOST_BLOCKS = 10_000
"""More blocks than that are no advice."""
FEW_WEIGHTS = 6
LITTLE = 0.005
"""Share of the weight that percentages without decimals do not show."""


@dataclass(frozen=True)
class PartLine:
    """One area or suite of the decision's table."""

    kind: str
    name: str
    weight: str
    speed: str
    interval: str
    words: str
    sign: int
    rows: int


@dataclass(frozen=True)
class Decision:
    """One system against the reference, as a whole.

    Attributes:
        headline: the answer in one sentence.
        uncertainty: how sure it is, and of how much of the weight.
        changes: the sensitivity, one sentence each.
        parts: every area, then every suite.
    """

    system: str
    reference: str
    headline: str
    sign: int
    uncertainty: tuple[str, ...]
    changes: tuple[str, ...]
    parts: tuple[PartLine, ...]


def decisions(evaluation: Evaluation) -> tuple[Decision, ...]:
    """One decision for each system of which something was compared."""
    return tuple(
        _decision(evaluation, whole, everything)
        for whole in evaluation.aggregates
        if (everything := whole.everything) is not None
    )


def best_words(evaluation: Evaluation) -> str:
    """With several systems: how often each has the best mean over all weights; else "".

    "" too where one of them does not differ from the reference: then none can be called the
    best.
    """
    shares = [one for one in evaluation.shares if one.share > 0]
    if not shares or not all(distinguished(evaluation, one.system) for one in evaluation.pairs):
        return ""
    parts = [f"{one.system} under {_share(one.share)}" for one in shares]
    return f"Best of all systems, over all possible weights of the areas: {listed(parts)}."


def weights_words(evaluation: Evaluation) -> str:
    """The stated weights, such as "process 2, memory 1"; how they were chosen where none are."""
    stated = evaluation.study.weights
    if not stated:
        return "every area counts the same, and within an area every workload"
    parts = [f"{name} {weight:g}" for name, weight in stated.items()]
    marked = f" ({posthoc.MARK})" if posthoc.changed(evaluation, "weights") else ""
    return f"{', '.join(parts)}; everything else 1{marked}"


def _decision(evaluation: Evaluation, whole: SystemAggregate, everything: Mean) -> Decision:
    study = evaluation.study
    return Decision(
        system=whole.system,
        reference=study.reference,
        headline=_headline(evaluation, whole.system, everything),
        sign=0 if mostly_unstable(evaluation, whole.system) else direction(everything),
        uncertainty=tuple(_uncertainty(evaluation, whole, everything)),
        changes=tuple(_changes(evaluation, whole, everything)),
        parts=tuple(_part(evaluation, whole, mean) for mean in whole.means[1:]),
    )


def _headline(evaluation: Evaluation, system: str, mean: Mean) -> str:
    study = evaluation.study
    by = _by(evaluation, mean)
    if mean.low_percent is None or mean.high_percent is None:
        return f"{by}, {_of_one_block(evaluation, system, mean)}"
    if mostly_unstable(evaluation, system):
        return (
            f"{by}, {system} was {_than(mean.mean, study.reference)} as a whole on average, which "
            "shows nothing: most of the metrics are unstable."
        )
    low, high = log_of(mean.low_percent), log_of(mean.high_percent)
    if mean.floor_percent is not None and mean.below_floor and (low > 0 or high < 0):
        return (
            f"{by}, {system} was {_than(mean.mean, study.reference)} as a whole, which is not "
            f"above the noise floor of this machine ({percent_text(mean.floor_percent)}): so much "
            "was not ruled out between two names of one system."
        )
    if low > 0 or high < 0:
        return (
            f"{by}, {system} is {_than(mean.mean, study.reference)} as a whole "
            f"({interval_words(low, high)})."
        )
    if shown_equal(mean, study.delta_percent):
        return (
            f"{by}, {system} and {study.reference} are equally fast as a whole, within "
            f"{percent_text(study.delta_percent)} ({speed_words(low)} to {speed_words(high)})."
        )
    return (
        f"{by}, no difference between {system} and {study.reference} as a whole was shown: "
        f"{_bounds(system, mean)}."
    )


def _of_one_block(evaluation: Evaluation, system: str, mean: Mean) -> str:
    study = evaluation.study
    again = "in a single block: whether that would happen again is not known."
    if abs(mean.mean) <= delta_log(study.delta_percent):
        return (
            f"{system} and {study.reference} were within "
            f"{percent_text(study.delta_percent)} of each other as a whole, {again}"
        )
    return f"{system} was {_than(mean.mean, study.reference)} as a whole, {again}"


def _bounds(system: str, mean: Mean) -> str:
    """What an interval on both sides of equality states; beyond KNOWN it states nothing."""
    low, high = mean.low_percent or 0.0, mean.high_percent or 0.0
    blocks = count_text(mean.blocks, "block")
    if not is_known(low) and not is_known(high):
        return (
            f"how {system} compares is not known, as {blocks} with such a spread bound it on "
            "neither side"
        )
    if not is_known(high) or not is_known(low):
        end, way = (low, "faster") if is_known(low) else (high, "slower")
        return (
            f"{system} is at most {speed_words(log_of(end))}; how much {way} it might be is not "
            f"known from {blocks} with such a spread"
        )
    return f"{system} is between {speed_words(log_of(low))} and {speed_words(log_of(high))}"


def _by(evaluation: Evaluation, mean: Mean) -> str:
    """Whose weights, with the shares that the parts really have, where they are few.

    Rows that were not compared have taken weight from their areas.
    """
    study = evaluation.study
    shares = [f"{one.name} {percent_text(one.weight * 100)}" for one in mean.members]
    if len(shares) < 2:
        # Within one area workloads are weighed.
        shares = [f"{name} {weight:g}" for name, weight in study.weights.items()]
    used = f" ({listed(shares)})" if 0 < len(shares) <= FEW_WEIGHTS else ""
    if study.weights:
        chosen = posthoc.changed(evaluation, "weights")
        return f"By {f'weights chosen {posthoc.MARK}' if chosen else 'the stated weights'}{used}"
    even = max(one.weight for one in mean.members) - min(one.weight for one in mean.members)
    if even < LITTLE:
        return f"With every area weighed the same{used}"
    return f"With every area weighed the same, less the rows that were not compared{used}"


def interval_words(low: float, high: float) -> str:
    """An interval on one side of equality in words; as percentages where the words are alike."""
    near, far = sorted((low, high), key=abs)
    if not is_known(percent(far)):
        return f"at least {speed_words(near)}; how much at most is not known"
    text = between(near, far)
    if " to " in text:
        return text
    return f"{signed_percent(percent(near))} % to {signed_percent(percent(far))} %"


def _than(log_ratio: float, reference: str) -> str:
    words = speed_words(log_ratio)
    if words.endswith(("faster", "slower")):
        return f"{words} than {reference}"
    if words.endswith("as fast"):
        return f"{words} as {reference}"
    return f"at {words} of {reference}"


def _uncertainty(evaluation: Evaluation, whole: SystemAggregate, everything: Mean) -> list[str]:
    study = evaluation.study
    parts = [
        sentence(caution)
        for pair in evaluation.pairs
        if pair.system == whole.system
        for caution in pair.cautions
    ]
    if everything.low_percent is not None:
        parts.append(
            f"The interval holds at {percent_text(study.confidence * 100)} confidence for this one "
            f"mean, from {_counted(everything.blocks, study.installs)} and "
            f"{count_text(everything.rows, 'row')}."
        )
    parts += [
        f"{one.system} was measured before it had settled in {one.troubled} of "
        f"{count_text(one.count, 'boot')}: "
        f"{one.words}."
        for one in evaluation.prepared
        if one.step == "settle" and one.troubled and one.system in {whole.system, study.reference}
    ]
    unstable = sum(
        found.verdict is Verdict.UNSTABLE
        for row in evaluation.rows
        if (found := row.comparison(whole.system)) is not None
    )
    if unstable:
        parts.append(
            f"{unstable} of the rows are unstable, so the interval is a rough one: the blocks do "
            "not repeat each other."
        )
    missing = sum(one.weight for one in whole.left_out)
    if missing > 0.0005:
        count = len(whole.left_out)
        rows = "1 row is" if count == 1 else f"{count} rows are"
        parts.append(
            f"{rows} in no mean, with {percent_text(missing * 100)} of the weight, because not "
            "measured on both sides or not comparable."
        )
    return parts


def _counted(blocks: int, installs: int) -> str:
    counted = count_text(blocks, "block")
    return f"{count_text(installs, 'install')} with {counted}" if installs > 1 else counted


def _changes(evaluation: Evaluation, whole: SystemAggregate, everything: Mean) -> list[str]:
    if mostly_unstable(evaluation, whole.system):
        # Of what shows nothing there is nothing to say under other weights.
        return []
    parts: list[str] = _more_blocks(evaluation, everything)
    if whole.sensitivity is not None:
        parts += _weights(evaluation, whole, whole.sensitivity, everything)
    parts += _omissions(evaluation, whole)
    if whole.dominance is not None:
        text = _dominance(evaluation, whole.system, whole.dominance)
        if text:
            parts.append(text)
    return parts


def _more_blocks(evaluation: Evaluation, mean: Mean) -> list[str]:
    """How many blocks would decide an answer that is open, as the interval narrows with √n."""
    if mean.low_percent is None or mean.high_percent is None or direction(mean):
        return []
    study = evaluation.study
    half = (log_of(mean.high_percent) - log_of(mean.low_percent)) / 2
    room = delta_log(study.delta_percent)
    if half <= room or mean.below_floor:
        return []
    factor = mean.blocks * (half / room) ** 2
    if factor > MOST_BLOCKS:
        return [
            f"More than {MOST_BLOCKS:,} blocks with this spread would narrow the interval to "
            f"±{percent_text(study.delta_percent)}; look for what makes the blocks differ."
        ]
    needed = math.ceil(factor)
    return [
        f"More blocks would: with this spread about {needed:,} of them narrow the interval to "
        f"±{percent_text(study.delta_percent)}; there were {mean.blocks}."
    ]


def _weights(
    evaluation: Evaluation, whole: SystemAggregate, found: Sensitivity, everything: Mean
) -> list[str]:
    reference = evaluation.study.reference
    ahead = everything.mean >= 0
    winner, other = (whole.system, reference) if ahead else (reference, whole.system)
    what = f"{len(found.parts)} {found.kind}s"
    decided = direction(everything) != 0
    if found.smallest_change is None and decided:
        return [
            f"No weights of the {what} would put {other} ahead, as {winner} has the better mean "
            "in each of them."
        ]
    share = found.share_faster if ahead else 1 - found.share_faster
    sure = found.share_shown_faster if ahead else found.share_shown_slower
    against = found.share_shown_slower if ahead else found.share_shown_faster
    if not decided:
        return [
            f"No weights of the {what} would show a difference in either direction."
            if not sure and not against
            else f"Other weights of the {what} would decide: {whole.system} would be shown to be "
            f"faster under {_share(found.share_shown_faster)} of all possible ones, and slower "
            f"under {_share(found.share_shown_slower)}."
        ]
    shown = (
        f"the difference would be shown under {_share(sure)}, and the opposite under "
        f"{_share(against)}"
    )
    items = [
        f"{winner} has the better mean under {_share(share)} of all possible weights of the "
        f"{what}; {shown}.",
        f"{other} would be ahead if {percent_text((found.smallest_change or 0.0) * 100)} of the "
        f"weight or more moved to {found.moved_to}.",
    ]
    turns = [
        f"{turn.name} had {'less' if _favours(found, turn.name, ahead) else 'more'} than "
        f"{percent_text(turn.at * 100)} of the weight (now {percent_text(turn.weight * 100)})"
        for turn in found.turns
        # A share of about none or all of the weight is the part alone, which the table holds.
        if turn.at is not None and 1 - NEARLY_ALL < turn.at < NEARLY_ALL
    ]
    if turns and len(found.parts) > 2:
        items.append(
            f"With the other weights in proportion, this would also be so if "
            f"{listed(turns[:FEW_TURNS], 'or')}."
        )
    return items


def _favours(found: Sensitivity, name: str, ahead: bool) -> bool:
    mean = next(part.mean for part in found.parts if part.name == name)
    return (mean > 0) is ahead


def _omissions(evaluation: Evaluation, whole: SystemAggregate) -> list[str]:
    changing = [one for one in whole.without if one.changes]
    if not changing:
        return (
            ["Leaving out any one area or workload does not change the answer."]
            if whole.without
            else []
        )
    parts = []
    for one in changing[:FEW_TURNS]:
        if one.low_percent is None or one.high_percent is None:
            continue
        word = "undecided"
        if one.low_percent > 0:
            word = f"{whole.system} ahead"
        elif one.high_percent < 0:
            word = f"{evaluation.study.reference} ahead"
        parts.append(f"without {one.name} {word} ({signed_percent(one.percent)} %)")
    more = len(changing) - len(parts)
    rest = f", and {more} more" if more > 0 else ""
    return [f"Leaving out one part changes the answer: {'; '.join(parts)}{rest}."] if parts else []


def _dominance(evaluation: Evaluation, system: str, found: Dominance) -> str:
    delta = percent_text(evaluation.study.delta_percent)
    if found.dominates or found.dominated:
        first = system if found.dominates else evaluation.study.reference
        return (
            f"{first} is shown to be in no row slower by {delta} or more, and faster in "
            "some: it dominates."
        )
    if found.in_the_way is None:
        return ""
    name = row_name(evaluation.row(found.in_the_way))
    return (
        f"Neither is shown to be at least as good in every row; the strongest exception is {name}."
    )


def _part(evaluation: Evaluation, whole: SystemAggregate, mean: Mean) -> PartLine:
    delta_percent, total = evaluation.study.delta_percent, 1.0
    if whole.everything is not None:
        total = whole.everything.weight
    unstable = mean.kind == "area" and mostly_unstable(evaluation, whole.system, mean.name)
    sign = 0 if unstable else direction(mean)
    words = {1: "faster", -1: "slower", 0: "not shown to differ"}[sign]
    if not sign and mean.floor_percent is not None and mean.below_floor:
        words = f"within the noise floor of {percent_text(mean.floor_percent)}"
    interval = ""
    if mean.low_percent is not None and mean.high_percent is not None:
        interval = interval_text(mean.low_percent, mean.high_percent)
        if unstable:
            words = "unstable"
        elif shown_equal(mean, delta_percent):
            delta = percent_text(delta_percent)
            words = f"different by less than {delta}" if sign else f"equal within {delta}"
            sign = 0
    return PartLine(
        kind=mean.kind,
        name=mean.name,
        weight=percent_text(mean.weight / total * 100),
        speed=signed_percent(mean.percent),
        interval=interval,
        words=words,
        sign=sign,
        rows=mean.rows,
    )


def _share(share: float) -> str:
    if NEARLY_ALL < share < 1:
        return "more than 99 %".replace(" %", "\N{NO-BREAK SPACE}%")
    if 0 < share < 1 - NEARLY_ALL:
        return "less than 1 %".replace(" %", "\N{NO-BREAK SPACE}%")
    return percent_text(share * 100) if 0 < share < 1 else "all" if share else "none"
