"""Units of time as other tools' formats need them."""

from __future__ import annotations

from pentathlon.evaluate.model import Row

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of time in seconds."""


def is_time(row: Row) -> bool:
    """Whether a row is a time of which less is better, and a score."""
    return row.score and row.unit in SECONDS and row.direction == "lower"
