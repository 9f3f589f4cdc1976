"""Columns of an archive's tables, with their polars types.

Every row names its result (`result`, the id) and the batch that brought it (`batch`).
"""

from __future__ import annotations

from typing import Final

import polars as pl

from pentathlon.archive.format import INDEX_COLUMNS
from pentathlon.store.schema import SAMPLES as MEASURED

_TEXT, _REAL, _INT = pl.String(), pl.Float64(), pl.Int64()

_TYPES: Final[dict[type, pl.DataType]] = {str: _TEXT, float: _REAL, int: _INT}
INDEX: Final[dict[str, pl.DataType]] = {name: _TYPES[kind] for name, kind in INDEX_COLUMNS.items()}
"""One row per result."""

SYSTEMS: Final[dict[str, pl.DataType]] = {
    "result": _TEXT, "batch": _TEXT, "study": _TEXT, "started": _TEXT, "system": _TEXT,
    "layer": _TEXT, "cpu": _TEXT, "kernel": _TEXT, "catalog_version": _INT, "build": _TEXT,
    "parameters_sha256": _TEXT, "parameters_json": _TEXT, "facts_json": _TEXT,
}  # fmt: skip
"""One row per result and system. `facts_json` is `evaluate.model.SystemFacts` without hardware."""

BOOTS: Final[dict[str, pl.DataType]] = {
    "result": _TEXT, "batch": _TEXT, "study": _TEXT, "system": _TEXT, "key": _TEXT,
    "workload": _TEXT, "metric": _TEXT, "area": _TEXT, "role": _TEXT, "case_json": _TEXT,
    "unit": _TEXT, "direction": _TEXT, "units": _INT, "block": pl.Int32(), "install": _TEXT,
    "n": _INT, "mean": _REAL, "log_mean": _REAL, "sd": _REAL, "lowest": _REAL,
    "checksums": _TEXT,
}  # fmt: skip
"""What judging needs: one row per result, system, row (`key`) and boot (`block`).

Samples count as in an evaluation by the study's own rules: of finished steps, without warm-up,
without what its `exclude` leaves out.

n          samples of the boot
mean       their arithmetic mean
log_mean   mean of their logarithms; null where one is not positive
sd         their standard deviation; null of a single one
lowest     the smallest; NaN where one is not a finite number
checksums  those of the work, joined by ","
"""

BATCH_SIZE: Final = "batch_size"
"""What is called `batch` beside a result, where no other batch is meant."""

SAMPLES: Final[dict[str, pl.DataType]] = {
    "result": _TEXT,
    "batch": _TEXT,
    **{BATCH_SIZE if name == "batch" else name: kind for name, kind in MEASURED.items()},
}
"""Every sample (`store.schema.SAMPLES`), those of warm-up and of cut-off steps too. Format 1 lacks
`batch_size`."""

KINDS: Final[dict[str, dict[str, pl.DataType]]] = {
    "index": INDEX,
    "systems": SYSTEMS,
    "boots": BOOTS,
    "samples": SAMPLES,
}
"""Kinds of files whose rows name their result."""
SORTED: Final[dict[str, list[str]]] = {
    "index": ["started"],
    "systems": ["system", "started"],
    "boots": ["key", "system", "result", "block"],
    "samples": ["key", "system", "result"],
}
"""Order of the rows within a file, so that a question about one row of a study reads little."""
