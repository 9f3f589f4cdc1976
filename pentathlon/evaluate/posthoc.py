"""What is judged otherwise than the study planned: chosen after the measurement, and marked so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pentathlon.evaluate.display import percent_text
from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import PostHoc
from pentathlon.study.rules import Evaluation

TITLE = "Post hoc"
WARNING = (
    "This was chosen after the measurement: error rates and confidence hold as stated only where "
    "the choice does not depend on what the data show"
)


def find_post_hoc(result: ResultLike) -> tuple[PostHoc, ...]:
    """Every difference between the judgement of a view and that of the study as it was planned."""
    return tuple(_found(result))


def words(found: Sequence[PostHoc]) -> str:
    """All of it as sentences; "" where the study is judged as it was planned."""
    if not found:
        return ""
    return f"{TITLE}: {'; '.join(one.words for one in found)}. {WARNING}."


def _found(result: ResultLike) -> Iterator[PostHoc]:
    planned, study = getattr(result, "planned", None), result.plan.study
    if planned is None:
        return
    before, now = planned.evaluation, study.evaluation
    if now.delta_percent != before.delta_percent:
        yield _changed(
            "delta_percent",
            "δ",
            percent_text(now.delta_percent),
            percent_text(before.delta_percent),
        )
    if now.confidence != before.confidence:
        yield _changed(
            "confidence",
            "the confidence",
            percent_text(now.confidence * 100),
            percent_text(before.confidence * 100),
        )
    if (now.declared, now.headlines) != (before.declared, before.headlines):
        used, was = _patterns(now), _patterns(before)
        yield _changed("declared", "the declared metrics", used, was)
    if dict(study.weights) != dict(planned.weights):
        yield _changed("weights", "the weights", _weights(study.weights), _weights(planned.weights))
    chosen, every = getattr(result, "chosen", (0, 0))
    if chosen != every:
        used, was = f"{chosen} of {every} metrics", "all"
        text = f"only {used} {'is' if chosen == 1 else 'are'} judged (planned: {was})"
        yield PostHoc(what="only", used=used, planned=was, words=text)


def _changed(what: str, name: str, used: str, planned: str) -> PostHoc:
    verb = "are" if what in {"declared", "weights"} else "is"
    text = f"{name} {verb} {used} (planned: {planned})"
    return PostHoc(what=what, used=used, planned=planned, words=text)


def _patterns(rules: Evaluation) -> str:
    if rules.headlines:
        return "one of each workload"
    return "everything" if rules.declared is None else ", ".join(rules.declared)


def _weights(stated: Mapping[str, float]) -> str:
    if not stated:
        return "the same for every area"
    return ", ".join(f"{name} {weight:g}" for name, weight in stated.items())
