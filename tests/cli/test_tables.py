"""`pentathlon tables`: which tables a result has, and those that are requested by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pentathlon.cli import tables as command
from pentathlon.cli.main import app
from tests.fakes.synthetic import Item, Maker, same


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    item = Item("process.getpid", "time", {"opt_level": "3"}, "ns", "lower", 60.0)
    made = Maker(factors={"a": same}, chosen=[item]).make()
    monkeypatch.setattr(command, "choose", lambda _: tmp_path)
    monkeypatch.setattr(command, "load_result", lambda _: made)
    return tmp_path


def ids(result: Path, *options: str) -> list[list[str]]:
    done = CliRunner().invoke(app, ["tables", str(result), *options, "--format", "json"])
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return [one["ids"] for one in found]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((), [["fig-26"], ["hardware"]]),
        (("--study", "venkata2003", "--table", "Figure 26"), [["fig-26"]]),
        (("--study", "martinovic2012"), []),
        (("--table", "table-19"), [["table-17", "table-19", "table-21"]]),
    ],
)
def test_tables_by_study_and_name(
    result: Path, options: tuple[str, ...], wanted: list[list[str]]
) -> None:
    assert ids(result, *options) == wanted


def test_a_table_that_no_study_has_is_refused(result: Path) -> None:
    done = CliRunner().invoke(app, ["tables", str(result), "--table", "table-99"])
    assert done.exit_code == 2
