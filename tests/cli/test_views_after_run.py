"""A fault of a view costs no result: files come before the terminal, and each stands by itself."""

from __future__ import annotations

from typing import Any

import pytest

from pentathlon.cli.exits import Exit
from pentathlon.report.export import files
from pentathlon.report.html import page
from pentathlon.report.terminal import screen
from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop


def broken(*_: Any, **__: Any) -> Any:
    raise IndexError("list index out of range")


def measured(shop: Shop, *words: str) -> Any:
    text = STUDY.replace("blocks = 2", "blocks = 1")
    return shop.call("run", shop.write(text), "--yes", "--no-pilot", *words)


def test_a_view_that_fails_leaves_the_report_and_names_the_result(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "render", broken)
    done = measured(shop)
    assert done.code == Exit.INTERNAL
    directory = shop.result()
    assert (directory / "report.html").stat().st_size > 10_000
    assert load_result(directory).finished
    assert f"report:  {directory.relative_to(shop.directory)}/report.html" in done.err
    assert f"results: {directory.relative_to(shop.directory)}" in done.err
    assert "the view in the terminal could not be made" in done.err
    assert "IndexError: list index out of range" in done.err


def test_a_report_that_fails_leaves_the_answer(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "write", broken)
    done = measured(shop)
    assert done.code == Exit.INTERNAL
    assert "δ =" in done.out and "report.html could not be made" in done.err
    assert "results: results/" in done.err


def test_a_judgement_that_fails_still_names_the_result(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pentathlon.cli.reporting.evaluate", broken)
    done = measured(shop)
    assert done.code == Exit.INTERNAL
    assert "the judgement could not be made" in done.err and "results: results/" in done.err


def test_a_reader_who_has_seen_enough_ends_no_run(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise SystemExit(1)

    monkeypatch.setattr(screen, "render", gone)
    done = measured(shop)
    assert done.code == Exit.OK and "results: results/" in done.err


def test_one_format_that_fails_leaves_the_others(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured(shop, "--no-report").code == 0
    monkeypatch.setitem(files.MAKERS, "markdown", ("evaluation.md", broken))
    done = shop.call("report", shop.result(), "--format", "csv,markdown,json,html")
    assert done.code == Exit.INTERNAL and "the format markdown could not be written" in done.err
    names = [line.rpartition("/")[2] for line in done.out.split()]
    assert names == ["evaluation.csv", "evaluation.json", "report.html"]
    assert all((shop.result() / name).stat().st_size > 1000 for name in names)
    assert not (shop.result() / "evaluation.md").exists()
