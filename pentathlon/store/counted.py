"""The boots of a result that count: those with samples that are evaluated."""

from __future__ import annotations

import polars as pl


def counted_boots(table: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Rows of a table by boot, without boots that failed or were cut off.

    A system without a single boot that counts keeps its rows: there is nothing else to say of it.

    Args:
        table: has the columns `system` and `boot`.
        samples: `schema.SAMPLES`.
    """
    # One query: each costs more than its work where a table is short.
    found = (
        samples.lazy()
        .filter(pl.col("counted") & (pl.col("phase") == "measure"))
        .select(pl.col("boot").unique().implode(), pl.col("system").unique().implode())
        .collect()
    )
    return table.filter(
        pl.col("boot").is_in(found["boot"]) | ~pl.col("system").is_in(found["system"])
    )
