"""The samples of a row as they are repeated: blocks, processes, iterations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl


def cube(
    measured: pl.DataFrame, key: str, system: str, blocks: Iterable[int]
) -> npt.NDArray[np.float64] | None:
    """Logarithms, blocks x processes x iterations; None where the counts differ or are too few.

    Args:
        measured: counted samples.
        key: the row.
        blocks: those that are used, ascending.
    """
    wanted = list(blocks)
    rows = (
        measured.filter((pl.col("key") == key) & (pl.col("system") == system))
        .filter(pl.col("block").is_in(wanted))
        .sort("block", "process", "t_ns")
    )
    sizes = rows.group_by("block", "process").len()
    counts = sizes["len"].unique().to_list()
    processes = sizes.group_by("block").len()["len"].unique().to_list()
    if len(counts) != 1 or len(processes) != 1 or counts[0] < 2:
        return None
    if sizes["block"].n_unique() != len(wanted):
        return None
    values = np.log(rows["value"].to_numpy())
    return np.asarray(values.reshape(len(wanted), processes[0], counts[0]), dtype=np.float64)
