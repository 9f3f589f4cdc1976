"""A factorial design in words: the answer, how sure it is, the lines of its table."""

from __future__ import annotations

from dataclasses import dataclass

from pentathlon.evaluate.display import interval_text, percent_text, signed_percent
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial, Ranked, Term, TermEffect

MATTERS, NOTHING, OPEN = "matters", "nothing", "open"


@dataclass(frozen=True)
class Line:
    """One effect as a table shows it."""

    term: str
    metric: str
    case: str
    speed: str
    interval: str
    adjusted: str
    verdict: str
    words: str
    reason: str
    sign: int


def state(one: Ranked) -> str:
    """Whether a term matters, matters nowhere, or is not decided."""
    if one.shown:
        return MATTERS
    return NOTHING if one.equivalent and not one.undecided and not one.unusable else OPEN


def headline(factorial: Factorial) -> str:
    """Which factors matter."""
    mains = {one.name for one in factorial.terms if not one.interaction}
    found = [one for one in factorial.ranking if one.term in mains]
    matter = [one.term for one in found if state(one) == MATTERS]
    not_at_all = [one.term for one in found if state(one) == NOTHING]
    unknown = [one.term for one in found if state(one) == OPEN]
    parts = []
    if matter:
        verb = "matters" if len(matter) == 1 else "matter"
        first = ", the first most" if len(matter) > 1 else ""
        parts.append(f"{_listed(matter)} {verb}{first}")
    if not_at_all:
        parts.append(f"{_listed(not_at_all)} {_do(not_at_all)} not")
    if unknown:
        parts.append(f"of {_listed(unknown)} no effect is shown")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def sureness(evaluation: Evaluation, factorial: Factorial) -> str:
    """What the claims rest on."""
    study = evaluation.study
    level, error = percent_text(study.confidence * 100), percent_text((1 - study.confidence) * 100)
    sentences = [
        f"{factorial.words[:1].upper()}{factorial.words[1:]}; {factorial.selected} of "
        f"{factorial.tested} effects are shown, at {level} confidence for all of them together: if "
        f"nothing mattered, a study like this one would show any in at most {error} of cases."
    ]
    if factorial.exploratory_selected:
        sentences.append(
            f"Of {factorial.exploratory_tested} exploratory effects "
            f"{factorial.exploratory_selected} are shown; {error} of such are false on average."
        )
    sentences.append(
        "The effect of a factor is that at the mean of the others' levels; where two interact, "
        "read them together."
    )
    return " ".join(sentences)


def aliases(factorial: Factorial) -> list[str]:
    """What cannot be told apart in a fraction, one line for each effect."""
    return [
        f"{one.name} stands for {' '.join([one.name, *map(_added, one.aliases)])}"
        for one in factorial.terms
        if one.aliases
    ]


def contrast_words(term: Term) -> str:
    """What a term compares."""
    first = f"{term.levels[0]} against {term.base[0]}"
    if not term.interaction:
        return first
    return f"{first}, at {term.levels[1]} in relation to {term.base[1]}"


def lines(evaluation: Evaluation, factorial: Factorial) -> list[Line]:
    """Every effect, the terms in their ranking and their metrics in the order of the rows."""
    return [
        _line(evaluation, one) for ranked in factorial.ranking for one in factorial.of(ranked.term)
    ]


def _line(evaluation: Evaluation, one: TermEffect) -> Line:
    row = evaluation.row(one.key)
    interval = adjusted = ""
    if one.low_percent is not None and one.high_percent is not None:
        interval = interval_text(one.low_percent, one.high_percent)
    if one.adjusted_low_percent is not None and one.adjusted_high_percent is not None:
        adjusted = interval_text(one.adjusted_low_percent, one.adjusted_high_percent)
    return Line(
        term=one.term,
        metric=f"{row.title}{'' if one.declared else ' (exploratory)'}",
        case=row.case_text,
        speed="–" if one.percent is None else signed_percent(one.percent),
        interval=interval,
        adjusted=adjusted,
        verdict=one.verdict.value,
        words=one.words,
        reason=one.reason,
        sign=one.verdict.sign,
    )


def _added(alias: str) -> str:
    return f"− {alias[1:]}" if alias.startswith("−") else f"+ {alias}"


def _do(names: list[str]) -> str:
    return "does" if len(names) == 1 else "do"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
