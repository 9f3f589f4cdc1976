"""What a result leaves open: how much, why, and the command that would decide it, with its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pentathlon.evaluate.display import percent_text
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.planning.deciding import (
    blocks_for_mean,
    blocks_to_decide,
    command,
    duration,
)
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.answer import compared
from pentathlon.report.areas import OPEN, overviews
from pentathlon.study.counting import count_text, listed


@dataclass(frozen=True)
class Question:
    """One thing that is not decided.

    Attributes:
        what: what it is, and why it is open.
        command: what would decide it, as a shell takes it; "" where nothing is known to.
    """

    what: str
    command: str = ""


def questions(evaluation: Evaluation) -> tuple[Question, ...]:
    """What is open, the areas first, then the metrics of each system."""
    rule = Rule(evaluation.study.delta_percent, evaluation.study.confidence)
    found = [*_areas(evaluation, rule)]
    for pair in evaluation.pairs:
        found += _metrics(evaluation, pair.system, rule)
    return tuple(found)


def _areas(evaluation: Evaluation, rule: Rule) -> Iterator[Question]:
    """Areas that are open as a whole; those that one command decides share it."""
    study = evaluation.study
    for one in overviews(evaluation):
        whole = next((own for own in evaluation.aggregates if own.system == one.system), None)
        needs: dict[str, int] = {}
        done = 0
        hopeless = []
        for line in one.lines:
            if line.state != OPEN or whole is None:
                continue
            mean = whole.mean("area", line.area) if line.area else whole.everything
            name = line.title.lower()
            if mean is None or mean.low_percent is None or mean.below_floor or line.unstable:
                continue
            blocks = blocks_for_mean(mean, rule) if study.installs == 1 else None
            if blocks is None:
                hopeless.append(name)
            else:
                needs[name] = blocks[0]
                done = max(done, mean.blocks)
        if needs:
            most = max(needs.values())
            yield Question(
                f"{one.system}, {listed(list(needs))} as a whole: {count_text(done, 'block')} "
                f"do not decide; about {most:,} would{_time(evaluation, most)}",
                _command(evaluation, most),
            )
        if hopeless and study.installs == 1:
            yield Question(
                f"{one.system}, {listed(hopeless)} as a whole: the blocks differ too much for "
                "any number of them; look for what makes them differ, or judge with a wider --delta"
            )


def _metrics(evaluation: Evaluation, system: str, rule: Rule) -> Iterator[Question]:
    """Metrics that are open: with a number of blocks that would decide half of them."""
    every = [one for _, one in compared([r for r in evaluation.rows if r.score], system)]
    counts = Counter(one.verdict for one in every)
    total = len(every)
    inconclusive = [one for one in every if one.verdict is Verdict.INCONCLUSIVE]
    units = "blocks" if evaluation.study.in_blocks else "boots"
    if inconclusive:
        effects = [one.effect for one in inconclusive if one.effect is not None]
        usable = [
            one
            for one in effects
            if one.sd and one.adjusted_confidence is not None and one.installs == 1
        ]
        needed = sorted(
            found[0] for one in usable if (found := blocks_to_decide(one, rule)) is not None
        )
        what = f"{system}, {len(inconclusive)} of {count_text(total, 'metric')}: " + (
            f"neither a difference nor equality within ±{percent_text(rule.delta_percent)} is shown"
            if any(one.low_percent is not None for one in effects)
            else f"two {units} of each system are needed for an interval"
        )
        if needed and evaluation.study.study_file:
            enough = needed[(len(needed) - 1) // 2]
            decided = sum(one <= enough for one in needed)
            yield Question(
                f"{what}; about {enough:,} blocks would decide {decided} of them"
                f"{_time(evaluation, enough)}",
                _command(evaluation, enough),
            )
        else:
            yield Question(what)
    if counts[Verdict.UNSTABLE]:
        yield Question(
            f"{system}, {counts[Verdict.UNSTABLE]} of {count_text(total, 'metric')}: unstable, "
            f"the {units} contradict each other, and more of them do not help; measure again where "
            "less else is going on"
        )


def _command(evaluation: Evaluation, blocks: int) -> str:
    study = evaluation.study
    if not study.study_file:
        return ""
    return command(study.study_file, blocks, None)


def _time(evaluation: Evaluation, blocks: int) -> str:
    """How long so many blocks take, where it is known."""
    seconds = evaluation.study.block_seconds
    return "" if seconds is None else f", in {duration(seconds * blocks)}"
