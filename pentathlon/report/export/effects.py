"""The effects of a factorial design as CSV: a line for each term and metric, in full precision."""

from __future__ import annotations

import csv
import io

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial
from pentathlon.report import posthoc
from pentathlon.report.export.effects_table import OF_EFFECT, OF_TERM
from pentathlon.safeio.escaping import csv_field

FILE = "effects.csv"
COLUMNS = ("term", *OF_TERM, "key", *OF_EFFECT, "verdict", "post_hoc", "unfinished")


def to_csv(evaluation: Evaluation, found: Factorial) -> str:
    """The effects as CSV (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for one in found.effects:
        term = found.term(one.term)
        values: dict[str, object] = {
            "term": one.term,
            **{name: "; ".join(getattr(term, name)) for name in OF_TERM},
            "key": one.key,
            **{name: getattr(one, name) for name in OF_EFFECT},
            "verdict": one.verdict.value,
            "post_hoc": posthoc.short(evaluation),
            "unfinished": evaluation.study.unfinished,
        }
        writer.writerow([csv_field(values[name]) for name in COLUMNS])
    return text.getvalue()
