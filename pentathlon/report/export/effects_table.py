"""The effects of a factorial design as a table, for reading and for programs.

In text numbers are rounded; JSON holds them in full precision, as `effects.csv` does.
"""

from __future__ import annotations

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial, TermEffect
from pentathlon.report import factorial as words
from pentathlon.report import posthoc
from pentathlon.tables.grid import Grid, plain

OF_TERM = ("factors", "levels", "base", "aliases")
OF_EFFECT = (
    "declared",
    "blocks",
    "percent",
    "low_percent",
    "high_percent",
    "adjusted_confidence",
    "adjusted_low_percent",
    "adjusted_high_percent",
    "p_different",
    "p_equivalent",
    "mde_percent",
    "words",
    "reason",
)
"""What files for programs hold of each effect, beside its verdict."""

NAME = "effects"
"""What `pentathlon tables --table` calls it."""
TITLE = "Effects of the factors"
NOTE = (
    "Speed % is the effect on the speed, + is faster: of a factor that of its level against its "
    "first one, at the mean of the others' levels; of two factors the ratio of two such effects. "
    "The interval is that of each effect alone; the verdict allows for all effects together."
)


def effects_table(evaluation: Evaluation, found: Factorial, title: str = TITLE) -> Grid:
    """A line for each term and metric, the terms in their ranking."""
    rows = [
        (
            line.term,
            words.contrast_words(found.term(line.term)),
            f"{line.metric}: {line.case}" if line.case else line.metric,
            line.speed,
            line.interval,
            f"{line.words}: {line.reason}" if line.reason else line.words,
        )
        for line in words.lines(evaluation, found)
    ]
    headings = ("Effect", "Levels", "Metric", "Speed %", "Interval", "Verdict")
    numeric = (False, False, False, True, True, False)
    return plain(title, headings, numeric, rows, (NOTE, *words.aliases(found)))


def mapping(evaluation: Evaluation, found: Factorial) -> dict[str, object]:
    """The same for JSON."""
    return {
        "unfinished": evaluation.study.unfinished,
        "post_hoc": posthoc.short(evaluation),
        "study": evaluation.study.name,
        "ids": [NAME],
        "title": TITLE,
        "design": found.words,
        "notes": [NOTE, *words.aliases(found)],
        "rows": [
            effect_values(found, one) for ranked in found.ranking for one in found.of(ranked.term)
        ],
    }


def effect_values(found: Factorial, one: TermEffect) -> dict[str, object]:
    """What files for programs hold of an effect, by name."""
    term = found.term(one.term)
    return {
        "term": one.term,
        **{name: getattr(term, name) for name in OF_TERM},
        **one.model_dump(mode="json", include={"key", "verdict", *OF_EFFECT}),
    }
