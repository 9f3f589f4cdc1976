"""The effects of a factorial design as CSV: a line for each term and metric, in full precision."""

from __future__ import annotations

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial, TermEffect
from pentathlon.report import posthoc
from pentathlon.report.export.comma_separated import written
from pentathlon.report.export.effects_table import OF_EFFECT, OF_TERM, effect_values

FILE = "effects.csv"
COLUMNS = ("term", *OF_TERM, "key", *OF_EFFECT, "verdict", "post_hoc", "unfinished")


def to_csv(evaluation: Evaluation, found: Factorial) -> str:
    """The effects as CSV (RFC 4180)."""
    return written(COLUMNS, (_values(evaluation, found, one) for one in found.effects))


def _values(evaluation: Evaluation, found: Factorial, one: TermEffect) -> dict[str, object]:
    return {
        **effect_values(found, one),
        **{name: "; ".join(getattr(found.term(one.term), name)) for name in OF_TERM},
        "post_hoc": posthoc.short(evaluation),
        "unfinished": evaluation.study.unfinished,
    }
