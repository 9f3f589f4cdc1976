"""Views of a result: everything is derived from the whole of it, and then narrowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.store.query import load_result
from pentathlon.store.schema import TABLES
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, faulty, well
from tests.store.test_tables import measure


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A result without derived tables, as after their deletion."""
    directory = tmp_path / "two"
    measure(directory, scripted.plan(), ScriptedTarget("b", well))
    assert not list(directory.glob("*.parquet"))
    return directory


def test_a_view_needs_no_tables_on_the_disk(directory: Path) -> None:
    whole = load_result(directory)
    view = load_result(directory).focused("b", [])
    assert view.finished and view.enough is None
    assert view.summary().finished == whole.summary().finished
    assert set(view.samples()["system"]) == {"b"} == set(view.plan_table()["system"])


def test_a_view_of_a_view_keeps_the_narrower_choice(directory: Path) -> None:
    result = load_result(directory)
    key = result.samples()["key"][0]
    settings = result.study.evaluation
    view = result.focused("b", []).narrowed(settings, lambda one: one == key)
    assert set(view.samples()["key"]) == {key} and set(view.samples()["system"]) == {"b"}
    assert view.plan.hash() == result.plan.hash() and view.study.reference == "b"


def test_refreshing_a_view_writes_the_whole_tables(directory: Path) -> None:
    view = load_result(directory).focused("b", [])
    view.refresh()
    assert set(view.samples()["system"]) == {"b"}
    again = load_result(directory)
    assert all((directory / f"{name}.parquet").is_file() for name in TABLES)
    assert set(again.samples()["system"]) == {"a", "b"}


def test_a_choice_keeps_what_failed_of_the_chosen_workloads(tmp_path: Path) -> None:
    directory = tmp_path / "faulty"
    measure(directory, scripted.plan(), ScriptedTarget("b", faulty("w.two", "unsupported")))
    result = load_result(directory)
    settings = result.study.evaluation
    assert set(result.failures()["workload"]) == {"w.two"}
    for pattern, kept in (
        ("w.two.", True),
        ("w.two.time[size_bytes=1]", True),
        ("w.one.", False),
        ("nothing", False),
    ):
        own = result.narrowed(settings, lambda key, p=pattern: key.startswith(p))
        assert own.failures().is_empty() is not kept, pattern
        assert own.inventory().rows() == result.inventory().rows()
