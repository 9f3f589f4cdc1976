"""The effects of a factorial design in words, and its terms in the order in which they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pentathlon.evaluate.display import UNKNOWN, is_known, percent_text, signed_percent
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_factorial import Ranked, Term, TermEffect
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.evaluate.wording import Wording

UNUSABLE = (Verdict.UNSTABLE, Verdict.INVALID, Verdict.NOT_MEASURED)
NOTHING = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


def term_words(
    term: Term,
    verdict: Verdict,
    delta_percent: float,
    kind: Wording,
    mde_percent: float | None = None,
) -> str:
    """The verdict on an effect: that of a factor as on systems, that of two by whether they
    interact."""
    if not term.interaction or verdict in UNUSABLE:
        return words(verdict, delta_percent, mde_percent, kind)
    delta = percent_text(delta_percent)
    match verdict:
        case Verdict.FASTER_BY_DELTA | Verdict.SLOWER_BY_DELTA:
            return f"interact by at least {delta}"
        case Verdict.FASTER | Verdict.SLOWER:
            return "interact"
        case Verdict.NEGLIGIBLE:
            return "interact negligibly"
        case Verdict.EQUIVALENT:
            return f"no interaction beyond {delta}"
    detectable = ""
    if mde_percent is not None:
        detectable = f" (MDE {percent_text(mde_percent) if is_known(mde_percent) else UNKNOWN})"
    return f"inconclusive{detectable}"


def ranking(
    terms: Sequence[Term],
    effects: Sequence[TermEffect],
    rows: Mapping[str, Row],
    delta_percent: float,
) -> tuple[Ranked, ...]:
    """The terms, by the largest effect that is shown, then by the largest of those that are not.

    Only declared metrics count; of a study that declares nothing of what has effects, all.
    """
    declared = [one for one in effects if one.declared] or list(effects)
    found = []
    for term in terms:
        own = [one for one in declared if one.term == term.name]
        shown = [one for one in own if one.verdict.is_difference]
        first = max(shown, key=_size, default=None)
        usable = [one for one in own if one.verdict not in UNUSABLE]
        place = (first is not None, _size(first) if first else max(map(_size, usable), default=0.0))
        found.append((place, _ranked(term, own, first, rows, delta_percent)))
    found.sort(key=lambda one: one[0], reverse=True)
    return tuple(one for _, one in found)


def _size(effect: TermEffect) -> float:
    return abs(effect.mean or 0.0)


def _ranked(
    term: Term,
    own: Sequence[TermEffect],
    first: TermEffect | None,
    rows: Mapping[str, Row],
    delta_percent: float,
) -> Ranked:
    shown = sum(one.verdict.is_difference for one in own)
    equivalent = sum(one.verdict in NOTHING for one in own)
    undecided = sum(one.verdict is Verdict.INCONCLUSIVE for one in own)
    unusable = sum(one.verdict in UNUSABLE for one in own)
    return Ranked(
        term=term.name,
        shown=shown,
        equivalent=equivalent,
        undecided=undecided,
        unusable=unusable,
        strongest=None if first is None else first.key,
        percent=None if first is None else first.percent,
        words=_sentence(term, first, rows, (shown, equivalent, undecided, unusable), delta_percent),
    )


def _sentence(
    term: Term,
    first: TermEffect | None,
    rows: Mapping[str, Row],
    counts: tuple[int, int, int, int],
    delta_percent: float,
) -> str:
    shown, equivalent, undecided, unusable = counts
    judged = shown + equivalent + undecided + unusable
    delta = percent_text(delta_percent)
    rest = [
        f"{equivalent} within ±{delta}" if equivalent else "",
        f"{undecided} not decided" if undecided else "",
        f"{unusable} unusable" if unusable else "",
    ]
    tail = ", ".join(part for part in rest if part)
    if first is not None and first.percent is not None:
        row = rows[first.key]
        place = f"{row.title}{f' with {row.case_text}' if row.case_text else ''}"
        size = signed_percent(first.percent)
        if term.interaction:
            at = ", ".join(
                f"{signed_percent(value)} % with {level}" for level, value in first.parts
            )
            what = (
                f"{term.factors[0]} has another effect for {shown} of {judged} metrics, most for "
            )
            what += f"{place} ({at})"
        else:
            compared = f"{term.levels[0]} against {term.base[0]}: {size} % in speed"
            what = f"matters for {shown} of {judged} metrics, most for {place} ({compared})"
        return f"{what}; {tail}" if tail else what
    if judged and equivalent == judged:
        nothing = "no interaction" if term.interaction else "no effect"
        return f"{nothing} beyond ±{delta} in any of {judged} metrics"
    nothing = "no interaction is shown" if term.interaction else "no effect is shown"
    return f"{nothing}; {tail}" if tail else nothing
