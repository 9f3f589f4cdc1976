"""An archive that an earlier version wrote: its format lacks the sizes of batches."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from pentathlon.archive.adding import add_all
from pentathlon.archive.compact import compact
from pentathlon.archive.engines import Spark, engine
from pentathlon.archive.log import open_archive
from pentathlon.archive.reading import chosen
from pentathlon.cli.main import app
from pentathlon.safeio.checksum import unsealed
from pentathlon.store.query import load_result
from tests.archive.conftest import Make

FIXTURE = Path(__file__).parent / "format-1.tar.xz"
"""`archive`, to which format 1 added seven nights of a scripted study, the last three slower;
`history.json`, its history as the version of that time printed it; two of the results themselves,
`first` and `second`."""
NAMES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with tarfile.open(FIXTURE) as packed:
        packed.extractall(tmp_path, filter="data")
    assert unsealed((tmp_path / "archive" / "archive.json").read_bytes())[0]["format"] == 1
    return tmp_path


def call(*words: str | Path, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], prog_name="pentathlon")
    assert done.exit_code == status, done.output
    return done.stdout


def numbers(value: Any) -> Any:
    """What is compared: numbers to the last digits that an order of summing decides."""
    if isinstance(value, dict):
        return {name: numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


def test_its_history_is_what_the_version_of_its_time_printed(old: Path) -> None:
    printed = json.loads((old / "history.json").read_text())
    assert printed["regressions"] and len(printed["metrics"]) > 1
    text = call("history", old / "archive", "--json", status=4)
    assert json.loads(text) == numbers(printed)


def test_its_results_are_taken_out_identical(old: Path) -> None:
    for name in ("first", "second"):
        call("archive", "take", name, old / "out" / name, "--archive", old / "archive")
        for file in (old / name).iterdir():
            assert (old / "out" / name / file.name).read_bytes() == file.read_bytes(), file


def test_its_results_are_of_no_branch(old: Path, night: Make) -> None:
    place = old / "archive"
    run = engine(open_archive(str(place)))
    assert len(chosen(run, 'branch = ""')) == len(NAMES) and not chosen(run, 'branch = "main"')
    call("archive", "add", night(), "--archive", place, "--branch", "main")
    for _ in range(2):  # As they were added, and in one file.
        run = engine(open_archive(str(place)))
        assert [one.name for one in chosen(run, 'branch = "main"')] == ["night-000"]
        assert len(chosen(run, 'branch != "main"')) == len(NAMES)
        compact(open_archive(str(place)))
    assert "main" in call("archive", "list", "--archive", place)


def test_spark_finds_no_branch_in_it_either(old: Path, night: Make) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    place = str(old / "archive")
    for branch, held in (("", len(NAMES)), ("main", 0)):
        archive = open_archive(place)
        run = Spark(archive, archive.contents(), "local[1]")
        assert len(chosen(run, f'branch = "{branch}"')) == held
    add_all(place, [night()], "m", strict=True, branch="main")
    archive = open_archive(place)
    run = Spark(archive, archive.contents(), "local[1]")
    assert [one.name for one in chosen(run, 'branch = "main"')] == ["night-000"]
    assert len(chosen(run, 'branch != "main"')) == len(NAMES)


def test_it_is_compacted_without_a_result_of_today(old: Path) -> None:
    compact(open_archive(str(old / "archive")))
    assert len(chosen(engine(open_archive(str(old / "archive"))), 'branch = ""')) == len(NAMES)


def test_it_takes_results_of_today_and_is_compacted(old: Path, night: Make) -> None:
    place = old / "archive"
    add_all(str(place), [night()], "m", strict=True)
    names = [*NAMES, "night-000"]
    for _ in range(2):  # As they were added, and in one file.
        archive = open_archive(str(place))
        assert sorted(one.name for one in chosen(engine(archive), None)) == sorted(names)
        [counts] = engine(archive).rows("select count(*) as n from samples")
        each = load_result(old / "results" / "night-000").samples().height
        assert counts["n"] == each * len(names) > 0
        compact(archive)
    [file] = open_archive(str(place)).contents().files["samples"]
    held = pl.read_parquet(place / file.name)
    [index] = chosen(engine(open_archive(str(place))), 'name = "night-000"')
    of_today = held["result"] == index.result
    assert held.filter(of_today)["batch_size"].null_count() == 0
    assert held.filter(~of_today)["batch_size"].null_count() == held.height - of_today.sum() > 0
