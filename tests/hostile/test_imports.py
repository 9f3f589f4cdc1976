"""Damaged and hostile results of other tools: each is read, or refused with one sentence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.extraction.tools.rows import (
    MOST_ROWS,
    MOST_VALUES,
    ExtractError,
    Measure,
    Options,
)
from tests.hostile.mutate import damaged_text

FILES = Path(__file__).parent.parent / "extraction" / "tools" / "files"
TIME = {"time": Measure("ms", "lower")}
WHOLE = {
    "fio": ((FILES / "fio-group.json").read_text(), Options()),
    "iperf3": ((FILES / "iperf3.json").read_text(), Options()),
    "sysbench": ((FILES / "sysbench-cpu.txt").read_text(), Options()),
    "hyperfine": ((FILES / "hyperfine.json").read_text(), Options()),
    "pgbench": ((FILES / "pgbench-scripts.txt").read_text(), Options()),
    "pts": ((FILES / "composite.xml").read_text(), Options(part="linux-6.1")),
    "bmf": ('{"a": {"latency": {"value": 1}}, "b": {"file-size": {"value": 2}}}', Options()),
    "csv": ("size,time\n4k,10\n64k,20\n4k,11\n", Options(measures=TIME, cases=("size",))),
}


def test_every_tool_is_damaged_here() -> None:
    assert WHOLE.keys() == EXTRACTORS.keys()


@pytest.mark.parametrize("tool", WHOLE)
def test_no_damaged_text_ends_otherwise_than_read_or_refused(tool: str) -> None:
    text, options = WHOLE[tool]
    random = Random(f"imports {tool}")
    ends: Counter[str] = Counter()
    for _ in range(300):
        try:
            found = EXTRACTORS[tool].read(damaged_text(text, random), options)
        except ExtractError as error:
            assert str(error)
            ends["refused"] += 1
        else:
            assert found.rows
            json.dumps([row.values for row in found.rows], allow_nan=False)
            ends["read"] += 1
    assert ends["read"] > 10 and ends["refused"] > 10


@pytest.mark.parametrize("tool", ["fio", "iperf3", "hyperfine", "bmf"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 200_000,
        '{"a":' * 100_000,
        "9" * 10_000,
        '{"results": ' + "9" * 10_000 + "}",
        '{"results": NaN}',
        "[]",
        "null",
        "\x1b[2J",
        '{"fio version": "\\ud800"}',
    ],
)
def test_json_that_is_none_is_refused(tool: str, text: str) -> None:
    with pytest.raises(ExtractError):
        EXTRACTORS[tool].read(text)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]><PhoronixTestSuite/>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><PhoronixTestSuite/>',
        '<?xml version="1.0"?><!DOCTYPE a><PhoronixTestSuite/>',
        "<PhoronixTestSuite>&lt;&xxe;</PhoronixTestSuite>",
        "<a>" * 100_000,
        "<PhoronixTestSuite>" + "<a/>" * 250_000 + "</PhoronixTestSuite>",
        "<PhoronixTestSuite>",
        "<html/>",
        "\x00",
        "",
    ],
)
def test_xml_that_is_none_or_has_entities_is_refused(text: str) -> None:
    with pytest.raises(ExtractError) as error:
        EXTRACTORS["pts"].read(text)
    assert "passwd" not in str(error.value)


def test_more_than_can_be_recorded_is_refused() -> None:
    many = json.dumps({f"b{n}": {"latency": {"value": 1}} for n in range(MOST_ROWS + 1)})
    with pytest.raises(ExtractError, match="import it in parts"):
        EXTRACTORS["bmf"].read(many)
    table = "time\n" + "1\n" * (MOST_VALUES + 1)
    with pytest.raises(ExtractError, match=f"more than {MOST_VALUES} values"):
        EXTRACTORS["csv"].read(table, Options(measures=TIME))
    with pytest.raises(ExtractError, match="columns"):
        EXTRACTORS["csv"].read("a," * 2000, Options(measures=TIME))


def test_characters_that_act_are_shown_in_names() -> None:
    text = '{"\\ud800 \\u001b[2J\\u202e\\n": {"latency": {"value": 1}}}'
    [row] = EXTRACTORS["bmf"].read(text).rows
    assert row.case == {"benchmark": r"\ud800 \x1b[2J\u202e "}
