"""The answer in a line for each area: one convention of signs, and no ranking of what is open."""

from __future__ import annotations

import dataclasses

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.planning.deciding import blocks_for_mean
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.areas import EQUAL, OPEN, SURE, legend, overviews
from pentathlon.report.decision import decisions
from pentathlon.report.open_questions import questions
from tests.fakes.synthetic import Item, Maker, same

TIME = Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.004)
RATE = Item("memory.read", "bandwidth", {"block_bytes": 1024}, "MB/s", "higher", 5e4, 0.004)
ADD = Item("arithmetic.operations", "latency", {"op": "add"}, "ns", "lower", 1.0, 0.004)
AREAS = ("process", "memory", "arithmetic")


def evaluation(*factors, blocks=10, noise=0.3, weights=None):
    """The factors of speed of system b in the three areas."""
    places = dict(zip(AREAS, factors, strict=True))
    maker = Maker(
        factors={"a": same, "b": lambda item: places[item.workload.partition(".")[0]]},
        chosen=[TIME, RATE, ADD], blocks=blocks, noise=noise,
    )  # fmt: skip
    result = maker.make()
    study = result.plan.study.model_copy(update={"weights": weights or {}})
    plan = result.plan.model_copy(update={"study": study})
    return evaluate(dataclasses.replace(result, plan=plan))


def lines(*factors, **settings):
    (one,) = overviews(evaluation(*factors, **settings))
    return {line.area: line for line in one.lines}


def test_each_area_has_its_direction_whatever_its_unit() -> None:
    found = lines(1.2, 0.8, 1.0)
    assert [(found[area].state, found[area].sign) for area in AREAS] == [
        (SURE, 1), (SURE, -1), (EQUAL, 0),
    ]  # fmt: skip
    assert "faster, sure" in found["process"].words and found["process"].interval[0] == "+"
    assert "slower, sure" in found["memory"].words and found["memory"].interval[0] == "−"
    assert found["arithmetic"].words.startswith("equal within 1")
    assert [found[area].glyph for area in AREAS] == ["▲", "▼", "="]
    assert found["process"].detail == "1 metric, faster"


def test_the_weights_are_those_that_were_used() -> None:
    detail = lines(1.1, 1.1, 1.1, weights={"process": 3.0})[""].detail
    assert detail.replace("\N{NO-BREAK SPACE}", " ") == (
        "weights process 60 %, memory 20 %, arithmetic 20 %"
    )


def test_what_is_open_has_no_direction_and_a_command_that_would_decide_it() -> None:
    found = evaluation(1.0, 1.0, 1.0, blocks=3, noise=4)
    (one,) = overviews(found)
    assert {(line.state, line.sign) for line in one.lines} == {(OPEN, 0)}
    assert one.strength == 0.0
    assert all("sure" not in line.words for line in one.lines)
    asked = questions(found)
    commands = [question.command for question in asked if question.command]
    assert commands and all("pentathlon run " in text for text in commands)
    assert all(int(text.split("--blocks ")[1]) > 3 for text in commands), "to be copied"


def test_nothing_is_open_where_everything_is_decided() -> None:
    assert questions(evaluation(1.3, 1.3, 1.3)) == ()


def test_a_single_block_is_not_sure() -> None:
    found = lines(1.5, 1.5, 1.5, blocks=1)
    assert {line.state for line in found.values()} == {OPEN}
    assert all("in the only block" in line.words for line in found.values())


def test_more_blocks_of_the_same_spread_would_decide_a_mean() -> None:
    found = evaluation(1.004, 1.0, 1.0, blocks=4, noise=3)
    (whole,) = found.aggregates
    mean = whole.mean("area", "memory")
    assert mean is not None
    wide, narrow = Rule(1.0, 0.95), Rule(5.0, 0.95)
    many, few = blocks_for_mean(mean, wide), blocks_for_mean(mean, narrow)
    assert many is not None and few is not None and many[0] > few[0] >= 5
    assert blocks_for_mean(mean.model_copy(update={"low_percent": None}), wide) is None


def test_a_mean_over_unstable_metrics_shows_nothing() -> None:
    found = evaluation(1.5, 1.5, 1.5)
    rows = tuple(
        row.model_copy(
            update={
                "comparisons": tuple(
                    one.model_copy(update={"verdict": Verdict.UNSTABLE, "words": "unstable"})
                    for one in row.comparisons
                )
            }
        )
        if row.area != "memory"
        else row
        for row in found.rows
    )
    changed = found.model_copy(update={"rows": rows})
    (one,) = overviews(changed)
    states = {line.area: line.state for line in one.lines}
    assert states == {"process": OPEN, "memory": SURE, "arithmetic": OPEN, "": OPEN}
    assert one.strength == 0.0 and "on average but unstable" in one.lines[0].words
    (whole,) = decisions(changed)
    assert whole.sign == 0 and "shows nothing" in whole.headline and whole.changes == ()
    assert [part.sign for part in whole.parts if part.kind == "area"] == [0, 1, 0]
    assert not any(question.command for question in questions(changed)), "more blocks do not help"


@pytest.mark.parametrize("word", ["+ is faster", "Sure", "Equal", "Open"])
def test_the_legend_has_every_word(word: str) -> None:
    assert word in legend(evaluation(1.0, 1.0, 1.0, blocks=2))
