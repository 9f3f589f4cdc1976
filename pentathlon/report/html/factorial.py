"""The part of the page on a factorial design, and the data of its picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report import factorial as words

ASSET = "factorial.html.j2"
CAPTION = (
    "Effects, ranked: a line for each factor and each pair of factors, the largest shown effect on "
    "top. A mark is one metric: filled where the effect is shown, with the interval behind the "
    "verdict; hollow where it is not. The shaded region is ±δ."
)


def values(evaluation: Evaluation) -> dict[str, Any] | None:
    """What the template of the section needs; None without a design."""
    found = evaluation.factorial
    if found is None:
        return None
    return {
        "headline": words.headline(found),
        "sureness": words.sureness(evaluation, found),
        "ranking": [(one, words.state(one)) for one in found.ranking],
        "aliases": words.aliases(found),
        "found": found,
        "terms": [
            (one.term, words.contrast_words(found.term(one.term)), own)
            for one in found.ranking
            if (own := [line for line in words.lines(evaluation, found) if line.term == one.term])
        ],
        "caption": CAPTION,
    }


def payload(
    evaluation: Evaluation, rounded: Callable[[float | None], float | int | None]
) -> dict[str, Any]:
    """The effects for the picture: terms in their ranking, and for each the marks [place of the
    row, ratio, low, high, verdict]."""
    found = evaluation.factorial
    if found is None:
        return {}
    verdicts = list(Verdict)
    terms = [
        {
            "t": ranked.term,
            "e": [
                [
                    evaluation.place(one.key),
                    *(
                        None if percent is None else rounded(1 + percent / 100)
                        for percent in (
                            one.percent,
                            one.adjusted_low_percent,
                            one.adjusted_high_percent,
                        )
                    ),
                    verdicts.index(one.verdict),
                    one.words,
                ]
                for one in found.of(ranked.term)
                if one.percent is not None
            ],
        }
        for ranked in found.ranking
    ]
    return {"factorial": terms}
