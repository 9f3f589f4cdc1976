"""The answer in words: which system is faster for what, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pentathlon.evaluate.cases import SIZE, case_text, without
from pentathlon.evaluate.display import KNOWN, is_known, percent_text, significant
from pentathlon.evaluate.estimators.ratio import CUT, delta_log, log_of
from pentathlon.evaluate.fleet.model import FleetRowResult
from pentathlon.evaluate.model import Comparison, Evaluation, PairSummary, Row, Sweep
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.evaluate.model_latency import Latency
from pentathlon.evaluate.results.guard import emptied_by
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.evaluate.wording import QUALITY, SPEED, Wording
from pentathlon.report import starts
from pentathlon.study.counting import count_text

HUGE = 2.0
"""From this ratio on, a difference is reported as a multiple instead of a percentage."""


@dataclass(frozen=True)
class Finding:
    """Differences of one direction in one curve or one single metric."""

    area: str
    title: str
    place: str
    """Which cases, such as "3 of 17 sizes"; "" for a single metric."""
    size: str
    """How much, such as "12 % faster"."""
    interval: str
    """The interval in words; "" where there are several rows."""
    sign: int
    strength: float
    """Largest absolute mean log-ratio."""
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """One system against the reference."""

    system: str
    reference: str
    headline: str
    sureness: str
    cautions: tuple[str, ...]
    counts: tuple[tuple[Verdict, str, int], ...]
    """(verdict, its words, how many rows), without those that were not given."""
    findings: tuple[Finding, ...]
    """Strongest first."""
    emptied: bool = False
    """Nothing can be compared, and the headline has the reason."""


def answers(evaluation: Evaluation) -> tuple[Answer, ...]:
    """One answer for each system other than the reference."""
    return tuple(_answer(evaluation, pair) for pair in evaluation.pairs)


def sentence(caution: str) -> str:
    """A caution as a sentence of its own."""
    text = f"this comparison {caution}" if caution.startswith("compares") else caution
    return f"{text[:1].upper()}{text[1:]}."


def verdict_counts(evaluation: Evaluation, system: str) -> Counter[Verdict]:
    """How often each verdict was given to a system, in the metrics that the answer is about."""
    return Counter(one.verdict for _, one in compared(of_answer(evaluation), system))


def of_answer(evaluation: Evaluation) -> list[Row]:
    """The metrics that the answer is about: the context of others only where it is declared."""
    return [row for row in evaluation.rows if row.score or row.declared]


def compared(rows: Iterable[Row], system: str) -> Iterator[tuple[Row, Comparison]]:
    """Every row with the comparison of one system."""
    for row in rows:
        comparison = row.comparison(system)
        if comparison is not None:
            yield row, comparison


def row_name(row: Row | FleetRowResult | Latency) -> str:
    """A metric and its case for people."""
    return f"{row.title}, {row.case_text}" if row.case_text else row.title


def distinguished(evaluation: Evaluation, system: str) -> bool:
    """Whether a difference from the reference is shown, in any score."""
    scores = [row for row in evaluation.rows if row.score]
    return any(one.verdict.is_difference for _, one in compared(scores, system))


def mostly_unstable(evaluation: Evaluation, system: str, area: str = "") -> bool:
    """Whether most metrics of an area (of all, for "") are unstable or invalid on a system.

    Then a mean over them shows nothing, however narrow its interval is: the blocks contradict each
    other in more than a mean and its interval describe.
    """
    rows = evaluation.rows_of(area) if area else evaluation.rows
    every = Counter(one.verdict for _, one in compared([row for row in rows if row.score], system))
    judged = sum(every.values()) - every[Verdict.NOT_MEASURED]
    return (every[Verdict.UNSTABLE] + every[Verdict.INVALID]) * 2 > judged


def shown_equal(mean: Mean, delta_percent: float) -> bool:
    """Whether a mean is shown to be within ±δ.

    Nothing is where the machine's own noise is wider than that.
    """
    if mean.low_percent is None or mean.high_percent is None:
        return False
    coarse = mean.floor_percent is not None and mean.floor_percent > delta_percent
    room = delta_log(delta_percent)
    return -room <= log_of(mean.low_percent) and log_of(mean.high_percent) <= room and not coarse


def _answer(evaluation: Evaluation, pair: PairSummary) -> Answer:
    study = evaluation.study
    tally = verdict_counts(evaluation, pair.system)
    effects = [
        one.effect.mean
        for _, one in compared(evaluation.rows, pair.system)
        if one.verdict.is_difference and one.effect is not None
    ]
    emptied = emptied_by(one for _, one in compared(evaluation.rows, pair.system))
    # Context is no score: it is in the tables, and in no answer.
    scores = [row for row in evaluation.rows if row.score]
    tally_of_scores = Counter(one.verdict for _, one in compared(scores, pair.system))
    rows_judged = sum(tally_of_scores.values()) - tally_of_scores[Verdict.NOT_MEASURED]
    kinds = {row.kind for row, one in compared(scores, pair.system) if one.verdict.is_difference}
    return Answer(
        system=pair.system,
        reference=study.reference,
        headline=f"{pair.system} cannot be compared with {study.reference}: {emptied}."
        if emptied
        else _headline(
            pair.system,
            study.reference,
            rows_judged,
            effects,
            tally_of_scores[Verdict.UNSTABLE] + tally_of_scores[Verdict.INVALID],
            kind=QUALITY if QUALITY in kinds else SPEED,
        ),
        sureness=_sureness(evaluation, pair, tally),
        cautions=pair.cautions,
        counts=tuple(
            (verdict, words(verdict, study.delta_percent), tally[verdict])
            for verdict in Verdict
            if tally[verdict]
        ),
        findings=tuple(_findings(evaluation.rows, pair.system)),
        emptied=bool(emptied),
    )


def _headline(
    system: str,
    reference: str,
    rows_judged: int,
    effects: Sequence[float],
    unusable: int,
    *,
    kind: Wording,
) -> str:
    rows = "the one metric" if rows_judged == 1 else f"{rows_judged} metrics"
    faster = sorted(effect for effect in effects if effect > 0)
    slower = sorted((effect for effect in effects if effect < 0), reverse=True)
    if not effects and unusable * 2 > rows_judged:
        return (
            f"{system} and {reference} cannot be distinguished: {_share(unusable, rows_judged)} "
            "unstable or invalid. Measure again where less else is going on."
        )
    if not effects:
        return f"No difference between {system} and {reference} was shown in {rows}."
    first, second = (faster, slower) if len(faster) >= len(slower) else (slower, faster)
    word = kind.up if first is faster else kind.down
    part = rows if rows_judged == 1 else f"{len(first)} of {rows}"
    text = f"{system} is {word} than {reference} for {part} ({_spread(first)})"
    if second:
        other = kind.down if first is faster else kind.up
        text = f"{text}, and {other} for {len(second)} ({_spread(second)})"
    return f"{text}."


def _share(count: int, rows_judged: int) -> str:
    return "the one metric was" if rows_judged == 1 else f"{count} of {rows_judged} metrics were"


def _together(rows: int) -> str:
    return "for the one metric" if rows == 1 else f"for all {rows} metrics together"


def _spread(effects: Sequence[float]) -> str:
    """Smallest and largest of some log-ratios, without repeating the direction."""
    text = between(effects[0], effects[-1])
    return text.removesuffix(" faster").removesuffix(" slower")


def _sureness(evaluation: Evaluation, pair: PairSummary, tally: Counter[Verdict]) -> str:
    study = evaluation.study
    confidence = percent_text(study.confidence * 100)
    error = percent_text((1 - study.confidence) * 100)
    blocks = max(
        (
            one.effect.blocks
            for _, one in compared(evaluation.rows, pair.system)
            if one.effect is not None
        ),
        default=0,
    )
    counted = count_text(blocks, "paired block")
    if not study.in_blocks:
        counted = f"{count_text(blocks, starts.noun(evaluation.systems))} or more of each system"
    parts = []
    # What is unstable was selected, and differs from nothing.
    if pair.rows and not any(verdict.is_shown and count for verdict, count in tally.items()):
        parts.append(
            f"Differences were looked for at {confidence} confidence {_together(pair.rows)}, "
            f"in {counted}."
        )
    elif pair.rows:
        parts.append(
            f"Each difference holds at {confidence} confidence {_together(pair.rows)}, "
            f"from {counted}: if the two were equally fast everywhere, "
            f"a study like this one would call any of them different in at most {error} of cases."
        )
    if study.post_hoc:
        parts.append(
            "The judgement is post hoc: these rates hold only for a choice made without the data."
        )
    if pair.exploratory_selected:
        parts.append(
            f"Of the {pair.exploratory_rows} exploratory metrics {pair.exploratory_selected} "
            f"differ; {error} of such findings are false on average."
        )
    if pair.calibrated:
        parts.append(f"{pair.calibrated[:1].upper()}{pair.calibrated[1:]}.")
    if study.stopped is not None:
        parts.append(f"The study stopped by its rule: {study.stopped}.")
    if study.decided:
        first = count_text(min(study.decided.values()), "block")
        parts.append(
            f"{count_text(len(study.decided), 'workload')} of it were decided at a look and not "
            f"measured in later blocks; the means over several workloads are those of the first "
            f"{first}."
        )
    if sweeps := [one for one in evaluation.sweeps if one.system == pair.system]:
        parts.append(_of_sweeps(sweeps))
    limits = [
        one.effect.mde_percent
        for _, one in compared(of_answer(evaluation), pair.system)
        if one.verdict is Verdict.INCONCLUSIVE
        and one.effect is not None
        and one.effect.mde_percent is not None
    ]
    if limits:
        parts.append(_detectable(sorted(limits), tally[Verdict.INCONCLUSIVE]))
    return " ".join(parts)


def _detectable(limits: Sequence[float], inconclusive: int) -> str:
    """What the inconclusive metrics could have shown, by their minimum detectable effects."""
    middle, several = limits[len(limits) // 2], len(limits) > 1
    which = "half of these" if several else "it"
    text = f"{inconclusive} stayed inconclusive; {which} could have shown"
    if not is_known(middle):
        return f"{text} no difference of less than a factor of {KNOWN:,}."
    if several:
        return f"{text} a difference of {percent_text(middle)} or less."
    return f"The inconclusive one could have shown a difference of {percent_text(middle)}."


def _of_sweeps(sweeps: Sequence[Sweep]) -> str:
    """What is claimed of whole curves over block sizes."""
    found = [f"{one.title} {one.words}" for one in sweeps if one.verdict != "inconclusive"]
    if not found:
        return f"None of the {count_text(len(sweeps), 'sweep')} over block sizes is decided."
    rest = len(sweeps) - len(found)
    more = f"; {rest} of {len(sweeps)} are not decided" if rest else ""
    return f"Sweeps over block sizes, each as one claim: {'; '.join(found)}{more}."


def _findings(rows: Iterable[Row], system: str) -> list[Finding]:
    """Differences grouped by curve and direction, strongest first."""
    groups: dict[tuple[str, str, str, int], list[tuple[Row, Comparison]]] = {}
    sizes: Counter[tuple[str, str, str]] = Counter()
    for row, comparison in compared(rows, system):
        curve = (row.workload, row.metric, _curve(row))
        sizes[curve] += 1
        if comparison.verdict.is_difference:
            groups.setdefault((*curve, comparison.verdict.sign), []).append((row, comparison))
    found = [
        _finding(members, sign, sizes[workload, metric, curve], curve)
        for (workload, metric, curve, sign), members in groups.items()
    ]
    return sorted(found, key=lambda finding: (-finding.strength, finding.title, finding.place))


def _curve(row: Row) -> str:
    return case_text(without(row.case, SIZE)) if SIZE in row.case else row.case_text


def _finding(members: list[tuple[Row, Comparison]], sign: int, total: int, curve: str) -> Finding:
    effects = [one.effect for _, one in members if one.effect is not None]
    means = sorted((effect.mean for effect in effects), key=abs)
    row = members[0][0]
    single = len(members) == 1
    place = ""
    if SIZE in row.case:
        place = row.case_text.partition(",")[0] if single else f"{len(members)} of {total} sizes"
    interval = ""
    if single and effects[0].low_percent is not None and effects[0].high_percent is not None:
        low, high = log_of(effects[0].low_percent), log_of(effects[0].high_percent)
        interval = _range(low, high, row.kind)
    return Finding(
        area=row.area,
        title=f"{row.title} ({curve})" if curve else row.title,
        place=place,
        size=between(means[0], means[-1], row.kind),
        interval=interval,
        sign=sign,
        strength=abs(means[-1]),
        keys=tuple(row.key for row, _ in members),
    )


def speed_words(log_ratio: float, kind: Wording = SPEED, digits: int = 2) -> str:
    """A log-ratio in words: "12 % faster", "7 % slower", "60 times as fast", "3 times better".

    Args:
        log_ratio: of the speeds.
        kind: which words a larger and a smaller one have.
        digits: significant digits of a multiple.
    """
    ratio = math.exp(min(abs(log_ratio), CUT))
    word = kind.up if log_ratio > 0 else kind.down
    if ratio >= HUGE:
        multiple = f"more than {KNOWN:,}" if ratio > KNOWN else significant(ratio, digits)
        if not kind.speed:
            return f"{multiple} times {word}"
        if log_ratio > 0:
            return f"{multiple} times as fast"
        return f"{_part_of(ratio, digits)} of the speed"
    percent = abs(math.expm1(log_ratio)) * 100
    return f"{percent_text(percent)} {word}"


def _part_of(ratio: float, digits: int) -> str:
    return f"less than 1/{KNOWN:,}" if ratio > KNOWN else f"1/{significant(ratio, digits)}"


def _range(low: float, high: float, kind: Wording = SPEED) -> str:
    """An interval in words; the end nearer to no difference comes first."""
    if low < 0 < high:
        return f"{speed_words(low, kind)} to {speed_words(high, kind)}"
    near, far = sorted((low, high), key=abs)
    return between(near, far, kind)


def between(near: float, far: float, kind: Wording = SPEED) -> str:
    """Two log-ratios of one direction in words: "3 % to 5 % faster", "60 to 62 times as fast".

    Two ends that round to one number have more digits: "2.41 to 2.43 times as fast".
    """
    for digits in (2, 3, 4):
        first, second = speed_words(near, kind, digits), speed_words(far, kind, digits)
        if first != second:
            break
    else:
        return speed_words(near, kind)
    times = (f" times {kind.up}", f" times {kind.down}") if not kind.speed else ()
    ends = (f" {kind.up}", f" {kind.down}", " times as fast", " of the speed")
    for ending in (*times, *ends):
        if first.endswith(ending) and second.endswith(ending):
            first = first.removesuffix(ending)
            break
    return f"{first} to {second}"
