"""Some metrics of a result: which rows of every table concern them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from pentathlon.study.catalog import Catalog, metric_key

BY_METRIC = ("samples", "answers")
"""Tables whose rows belong to one metric; those of the others belong to a workload's case."""


@dataclass(frozen=True)
class Choice:
    """Metrics that are looked at.

    Attributes:
        chosen: whether the metric of a key (`schema.SAMPLES`) is one of them.
        workloads: those with at least one chosen metric that was measured.
        catalog: of the run; it names the metrics of a workload that was not measured.
    """

    chosen: Callable[[str], bool]
    workloads: frozenset[str]
    catalog: Catalog

    def narrow(self, name: str, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that concern the chosen metrics, or a system as a whole."""
        if name in BY_METRIC:
            keys = [key for key in table["key"].unique() if self.chosen(key)]
            return table.filter(pl.col("key").is_in(keys))
        if not {"workload", "case"} <= set(table.columns):
            return table
        places = table.select("workload", "case").unique()
        foreign = [place for place in places.iter_rows() if not self._concerns(*place)]
        dropped = pl.DataFrame(foreign, schema=places.schema, orient="row")
        return table.join(
            dropped, on=["workload", "case"], how="anti", nulls_equal=True, maintain_order="left"
        )

    def _concerns(self, workload: str | None, case: str | None) -> bool:
        if workload is None or (not case and workload in self.workloads):
            return True
        found = self.catalog.workload(workload)
        return found is not None and any(
            self.chosen(metric_key(workload, one.id, text))
            for one in found.metrics
            for text in {"", case or ""}
        )
