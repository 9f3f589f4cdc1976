"""An evaluation as CSV: a line for each metric and system, in full precision."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from pentathlon.evaluate.model import Evaluation, Row
from pentathlon.report import posthoc
from pentathlon.safeio.escaping import csv_field

COLUMNS = (
    "key",
    "area",
    "workload",
    "metric",
    "case",
    "unit",
    "direction",
    "role",
    "system",
    "reference",
    "samples",
    "boots",
    "mean",
    "minimum",
    "maximum",
    "sd",
    "boot_sd",
    "deviation_percent",
    "reference_mean",
    "difference_percent",
    "blocks",
    "speed_percent",
    "low_percent",
    "high_percent",
    "adjusted_confidence",
    "adjusted_low_percent",
    "adjusted_high_percent",
    "moderated_low_percent",
    "moderated_high_percent",
    "p_different",
    "p_equivalent",
    "mde_percent",
    "declared",
    "nominal_confidence",
    "installs",
    "median_percent",
    "median_low_percent",
    "median_high_percent",
    "median_confidence",
    "p_sign_flip",
    "means_percent",
    "means_low_percent",
    "means_high_percent",
    "means_unbounded",
    "probability_faster",
    "cliffs_delta",
    "p_serial",
    "p_max_t",
    "verdict",
    "words",
    "reason",
    "cautions",
    "post_hoc",
    "unfinished",
)
"""Columns of the CSV file: one line for each metric and system, the reference too."""


def to_csv(evaluation: Evaluation) -> str:
    """The evaluation as CSV (RFC 4180): numbers as Python's repr, empty where there is none."""
    lines = (
        row_values(evaluation, row, system.name)
        for row in evaluation.rows
        for system in evaluation.systems
    )
    return written(COLUMNS, lines)


def written(columns: Sequence[str], lines: Iterable[Mapping[str, object]]) -> str:
    """Lines of values, each by its column's name, as CSV (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for values in lines:
        writer.writerow([csv_field(values.get(name)) for name in columns])
    return text.getvalue()


def row_values(evaluation: Evaluation, row: Row, system: str) -> dict[str, object]:
    """What is known of a metric on a system, by the names of `COLUMNS`; nothing where it is not."""
    reference = evaluation.study.reference
    summary, base = row.summary(system), row.summary(reference)
    values: dict[str, object] = {
        **row.model_dump(include=set(COLUMNS)),
        "case": ",".join(f"{name}={value}" for name, value in row.case.items()),
        "system": system,
        "reference": reference,
        "reference_mean": None if base is None else base.mean,
        "post_hoc": posthoc.short(evaluation),
        "unfinished": evaluation.study.unfinished,
    }
    if summary is not None:
        values |= summary.model_dump(exclude={"boot_means", "system", "within_one_percent"})
    comparison = row.comparison(system)
    if comparison is None:
        return values
    values |= comparison.model_dump(include={"difference_percent", "words", "reason"})
    values["verdict"] = comparison.verdict.value
    same = [one.words for one in evaluation.identical if {system, reference} == {*one.systems}]
    values["cautions"] = "; ".join((*same, *comparison.cautions))
    if comparison.effect is not None:
        values |= comparison.effect.model_dump(
            exclude={"log_ratios", "units", "mean", "sd", "percent", "checks", "moderated"}
        )
        if (borrowed := comparison.effect.moderated) is not None:
            values["moderated_low_percent"] = borrowed.low_percent
            values["moderated_high_percent"] = borrowed.high_percent
        if comparison.effect.checks is not None:
            values |= comparison.effect.checks.model_dump()
        values["speed_percent"] = comparison.effect.percent
    return values
