"""The effects of a factorial design in the exports: every format has the same numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pentathlon.cli import tables as command
from pentathlon.cli.main import app
from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.display import signed_percent
from pentathlon.evaluate.model_factorial import TermEffect
from pentathlon.report.export.files import MAKERS
from pentathlon.report.export.siunitx import _cell, to_siunitx
from pentathlon.store.query import Result
from pentathlon.study.factorial.model import Fraction
from tests.evaluate.factorial.test_factorial import factors, made, planted
from tests.fakes.synthetic import Item, Maker, same


@cache
def result() -> Result:
    return made(planted, factors("a", "b", "c"))


@cache
def evaluation() -> Evaluation:
    return evaluate(result())


def effects() -> Sequence[TermEffect]:
    design = evaluation().factorial
    assert design is not None
    return design.effects


@pytest.mark.parametrize("name", ["markdown", "latex"])
def test_the_texts_have_a_line_for_each_effect(name: str) -> None:
    text = MAKERS[name][1](evaluation())
    assert "Effects of the factors" in text or "effects of the factors" in text
    for one in effects():
        assert one.percent is not None
        speed = signed_percent(one.percent)
        shown = speed.replace("−", "$-$") if name == "latex" else speed
        term = one.term.replace("×", r"$\times$") if name == "latex" else one.term
        lines = [line for line in text.splitlines() if shown in line and term in line]
        assert lines, (one.term, one.key)


def test_markdown_answers_before_it_compares_the_arms() -> None:
    text = MAKERS["markdown"][1](evaluation())
    assert text.index("Matters: a, b") < text.index("a-1+b-0+c-0")


def test_siunitx_has_the_effects_that_are_shown() -> None:
    text = to_siunitx(evaluation())
    shown = [one for one in effects() if one.verdict.is_shown]
    assert shown
    numbers = text.partition("against a-0")[0]
    for one in shown:
        assert f"& {_cell(one.percent)} &" in numbers
    hidden = {one.term for one in effects()} - {one.term for one in shown}
    assert all(f"Shown effects of {term} (" not in text for term in hidden)


def printed(monkeypatch: pytest.MonkeyPatch, found: object, *options: str) -> str:
    monkeypatch.setattr(command, "choose", lambda _: Path("r"))
    monkeypatch.setattr(command, "load_result", lambda _: found)
    done = CliRunner().invoke(app, ["tables", ".", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_tables_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    (table,) = json.loads(printed(monkeypatch, result(), "--table", "effects", "--format", "json"))
    known = {(one.term, one.key): one for one in effects()}
    assert {(one["term"], one["key"]) for one in table["rows"]} == set(known)
    for one in table["rows"]:
        effect = known[one["term"], one["key"]]
        assert one["percent"] == effect.percent and one["verdict"] == effect.verdict.value
    text = printed(monkeypatch, result(), "--table", "effects", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {float(one["percent"]) for one in rows} == {one.percent for one in effects()}


@pytest.mark.parametrize("shape", ["terminal", "markdown", "latex"])
def test_tables_as_text(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    assert "Effects of the factors" in printed(monkeypatch, result(), "--format", shape)


def test_aliases_are_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    fraction = made(planted, factors("a", "b", "c"), Fraction(arms=4))
    text = printed(monkeypatch, fraction, "--table", "effects", "--format", "markdown")
    assert "a stands for a − b × c" in text


def test_a_comparison_has_no_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    item = Item("process.getpid", "time", {"opt_level": "3"}, "ns", "lower", 60.0)
    plain = Maker(factors={"a": same}, chosen=[item]).make()
    assert "Effects" not in printed(monkeypatch, plain, "--format", "markdown")
    assert json.loads(printed(monkeypatch, plain, "--table", "effects", "--format", "json")) == []
