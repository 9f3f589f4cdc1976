"""Who answered the reads of a case: `disk.served` events as rows of the table `answers`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pentathlon.protocol.events import Served


def tallies(value: Served, warmup: int) -> Iterator[tuple[str, dict[str, int]]]:
    """(metric, answer -> number of measured reads) of one event.

    Args:
        value: the event's value.
        warmup: rounds that came before the measured ones.
    """
    reads: dict[str, list[str]] = {}
    for read in value.reads:
        reads.setdefault(read.metric, []).append(read.served)
    for metric, answers in reads.items():
        yield metric, dict(Counter(answers[warmup:]))
