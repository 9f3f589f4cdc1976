"""A factorial design in words: the answer, how sure it is, the lines of its table."""

from __future__ import annotations

from dataclasses import dataclass

from pentathlon.evaluate.display import percent_text, signed_percent
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial, Ranked, Term, TermEffect
from pentathlon.report.intervals import percent_interval

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
    """Which factors matter: by their own effect, or by one that they have together."""
    names: dict[str, list[str]] = {MATTERS: [], NOTHING: [], OPEN: []}
    for factor in _by_rank(factorial):
        own = [one for one in factorial.ranking if factor in factorial.term(one.term).factors]
        states = {state(one) for one in own}
        kind = MATTERS if MATTERS in states else NOTHING if states == {NOTHING} else OPEN
        names[kind].append(factor)
    matter = names[MATTERS]
    parts = [f"Matters: {', '.join(matter)}" if matter else "Nothing is shown to matter"]
    if len(matter) > 1:
        parts[0] = f"{parts[0]} (most first)"
    if names[NOTHING]:
        parts.append(f"does not matter: {', '.join(names[NOTHING])}")
    if names[OPEN]:
        parts.append(f"open: {', '.join(names[OPEN])}")
    return f"{'; '.join(parts)}."


def _by_rank(factorial: Factorial) -> list[str]:
    """The factors, each at the place of its first own effect in the ranking."""
    terms = [factorial.term(one.term) for one in factorial.ranking]
    mains = [one.factors[0] for one in terms if not one.interaction]
    # In a fraction every main effect is a row of its own, from resolution III on.
    return list(dict.fromkeys(mains))


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
    """Aliases in a fraction, one line for each effect."""
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
    return Line(
        term=one.term,
        metric=f"{row.title}{'' if one.declared else ' (exploratory)'}",
        case=row.case_text,
        speed="–" if one.percent is None else signed_percent(one.percent),
        interval=percent_interval(one.low_percent, one.high_percent),
        adjusted=percent_interval(one.adjusted_low_percent, one.adjusted_high_percent),
        verdict=one.verdict.value,
        words=one.words,
        reason=one.reason,
        sign=one.verdict.sign,
    )


def _added(alias: str) -> str:
    return f"− {alias[1:]}" if alias.startswith("−") else f"+ {alias}"
