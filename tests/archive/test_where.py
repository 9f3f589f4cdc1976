"""Filters: what they choose, and what is no filter."""

from __future__ import annotations

import contextlib

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.archive.where import quoted, to_sql
from pentathlon.store.journal import StoreError

ROWS = """(values ('nightly', 'bench1', 3), ('nightly', 'lab', 5), ('weekly', 'bench2', 7),
    ('it''s "x"', 'a\\b', 9)) as t(study, machine, blocks)"""


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (None, [3, 5, 7, 9]),
        ('study = "nightly"', [3, 5]),
        ("study = 'nightly' and machine like 'bench%'", [3]),
        ('not study = "nightly" and blocks < 9', [7]),
        ('study = "weekly" or study = "nightly" and blocks > 3', [5, 7]),
        ('(study = "weekly" or study = "nightly") and blocks > 3', [5, 7]),
        ("BLOCKS in (3, 7)", [3, 7]),
        ('machine not like "bench%"', [5, 9]),
        ("study = 'it''s'", None),
        ("study = 'it\"s'", []),
        ('study like "it\'s%"', [9]),
        ("blocks != 3 and blocks <> 5", [7, 9]),
        ("blocks >= 7 and not (blocks = 9)", [7]),
    ],
)
def test_filters_choose(text: str | None, blocks: list[int] | None) -> None:
    if blocks is None:
        with pytest.raises(StoreError):
            to_sql(text)
        return
    found = duckdb.sql(f"select blocks from {ROWS} where {to_sql(text)} order by blocks")
    assert [row[0] for row in found.fetchall()] == blocks


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a column is wanted"),
        ("study", "is wanted where its end stands"),
        ("study =", "with a text in quotes, not with its end"),
        ("stduy = 'x'", "study"),
        ("study = 3", "with a text in quotes"),
        ("blocks = '3'", "with a number"),
        ("blocks like '3'", "is a number, which like does not compare"),
        ("study = 'x' machine = 'y'", "its end is wanted"),
        ("study = 'x'; drop table results", "cannot be read"),
        ("study = 'x' -- comment", "cannot be read"),
        ("study in ('x'", "\\) is wanted"),
        ("((study = 'x')", "\\) is wanted"),
        ("(" * 60 + "study = 'x'" + ")" * 60, "nested"),
        ("original = 'x'", "is no column"),
        ("study = study", "with a text in quotes"),
        ("study = 'x\\'", "cannot be read"),
    ],
)
def test_what_is_no_filter_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(StoreError, match=reason) as error:
        to_sql(text)
    assert str(error.value).startswith("--where") and "\n" not in str(error.value)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_a_text_stays_a_text(text: str) -> None:
    assert duckdb.sql(f"select {quoted(text)}").fetchall() == [(text,)]


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(StoreError):
        assert to_sql(text)
