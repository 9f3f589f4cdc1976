"""Spark runs the same SQL and finds the same numbers."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from pentathlon.archive import queries
from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import DuckDB, Spark
from pentathlon.archive.line import points
from pentathlon.archive.log import open_archive
from pentathlon.archive.where import to_sql
from tests.archive.conftest import Make

pytestmark = pytest.mark.slow

WHERE = """study = "scripted" and machine like "bench%" and not name = 'it"s'"""


def test_spark_and_duckdb_give_the_same(night: Make, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    nights = [night(1.0 + k / 10) for k in range(6)]
    for part in (nights[:3], nights[3:]):
        add_all(str(tmp_path / "a"), part, "bench1", strict=True)
    archive = open_archive(str(tmp_path / "a"))
    contents = archive.contents()
    duck, spark = DuckDB(archive, contents), Spark(archive, contents, "local[2]")
    where = to_sql(WHERE, "r.")
    try:
        for sql in (
            queries.listed(to_sql(WHERE)),
            queries.systems(where, "a"),
            queries.keys(where, "a"),
            queries.levels(where, "a", None),
            queries.spreads(where, "b"),
            queries.summaries(where),
            queries.last_good(to_sql(WHERE), "9999", "none", 3),
        ):
            first, second = (
                sorted(run.rows(sql), key=lambda row: [str(row[name]) for name in sorted(row)
                                                       if isinstance(row[name], str)])
                for run in (duck, spark)
            )  # fmt: skip
            assert len(first) == len(second) > 0
            for own, other in zip(first, second, strict=True):
                assert own.keys() == other.keys()
                for name, value in own.items():
                    if isinstance(value, float) and not math.isnan(value):
                        assert other[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
                    else:
                        assert other[name] == value, name
        lines = [points(run, WHERE, "a") for run in (duck, spark)]
        assert [one.label for one in lines[0]] == [one.label for one in lines[1]]
        assert "parquet" in spark.plan(queries.summaries(where)).lower()
    finally:
        spark.session.stop()
