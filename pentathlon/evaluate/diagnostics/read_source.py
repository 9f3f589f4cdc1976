"""Who answered a read: the device, or a cache in front of it.

A rate of the cache is no rate of the disk. Both are results; what they must not be is mistaken for
each other, or compared with each other unsaid.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pentathlon.evaluate.model_series import ReadSource

WORDS = {
    "device": "the device",
    "cache": "the system's cache",
    "mixed": "cache and device in turn",
    "below": "a layer below the system",
    "unknown": "a source that the system does not report",
}


def find_read_sources(table: pl.DataFrame) -> tuple[ReadSource, ...]:
    """The answers to the counted reads, by metric and system (`store.schema.ANSWERS`)."""
    counts = (
        table.filter("counted")
        .group_by("key", "system", "served")
        .agg(pl.col("reads").sum())
        .sort("key", "system", "reads", "served", descending=[False, False, True, False])
    )
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in counts.iter_rows(named=True):
        found.setdefault((row["key"], row["system"]), {})[row["served"]] = row["reads"]
    return tuple(
        ReadSource(key=key, system=system, reads=reads) for (key, system), reads in found.items()
    )


def read_source_cautions(reference: ReadSource | None, other: ReadSource | None) -> Iterator[str]:
    """What the answers on two systems say about their comparison."""
    items = [one for one in (reference, other) if one is not None]
    if len({one.usual for one in items}) > 1:
        who = ", ".join(f"{WORDS[one.usual]} on {one.system}" for one in items)
        yield f"the reads were answered by different parts: {who}"
    elif items and items[0].usual != "device":
        yield f"the reads were answered by {WORDS[items[0].usual]}"
    for one in items:
        if len(one.reads) > 1:
            total = sum(one.reads.values())
            yield (
                f"{one.reads[one.usual]} of {total} reads on {one.system} were answered by "
                f"{WORDS[one.usual]}, the others not"
            )
