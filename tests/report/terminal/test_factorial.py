"""A factorial design on the screen and in the page."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.model import Starved
from pentathlon.evaluate.warnings import warnings
from pentathlon.report.html import page as html
from pentathlon.report.html.payload import payload
from pentathlon.report.terminal import screen
from pentathlon.study.factorial.model import Fraction
from tests.evaluate.factorial.test_factorial import factors, made, planted
from tests.fakes.synthetic import Synthetic


@pytest.fixture(scope="module")
def three() -> tuple[Synthetic, Evaluation]:
    result = made(planted, factors("a", "b", "c"))
    return result, evaluate(result)


def shown(evaluation: Evaluation, *, tables: bool = False, full: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=100, color_system=None)
    screen.render(evaluation, console, full=full, tables=tables)
    return stream.getvalue()


def test_the_factors_come_first_and_the_arms_only_with_the_tables(three):
    _, evaluation = three
    text = shown(evaluation)
    assert "Matters: a, b (most first); does not matter: c." in text
    assert "a has another effect for 1 of 3 metrics" in text
    assert "against a-0+b-0+c-0" not in text and "--tables" in text
    whole = shown(evaluation, tables=True)
    assert "a × b  1 against 0, at 1 in relation to 0" in whole
    assert "a-1+b-1+c-1 against a-0+b-0+c-0" in whole


def test_a_fraction_names_what_it_cannot_tell_apart():
    result = made(planted, factors("a", "b", "c"), Fraction(arms=4))
    text = shown(evaluate(result))
    assert "a stands for a − b × c" in text and "resolution III" in text


def test_the_page_has_the_ranking_the_table_and_the_picture(three):
    result, evaluation = three
    page = html.render(evaluation, result)
    for text in ("Matters: a, b", "Effects of a × b", 'data-kind="factors"', "a-1+b-1+c-0"):
        assert text in page
    terms = payload(evaluation, result)["factorial"]
    assert [one["t"] for one in terms] == [one.term for one in evaluation.factorial.ranking]
    assert all(len(one["e"]) == 3 for one in terms)


def test_a_comparison_of_systems_has_none_of_it():
    result = made(planted, factors("a", "b"))
    study = result.plan.study.model_copy(update={"factors": (), "design": "comparison"})
    result.plan = result.plan.model_copy(update={"study": study})
    evaluation = evaluate(result)
    assert "factorial" not in payload(evaluation, result)
    assert 'data-kind="factors"' not in html.render(evaluation, result)
    assert '"factorial"' not in evaluation.model_dump_json()


def test_many_systems_without_a_whole_cpu_are_one_sentence(three):
    _, evaluation = three
    key = evaluation.rows[0].key
    starved = tuple(
        Starved(system=one.name, key=key, blocks=(0,), lowest_percent=50.0 + place)
        for place, one in enumerate(evaluation.systems)
    )
    few = evaluation.model_copy(update={"starved": starved[:2]})
    assert len(warnings(few)) == 2
    (text,) = warnings(evaluation.model_copy(update={"starved": starved}))
    assert text.startswith("8 of 8 systems") and f"a-0+b-0+c-0 50 % for {key}" in text
