"""A rate of the cache is not taken for a rate of the disk."""

import polars as pl

from pentathlon.evaluate.diagnostics.read_source import find_read_sources, read_source_cautions
from pentathlon.evaluate.model_series import ReadSource
from pentathlon.store.schema import ANSWERS


def answered(system: str, **reads: int) -> ReadSource:
    return ReadSource(key="k", system=system, reads=reads)


def test_counted_reads_are_added_up_over_boots() -> None:
    rows = [
        {"system": "a", "key": "k", "served": "cache", "reads": 5, "counted": True},
        {"system": "a", "key": "k", "served": "cache", "reads": 4, "counted": True},
        {"system": "a", "key": "k", "served": "device", "reads": 1, "counted": True},
        {"system": "a", "key": "k", "served": "device", "reads": 99, "counted": False},
    ]
    table = pl.DataFrame(
        [{name: row.get(name) for name in ANSWERS} for row in rows], schema=ANSWERS
    )
    assert find_read_sources(table) == (answered("a", cache=9, device=1),)


def test_a_comparison_of_cache_and_device_says_so() -> None:
    sentences = list(read_source_cautions(answered("a", device=5), answered("b", cache=5)))
    assert sentences == [
        "the reads were answered by different parts: the device on a, the system's cache on b"
    ]


def test_reads_of_the_device_need_no_words() -> None:
    assert list(read_source_cautions(answered("a", device=5), answered("b", device=5))) == []
    assert list(read_source_cautions(None, None)) == []


def test_cached_and_mixed_reads_are_told() -> None:
    sentences = list(read_source_cautions(answered("a", cache=5), answered("b", cache=4, mixed=1)))
    assert sentences == [
        "the reads were answered by the system's cache",
        "4 of 5 reads on b were answered by the system's cache, the others not",
    ]
