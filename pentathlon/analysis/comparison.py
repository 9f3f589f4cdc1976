"""The judgement of a result: a table, sentences and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import polars as pl

from pentathlon.analysis.frames import Form, converted
from pentathlon.evaluate.model import Evaluation
from pentathlon.report import posthoc
from pentathlon.report.export.comma_separated import COLUMNS, row_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXTS = (
    "key", "area", "workload", "metric", "case", "unit", "direction", "role", "system", "reference",
    "verdict", "words", "reason", "cautions", "post_hoc", "unfinished",
)  # fmt: skip
WHOLE = ("samples", "boots", "blocks", "installs")
YES_OR_NO = ("declared", "means_unbounded")


def kind_of(column: str) -> pl.DataType:
    """The type of a column: what is not text, a count, or yes or no is a number."""
    if column in TEXTS:
        return pl.String()
    if column in WHOLE:
        return pl.Int64()
    return pl.Boolean() if column in YES_OR_NO else pl.Float64()


class Comparison:
    """Every system against the reference, metric by metric.

    Made by `Result.compare`. Ratios are ratios of speed: + is better than the reference, for every
    metric. Only the verdicts allow for the number of metrics; a single interval does not.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def __repr__(self) -> str:
        count = sum(len(row.comparisons) for row in self._evaluation.rows)
        mark = f", {posthoc.MARK}" if self.post_hoc else ""
        return f"<Comparison with {self.reference}: {count} rows{mark}>"

    @property
    def reference(self) -> str:
        """The system that the others are compared with."""
        return self._evaluation.study.reference

    @property
    def systems(self) -> tuple[str, ...]:
        """The others."""
        every = (system.name for system in self._evaluation.systems)
        return tuple(name for name in every if name != self.reference)

    @property
    def delta(self) -> float:
        """Half the width of the region of equivalence, in percent."""
        return self._evaluation.study.delta_percent

    @property
    def confidence(self) -> float:
        """Confidence of the intervals, a fraction."""
        return self._evaluation.study.confidence

    @property
    def post_hoc(self) -> str:
        """What is judged otherwise than the study planned, in sentences; "" if nothing is."""
        return posthoc.words(self._evaluation)

    @overload
    def table(self, *, to: Literal["polars"] = ...) -> pl.DataFrame: ...
    @overload
    def table(self, *, to: Form) -> Any: ...
    def table(self, *, to: Form = "polars") -> Any:
        """One row per metric and compared system, with the columns of the CSV export.

        The main ones: `key`, `system`, `verdict`, `words`; `speed_percent` with `low_percent` and
        `high_percent`, the ratio of speeds as a difference from the reference in percent with its
        interval at `confidence`; `adjusted_low_percent` and `adjusted_high_percent`, the interval
        behind the verdict; `reference_mean` and `mean` in `unit`. docs/report.md has all of them.
        What is not known is null.
        """
        rows = [
            row_values(self._evaluation, row, comparison.system)
            for row in self._evaluation.rows
            for comparison in row.comparisons
        ]
        schema = {name: kind_of(name) for name in COLUMNS}
        table = pl.DataFrame(
            [{name: row.get(name) for name in COLUMNS} for row in rows], schema=schema
        )
        return converted(table, to)

    def words(self) -> list[str]:
        """The judgement as sentences, one for each declared metric with a plain verdict."""
        return [
            f"{row.title}{f' ({row.case_text})' if row.case_text else ''}, "
            f"{comparison.system}: {comparison.words}"
            for row in self._evaluation.rows
            if row.declared
            for comparison in row.comparisons
            if comparison.effect is not None
        ]

    def plot(self, *, system: str | None = None, keys: Sequence[str] | None = None) -> Figure:
        """A forest of intervals, coloured by verdict, with the region of equivalence (Matplotlib).

        Args:
            system: the compared system; None: the only one.
            keys: the metrics to draw, in this order; None: all that have an interval.

        Raises:
            ValueError: there is no such system or metric, or several systems could be meant, or
                nothing has an interval.
            ModuleNotFoundError: Matplotlib is not installed.
        """
        from pentathlon.analysis import plots  # noqa: PLC0415  an extra that need not be there

        if system is None:
            if len(self.systems) != 1:
                raise ValueError(f"name one of the systems {', '.join(self.systems)}")
            system = self.systems[0]
        if system not in self.systems:
            raise ValueError(f'"{system}" is not compared; use {" or ".join(self.systems)}')
        table = self.table().filter(pl.col("system") == system)
        if keys is not None:
            for key in keys:
                if key not in table["key"]:
                    raise ValueError(f'"{key}" is no metric of this comparison')
            wanted = pl.DataFrame({"key": list(keys)})
            table = wanted.join(table, on="key", how="left", maintain_order="left")
        table = table.filter(pl.col("low_percent").is_not_null())
        if table.is_empty():
            raise ValueError("no metric has an interval: it takes two blocks or more")
        titles = {
            row.key: f"{row.title} ({row.case_text})" if row.case_text else row.title
            for row in self._evaluation.rows
        }
        return plots.forest(table, titles, self.delta, self.post_hoc)
