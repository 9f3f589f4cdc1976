"""The first page: the answer for the stated weights, how sure it is, and its sensitivity."""

from __future__ import annotations

import dataclasses
import math

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.report import decision
from pentathlon.report.decision import best_words, decisions, weights_words
from pentathlon.report.html import page as html
from pentathlon.report.open_questions import questions
from tests.fakes.synthetic import Item, Maker, same

NBSP = "\N{NO-BREAK SPACE}"

CALL = Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.004)
READ = Item("memory.read", "bandwidth", {"block_bytes": 1024}, "MB/s", "higher", 5e4, 0.004)
CHASE = Item("arithmetic.operations", "latency", {"op": "add"}, "ns", "lower", 1.0, 0.004)


def made(*factors, blocks=10, weights=None, noise=0.3):
    """Systems a, b, …; a factor is for (process, memory, arithmetic)."""
    places = {"process": 0, "memory": 1, "arithmetic": 2}
    named = {"a": same} | {
        "bcd"[k]: lambda item, own=own: own[places[item.workload.partition(".")[0]]]
        for k, own in enumerate(factors)
    }
    result = Maker(factors=named, chosen=[CALL, READ, CHASE], blocks=blocks, noise=noise).make()
    study = result.plan.study.model_copy(update={"weights": weights or {}})
    return dataclasses.replace(result, plan=result.plan.model_copy(update={"study": study}))


def words(*factors, **settings):
    [one, *_] = decisions(evaluate(made(*factors, **settings)))
    return one


def test_a_winner_everywhere_is_said_to_need_no_weights():
    one = words((1.1, 1.1, 1.1))
    assert "b is 10" in one.headline
    assert "faster than a as a whole" in one.headline
    assert any(
        text.startswith("No weights of the 3 areas would put a ahead") for text in one.changes
    )
    assert any("it dominates" in text for text in one.changes)
    assert one.sign == 1


def test_a_trade_off_says_which_weights_turn_it():
    one = words((1.2, 0.9, 1.0), weights={"process": 3.0})
    shares = f"process 60{NBSP}%, memory 20{NBSP}% and arithmetic 20{NBSP}%"
    assert one.headline.startswith(f"By the stated weights ({shares}), b is ")
    text = " ".join(one.changes)
    assert "a would be ahead if" in text
    assert "moved to memory" in text
    assert "without process a ahead" in text
    assert "Neither is shown to be at least as good in every row" in text
    assert [part.name for part in one.parts if part.kind == "area"] == [
        "process", "memory", "arithmetic",
    ]  # fmt: skip


def test_equal_systems_are_said_to_be_equal():
    one = words((1.0, 1.0, 1.0), blocks=20)
    assert "equally fast as a whole, within 1" in one.headline
    assert one.sign == 0


def test_what_is_not_known_is_said_not_to_be():
    one = words((1.0, 1.0, 1.0), blocks=3, noise=4)
    assert "no difference between b and a as a whole was shown" in one.headline
    assert not any("better mean" in text or "ahead" in text for text in one.changes), "no ranking"
    one = words((1.5, 1.5, 1.5), blocks=1)
    assert "% faster than a as a whole, in a single block" in one.headline
    one = words((3.0, 3.0, 3.0), blocks=1)
    assert "times as fast as a as a whole, in a single block" in one.headline


def test_a_difference_below_delta_in_a_single_block_is_none_to_tell():
    one = words((1.0001, 1.0001, 1.0001), blocks=1, noise=0)
    assert "b and a were within 1" in one.headline and "faster" not in one.headline
    assert "in a single block: whether that would happen again is not known" in one.headline


@pytest.mark.parametrize("weights", [{}, {"process": 2.0, "memory.read": 0.5}])
def test_the_weights_are_reported(weights):
    reported = weights_words(evaluate(made((1.1, 1.0, 1.0), weights=weights)))
    assert ("process 2, memory.read 0.5" in reported) is bool(weights)


def test_several_systems_are_ranked_over_all_weights():
    reported = best_words(evaluate(made((1.2, 0.8, 1.0), (0.8, 1.2, 1.0))))
    assert "b under" in reported
    assert "c under" in reported


def test_the_page_begins_with_the_answer_and_ends_with_the_tables():
    result = made((1.2, 0.9, 1.0))
    evaluation = evaluate(result)
    page = html.render(evaluation, result)
    order = [
        '<article class="overview"',
        'data-kind="overview"',
        decisions(evaluation)[0].headline,
        "Sensitivity",
        '<article class="answer"',
        'id="incomparable"',
        'id="procedure"',
        'id="inventory"',
        'id="area-process"',
        'id="diagnostics"',
        'id="samples"',
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)


def test_an_open_area_names_the_blocks_that_were_measured() -> None:
    evaluation = evaluate(made((1.003, 0.997, 1.0), blocks=4, noise=1.0))
    planned = evaluation.study.model_copy(update={"blocks": 77})
    asked = questions(evaluation.model_copy(update={"study": planned}))
    [areas, *_] = [one.what for one in asked if "do not decide" in one.what]
    assert "4 blocks do not decide" in areas


def test_an_open_answer_says_how_many_blocks_would_decide_it() -> None:
    mean = Mean(
        kind="all", name="", rows=2, weight=1.0, blocks=10, mean=0.0, percent=0.0,
        low_percent=-4.0, high_percent=100 / 24, p_different=1.0, members=(),
    )  # fmt: skip
    evaluation = evaluate(Maker(blocks=2, iterations=2).make())
    [reported] = decision._more_blocks(evaluation, mean)
    # Four times the half width of δ = 1 %: some sixteen times the blocks.
    half = math.log(25 / 24)
    assert f"{math.ceil(10 * (half / math.log(1.01)) ** 2)}" in reported
    decided = mean.model_copy(update={"low_percent": 2.0})
    assert decision._more_blocks(evaluation, decided) == []
    narrow = mean.model_copy(update={"low_percent": -0.5, "high_percent": 0.5})
    assert decision._more_blocks(evaluation, narrow) == []
