"""Tables and queries: what a result directory tells, also as a copy, also before its end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pentathlon.procedure.records import RunStart
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.store.directory import fill_directory, make_directory
from pentathlon.store.journal import JOURNAL, JournalWriter, Lock, StoreError
from pentathlon.store.query import list_results, load_result, newest, newest_unfinished
from pentathlon.store.schema import TABLES
from pentathlon.study.load import LoadedStudy
from pentathlon.study.plan import Plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, faulty, well


def measure(directory: Path, plan: Plan, b: ScriptedTarget, stop_after: int | None = None) -> None:
    """A result directory as a run makes it; it can be cut after some records."""
    make_directory(directory, plan.study.name)
    first = RunStart(
        plan_hash=plan.hash(),
        study_file="/nowhere/scripted.toml",
        study_sha256="0",
        blocks=None,
        version="0",
        pid=1,
        notes=["a note"],
    )
    loaded = LoadedStudy(Path("/nowhere/scripted.toml"), "text", plan.study)
    fill_directory(directory, loaded, plan, scripted.catalog(), first)
    journal = JournalWriter(directory)
    left = [stop_after]

    def sink(record: object) -> None:
        if left[0] is not None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
        journal.append(record)  # type: ignore[arg-type]

    targets = {"a": ScriptedTarget("a", well), "b": b}
    try:
        Runner(plan, targets, sink, catalog=scripted.catalog(), state=RunState(plan)).run()
    except KeyboardInterrupt:
        assert stop_after is not None
    journal.close()


@pytest.fixture
def faulted(tmp_path: Path) -> Path:
    directory = tmp_path / "faulted"
    plan = scripted.plan(blocks=2, iterations=3)
    measure(directory, plan, ScriptedTarget("b", faulty("w.two", "die", times=1)))
    return directory


def test_samples(faulted: Path) -> None:
    result = load_result(faulted)
    samples = result.samples()
    assert dict(samples.schema) == TABLES["samples"]
    counted = samples.filter(pl.col("counted"))
    steps, cases, repeats = 2 * 2 * 3, 2, 3 + 1
    assert counted.height == steps * cases * repeats
    cut = samples.filter(~pl.col("counted"))
    assert cut.height == cases * repeats - 1
    assert set(cut["boot"]) == {f"{cut['block'][0]}.b.0"}
    keys = ["block", "system", "key", "process", "phase", "iteration"]
    assert counted.select(keys).is_unique().all()
    first = counted.row(0, named=True)
    assert first["key"] == f"{first['workload']}.time[{first['case']}]"
    assert first["case"].startswith("size_bytes=")
    assert (first["layer"], first["target"], first["install"]) == ("none", "scripted", "0")
    assert (first["cpu_user_ns"], first["frequency_khz"]) == (3, None)
    for boot, rows in counted.group_by("boot"):
        block, system, attempt = str(boot[0]).split(".")
        steps_in_order = result.plan.blocks[int(block)]
        planned = next(b for b in steps_in_order if b.system == system)
        names = [result.plan.steps[system][number].workload for number in planned.steps]
        for row in rows.select("workload", "workload_order").unique().iter_rows():
            assert names[row[1]] == row[0]
        assert attempt in {"0", "1"}


def test_failures_and_plan(faulted: Path) -> None:
    result = load_result(faulted)
    [failure] = result.failures().iter_rows(named=True)
    assert (failure["kind"], failure["workload"], failure["resolved"]) == ("died", "w.two", True)
    assert failure["reason"] == "the agent died"
    assert set(result.plan_table()["state"]) == {"finished"}
    assert result.plan_table().height == result.plan.step_count() == 12
    assert result.finished and result.notes() == ["a note"]


def test_inventory(faulted: Path) -> None:
    result = load_result(faulted)
    assert result.facts("a") == {"cpu.count": 1, "agent.build": "b"}
    assert result.facts("nobody") == {}
    assert dict(result.inventory().schema) == TABLES["inventory"]


def test_a_copy_tells_the_same(faulted: Path, tmp_path: Path) -> None:
    load_result(faulted).refresh()
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(faulted, copy)
    shutil.rmtree(faulted)
    here = load_result(copy)
    assert here.samples().height == pl.read_parquet(copy / "samples.parquet").height > 0
    assert here.plan_hash == here.plan.hash()


def test_the_tables_follow_the_journal(faulted: Path) -> None:
    """Old Parquet files are never mistaken for the journal's content."""
    load_result(faulted).refresh()
    journal = faulted / JOURNAL
    whole = journal.read_bytes()
    fresh = load_result(faulted).samples().height
    journal.write_bytes(whole[: len(whole) // 2])
    half = load_result(faulted).samples().height
    assert 0 < half < fresh
    journal.write_bytes(whole)
    (faulted / "samples.parquet").unlink()
    assert load_result(faulted).samples().height == fresh


def test_a_run_that_was_cut_off(tmp_path: Path) -> None:
    plan = scripted.plan(blocks=2)
    measure(tmp_path / "cut", plan, ScriptedTarget("b", well), stop_after=20)
    result = load_result(tmp_path / "cut")
    assert not result.finished
    assert set(result.plan_table()["state"]) == {"finished", "open"}
    assert result.summary().state == "unfinished"
    assert newest_unfinished(tmp_path) == tmp_path / "cut"
    with Lock(tmp_path / "cut"):
        assert load_result(tmp_path / "cut").summary().state == "running"
        with pytest.raises(StoreError, match="no unfinished result"):
            newest_unfinished(tmp_path)


def test_a_result_with_no_sample_at_all(tmp_path: Path) -> None:
    measure(tmp_path / "r", scripted.plan(), ScriptedTarget("b", well), stop_after=0)
    result = load_result(tmp_path / "r")
    for table in (result.samples(), result.failures(), result.inventory()):
        assert table.is_empty()
    assert result.summary().finished == 0
    result.refresh()


def test_listing(tmp_path: Path) -> None:
    assert list_results(tmp_path / "nowhere") == []
    with pytest.raises(StoreError, match="there is no result"):
        newest(tmp_path)
    (tmp_path / "no-result").mkdir()
    measure(tmp_path / "one", scripted.plan(), ScriptedTarget("b", well))
    damaged = tmp_path / "damaged"
    shutil.copytree(tmp_path / "one", damaged)
    (damaged / "plan.json").write_text("{}")
    assert [one.path.name for one in list_results(tmp_path)] == ["one"]
    with pytest.raises(StoreError, match=r"plan\.json is not the plan"):
        load_result(damaged)


def test_a_directory_in_use_is_refused(faulted: Path) -> None:
    with pytest.raises(StoreError, match="is not empty"):
        make_directory(faulted, "x")


def test_a_directory_of_a_run_that_never_began_is_used_again(tmp_path: Path) -> None:
    directory = tmp_path / "r"
    measure(directory, scripted.plan(), ScriptedTarget("b", well), stop_after=0)
    (directory / "plan.json").rename(directory / "plan.json.part")
    with Lock(directory), pytest.raises(StoreError, match="is not empty"):
        make_directory(directory, "x")
    assert make_directory(directory, "x") == directory and not list(directory.iterdir())


def test_focus(faulted: Path) -> None:
    result = load_result(faulted)
    view = result.focused("b", ["a"])
    assert view.study.reference == "b" and view.plan.hash() == result.plan.hash()
    assert view.samples().height == result.samples().height
    alone = result.focused("b", [])
    assert set(alone.samples()["system"]) == {"b"}
    assert [system.name for system in alone.study.systems] == ["b"]
    assert result.study.reference == "a"


def test_what_draws_stands_in_the_inventory_once_for_each_boot(tmp_path: Path) -> None:
    adapter = {"api": "gl", "driver": {"unsupported": "it does not say"}}

    def drawing(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        for event in well(request, boot):
            yield event
            if event.get("state") == "start":
                yield {"event": "counter", "name": "graphics_adapter", "value": adapter, "t_ns": 1}

    directory = tmp_path / "drawn"
    measure(directory, scripted.plan(blocks=2), ScriptedTarget("b", drawing))
    rows = load_result(directory).inventory().filter(pl.col("path").str.starts_with("graphics."))
    parts = rows.select("system", "block", "path", "value_json", "unsupported").rows()
    assert sorted(parts) == [
        ("b", block, *leaf)
        for block in (0, 1)
        for leaf in (
            ("graphics.adapter.api", '"gl"', None),
            ("graphics.adapter.driver", None, "it does not say"),
        )
    ]
