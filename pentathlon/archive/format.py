"""The format of an archive and its kinds of files, for who needs no types of their columns."""

from __future__ import annotations

from typing import Final

FORMAT: Final = 4
"""To be raised whenever a column, its meaning or the layout changes; newer ones are refused."""

INDEX, SYSTEMS, BOOTS, SAMPLES, UNMERGED = KINDS = (
    "index", "systems", "boots", "samples", "unmerged",
)  # fmt: skip
"""`unmerged` are the samples of one result each, in a file as it lies in the result's directory,
until a compaction merges them into `samples`. Formats 1 to 3 have none."""

UNMERGED_NAME: Final = r"([0-9a-f]{64})-([^/]*)[.]parquet$"
"""The name of such a file in the regular expressions of Python, DuckDB and Spark: the result and
the batch, which its rows lack."""

INDEX_COLUMNS: Final[dict[str, type[str] | type[int] | type[float]]] = {
    "result": str, "batch": str, "study": str, "month": str, "title": str,
    "plan": str, "build": str, "machine": str, "systems": str, "reference": str,
    "kernel": str, "cpu": str, "started": str, "added": str, "format": int,
    "name": str, "blocks": int, "samples": int, "failures": int, "delta_percent": float,
    "confidence": float, "weights_json": str, "original": str, "original_bytes": int,
    "original_sha256": str, "branch": str,
}  # fmt: skip
"""Of the index: one row per result.

plan        the plan hash
build       builds of the agent, joined by "+"
systems     names, joined by ","
kernel, cpu of the reference
name        of the directory that it came from
failures    what was requested and failed for good
branch      of the project that was measured, as who added it said; formats 1 and 2 lack it
"""
