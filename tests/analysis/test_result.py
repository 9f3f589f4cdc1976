"""What `import pentathlon` gives, on a result that was measured."""

from __future__ import annotations

import csv
import io
import math
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pentathlon
from pentathlon.cli.judging import Judging
from pentathlon.evaluate import evaluate
from pentathlon.report.export.comma_separated import COLUMNS, to_csv
from pentathlon.store.query import load_result

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "golden" / "format-1.tar.xz"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("old")
    with tarfile.open(OLD) as archive:
        archive.extractall(found, filter="data")
    return found


@pytest.fixture(scope="module")
def result(directory: Path) -> pentathlon.Result:
    return pentathlon.Result(directory)


@pytest.fixture(scope="module")
def post_hoc(result: pentathlon.Result) -> pentathlon.Comparison:
    return result.compare(delta=5, only=["process.*"], confidence=0.9)


def test_what_is_exported_is_there() -> None:
    assert set(pentathlon.__all__) <= set(dir(pentathlon))
    for name in pentathlon.__all__:
        assert getattr(pentathlon, name)
    with pytest.raises(AttributeError, match="no attribute 'Reslut'"):
        _ = pentathlon.Reslut


def test_the_tables_are_those_of_the_store(result: pentathlon.Result, directory: Path) -> None:
    whole = load_result(directory)
    assert result.samples(counted=False).equals(whole.samples())
    counted = result.samples()
    assert set(counted["phase"]) == {"measure"} and counted["counted"].all()
    assert 0 < counted.height < whole.samples().height
    assert (result.systems, result.reference) == (("uml-6.1", "uml-newest"), "uml-6.1")
    assert result.plan_hash == whole.plan_hash


def test_boots_are_the_means_of_their_samples(result: pentathlon.Result) -> None:
    means = (
        result.samples()
        .group_by("key", "system", "block")
        .agg(pl.col("value").mean().alias("mean"))
    )
    beside = result.boots().join(means, on=["key", "system", "block"], how="full", coalesce=True)
    assert beside.height == result.boots().height == means.height
    assert (beside["value"] / beside["mean"] - 1).abs().max() < 1e-12  # type: ignore[operator]


def test_a_comparison_is_the_csv_export(result: pentathlon.Result, directory: Path) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(evaluate(load_result(directory))), newline="")))
    table = result.compare().table()
    assert table.columns == list(COLUMNS)
    compared = [line for line in lines if line["system"] != line["reference"]]
    assert len(compared) == table.height > 200
    for line, row in zip(compared, table.iter_rows(named=True), strict=True):
        assert (line["key"], line["verdict"]) == (row["key"], row["verdict"])
        for name in ("speed_percent", "low_percent", "p_different", "mean"):
            assert line[name] == ("" if row[name] is None else repr(row[name])), name


def test_the_speed_is_that_of_paired_boots(result: pentathlon.Result) -> None:
    """By the definition, out of the table of boots and with nothing of the evaluation."""
    values: dict[tuple[str, str], dict[int, float]] = {}
    for one in result.boots().iter_rows(named=True):
        values.setdefault((one["key"], one["system"]), {})[one["block"]] = one["value"]
    checked = 0
    for row in result.compare().table().iter_rows(named=True):
        if row["speed_percent"] is None:
            continue
        own, base = (values[row["key"], row[name]] for name in ("system", "reference"))
        sign = -1 if (row["direction"], row["role"]) == ("lower", "performance") else 1
        logs = [sign * math.log(own[block] / base[block]) for block in own.keys() & base.keys()]
        assert row["speed_percent"] == pytest.approx(
            (math.exp(sum(logs) / len(logs)) - 1) * 100, rel=1e-9, abs=1e-9
        )
        assert row["blocks"] == len(logs)
        checked += 1
    assert checked > 100


def test_other_rules_are_marked_and_judge_as_the_command_does(
    post_hoc: pentathlon.Comparison, directory: Path
) -> None:
    assert post_hoc.delta == 5 and post_hoc.confidence == 0.9
    assert post_hoc.post_hoc.startswith("Post hoc: δ is 5\xa0% (planned: 1\xa0%)")
    table = post_hoc.table()
    assert set(table["area"]) == {"process"}
    assert all("planned: 1\xa0%" in mark for mark in table["post_hoc"])
    assert "post hoc" in repr(post_hoc)
    same = evaluate(Judging(5, 0.9, only=["process.*"]).apply(load_result(directory)))
    assert [row.comparisons[0].words for row in same.rows] == table["words"].to_list()


