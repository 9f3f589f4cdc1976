"""Files of samples that hold one result each: the file of the result's own directory.

To read and write every sample of a result would take half of the time of adding it, and few
questions read them. So the file is taken as it is, and a compaction merges many into one. Its name
states the result and the batch, which its rows lack, and its column `batch` is `batch_size` in an
archive.
"""

from __future__ import annotations

import io
import re

import polars as pl

from pentathlon.archive.format import UNMERGED, UNMERGED_NAME
from pentathlon.archive.partition import folder
from pentathlon.archive.schema import BATCH_SIZE, SAMPLES
from pentathlon.store.schema import SAMPLES as MEASURED


def name(study: str, month: str, result: str, batch: str) -> str:
    """Name of the file of a result."""
    return f"{folder(UNMERGED, study, month)}/{result}-{batch}.parquet"


def origin(file: str) -> tuple[str, str]:
    """Result and batch of a file by its name.

    Raises:
        ValueError: it is no such name.
    """
    found = re.search(UNMERGED_NAME, file)
    if found is None:
        raise ValueError(f"{file} names no result")
    return found[1], found[2]


def rows(file: str, data: bytes) -> pl.DataFrame:
    """The samples of a file as rows of an archive.

    Raises:
        polars.exceptions.PolarsError: it is no file of Parquet, or lacks a column.
        ValueError: its name states no result.
    """
    result, batch = origin(file)
    own = {"result": pl.lit(result), "batch": pl.lit(batch), BATCH_SIZE: pl.col("batch")}
    table = pl.read_parquet(io.BytesIO(data), columns=list(MEASURED))
    return table.select(own.get(one, pl.col(one)).alias(one) for one in SAMPLES)
