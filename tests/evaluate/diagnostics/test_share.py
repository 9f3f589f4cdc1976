"""Samples that waited for nothing and still did not get a whole CPU."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pentathlon.evaluate.diagnostics.share import (
    blocks_words,
    find_starved,
    share_text,
    starved_caution,
)
from pentathlon.evaluate.facts import Inventory
from pentathlon.study.model import Study

STUDY = Study.model_validate(
    {
        "name": "s",
        "reference": "a",
        "system": [
            {"name": "a", "target": "local"},
            {"name": "b", "target": "local"},
            {"name": "half", "target": "local", "settings": {"cpu_quota_percent": 50}},
        ],
        "suite": [{"name": "s", "workloads": ["w"]}],
    }
)
SCHEMA = {
    "system": pl.String,
    "key": pl.String,
    "block": pl.Int32,
    "elapsed_ns": pl.Float64,
    "cpu_user_ns": pl.Int64,
    "cpu_system_ns": pl.Int64,
    "voluntary_switches": pl.Int64,
}
MS = 1_000_000


def samples(*rows: tuple[Any, ...]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def test_a_share_below_the_limit_is_not_rounded_up_to_it() -> None:
    assert [share_text(value) for value in (89.99, 30.0, 29.999999999999996)] == ["89", "30", "30"]


def test_blocks_with_less_than_90_percent_are_found() -> None:
    found = find_starved(
        samples(
            ("a", "w.time", 0, 10 * MS, 9 * MS, 1 * MS, 0),
            ("b", "w.time", 0, 10 * MS, 9 * MS, 0, 0),
            ("b", "w.time", 1, 10 * MS, 3 * MS, 0, 0),
            ("b", "w.time", 1, 10 * MS, 1 * MS, 2 * MS, 0),
            ("b", "w.time", 2, 10 * MS, 8 * MS, 0, 0),
        ),
        STUDY,
        {},
    )
    [one] = found
    assert (one.system, one.key, one.blocks) == ("b", "w.time", (1, 2))
    assert one.lowest_percent == pytest.approx(30)
    assert starved_caution(one) == (
        "b got 30 % of a CPU in the blocks 2 and 3: something else ran there"
    )


def test_what_waited_says_nothing() -> None:
    rows = samples(
        ("b", "w.time", 0, 10 * MS, 1 * MS, 0, 4),  # a pipe, a disk, a sleep
        ("b", "w.time", 1, 10 * MS, 1 * MS, 0, None),  # not counted by this system
        ("b", "w.time", 2, 10 * MS, None, None, 0),
    )
    assert find_starved(rows, STUDY, {}) == ()


def test_a_quota_is_what_the_study_asked_for() -> None:
    rows = samples(("half", "w.time", 0, 10 * MS, 5 * MS, 0, 0))
    assert find_starved(rows, STUDY, {}) == ()


def test_a_coarse_clock_needs_more_time() -> None:
    inventories_of = {"b": Inventory({"telemetry.resolution_ns.cpu_user_ns": 10 * MS})}
    short = samples(("b", "w.time", 0, 50 * MS, 30 * MS, 0, 0))
    assert find_starved(short, STUDY, inventories_of) == ()
    assert len(find_starved(short, STUDY, {})) == 1
    long = samples(*[("b", "w.time", 0, 50 * MS, 30 * MS, 0, 0)] * 20)
    assert len(find_starved(long, STUDY, inventories_of)) == 1


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ((1,), "in block 2"),
        ((0, 1), "in the blocks 1 and 2"),
        (tuple(range(10)), "in the blocks 1 to 10"),
        ((8, 0, 1, 4, 6, 7), "in the blocks 1, 2, 5 and 7 to 9"),
    ],
)
def test_blocks_in_words(blocks: tuple[int, ...], words: str) -> None:
    assert blocks_words(blocks) == words
