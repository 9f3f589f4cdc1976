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
    boots, systems = those_that_count(
        samples.filter(pl.col("counted") & (pl.col("phase") == "measure"))
    )
    return table.filter(pl.col("boot").is_in(boots) | ~pl.col("system").is_in(systems))


def those_that_count(used: pl.DataFrame) -> tuple[set[str], set[str]]:
    """Boots and systems that have samples.

    Args:
        used: counted, measured samples.
    """
    return set(used["boot"].unique()), set(used["system"].unique())
