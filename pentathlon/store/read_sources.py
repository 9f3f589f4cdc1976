"""Who answered the reads of a case: `disk.served` events as rows of the table `answers`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

EVENT = "disk.served"
"""The name of the agent's `counter` event (docs/disk.md)."""


def tallies(value: Mapping[str, Any], warmup: int) -> Iterator[tuple[str, dict[str, int]]]:
    """(indicator, answer -> number of measured reads) of one event.

    Args:
        value: the event's value: `reads` holds one entry for each read of each round.
        warmup: rounds that came before the measured ones.
    """
    reads: dict[str, list[str]] = {}
    for read in _list(value.get("reads")):
        reads.setdefault(str(read["indicator"]), []).append(str(read["served"]))
    for indicator, answers in reads.items():
        yield indicator, dict(Counter(answers[warmup:]))


def _list(value: Any) -> Sequence[Mapping[str, Any]]:
    return value if isinstance(value, list) else []