def test_another_reference_turns_the_ratio_over(
    result: pentathlon.Result, post_hoc: pentathlon.Comparison
) -> None:
    turned = result.compare(
        reference="uml-newest", delta=5, confidence=0.9, only=["process.*"]
    ).table()
    for there, back in zip(turned["speed_percent"], post_hoc.table()["speed_percent"], strict=True):
        assert (1 + there / 100) * (1 + back / 100) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delta": 0}, "give a percentage between 0 and 100"),
        ({"confidence": 95}, "give a fraction between 0.5 and 1"),
        ({"reference": "uml-6.2"}, 'did you mean "uml-6.1"'),
        ({"systems": ["uml-6.1"]}, "cannot be compared with itself"),
        ({"systems": []}, "name at least one"),
        ({"only": "process.*"}, 'give a list, such as ["process.*"]'),
        ({"only": ["procces.*"]}, "chooses no metric"),
        ({"only": []}, "nothing to judge"),
        ({"declared": ["cpu.none"]}, "declared: "),
        ({"weights": {"prozess": 2}}, "weights: "),
        ({"weights": {"process": -1}}, "give one from 0"),
    ],
)
def test_wrong_rules(result: pentathlon.Result, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as found:
        result.compare(**options)
    assert sentence in str(found.value)


def test_what_is_no_result(tmp_path: Path, result: pentathlon.Result) -> None:
    with pytest.raises(pentathlon.StoreError, match="is no result directory"):
        pentathlon.Result(tmp_path)
    assert pentathlon.results(tmp_path) == []
    with pytest.raises(ValueError, match='is no form of a table; use "polars"'):
        result.samples(to="excel")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="is no metric of"):
        result.plot("process.nothing")


def test_other_forms_of_a_table(result: pentathlon.Result) -> None:
    pandas, arrow = result.boots(to="pandas"), result.boots(to="arrow")
    assert list(pandas.columns) == arrow.column_names == result.boots().columns
    assert (
        pandas["value"].to_list() == arrow["value"].to_pylist() == result.boots()["value"].to_list()
    )


def test_written_tables_read_back(result: pentathlon.Result, tmp_path: Path) -> None:
    for form, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet), ("arrow", pl.read_ipc)):
        files = result.write(tmp_path / form, form=form)  # type: ignore[arg-type]
        assert {file.stem for file in files} == {
            "samples", "boots", "comparison", "failures", "inventory"
        }  # fmt: skip
        back = read(tmp_path / form / f"boots.{form}")
        assert back["value"].to_list() == result.boots()["value"].to_list()


def test_pictures_show_every_row(
    post_hoc: pentathlon.Comparison, result: pentathlon.Result
) -> None:
    [axes] = post_hoc.plot().axes
    table = post_hoc.table().filter(pl.col("low_percent").is_not_null())
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == table.height > 0
    intervals = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    assert {(r["low_percent"], r["high_percent"]) for r in table.iter_rows(named=True)} <= intervals
    key = table["key"][0]
    for kind in ("boots", "samples"):
        [axes] = result.plot(key, kind=kind).axes  # type: ignore[arg-type]
        drawn = [
            y
            for line in axes.lines
            if line.get_marker() not in ("None", "")
            for y in line.get_ydata()
        ]
        frame = result.boots() if kind == "boots" else result.samples()
        assert sorted(drawn) == sorted(frame.filter(pl.col("key") == key)["value"])


@pytest.mark.slow
def test_the_example_runs(directory: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "analysis.py"), str(directory), str(tmp_path)],
        capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin",
        "MPLCONFIGDIR": str(tmp_path), "POLARS_MAX_THREADS": "1"},
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [largest] = [line for line in done.stdout.splitlines() if line.startswith("largest difference")]
    assert float(largest.split(":")[1]) < 1e-9
    for name in ("forest", "boots", "samples"):
        assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed (r-base-core)")
def test_r_finds_the_same_intervals(result: pentathlon.Result, tmp_path: Path) -> None:
    """An independent implementation of the paired t interval, out of the written table."""
    result.write(tmp_path, form="csv")
    done = subprocess.run(
        ["Rscript", str(ROOT / "examples" / "analysis.R"), str(tmp_path), "uml-newest", "uml-6.1"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {line["key"]: line for line in csv.DictReader(io.StringIO(done.stdout), delimiter="\t")}
    rows = result.compare().table().filter(pl.col("low_percent").is_not_null())
    compared = 0
    for row in rows.iter_rows(named=True):
        if row["key"] in found:
            for name in ("speed_percent", "low_percent", "high_percent"):
                assert float(found[row["key"]][name]) == pytest.approx(row[name], rel=1e-6), row
            compared += 1
    assert compared > 100
