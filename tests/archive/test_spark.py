"""Spark runs the same SQL and finds the same numbers, over archives of many kinds."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.archive import compact as compaction
from pentathlon.archive import queries
from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import DuckDB, Engine, Spark
from pentathlon.archive.line import points
from pentathlon.archive.log import open_archive
from pentathlon.archive.pool import last_good
from pentathlon.archive.where import to_sql
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.journal import JOURNAL
from tests.archive.conftest import Make

pytestmark = pytest.mark.slow

OF_SAMPLES = """select result, batch, system, key, max(utc) as utc, count(*) as n,
    sum(batch_size) as calls, min(value) as lowest, max(value) as highest
    from samples group by result, batch, system, key"""
WHERE = """study = "scripted" and machine like "bench%" and not name = 'it"s'"""
MACHINES = ("bench1", "bench'2\\", 'bench"3" %_', "lab")
ARCHIVES = 2
"""How many are made: of several writers, compacted or not, with values that have no logarithm."""


@pytest.fixture
def stopped() -> Iterator[None]:
    """One session for all archives of a test."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from pyspark.sql import SparkSession  # noqa: PLC0415  an extra

    yield
    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def made(seed: int, night: Make, tmp_path: Path) -> Path:
    """An archive of chance."""
    draw = random.Random(seed)
    place = tmp_path / f"a{seed}"
    nights = [
        night(math.exp(draw.gauss(0.0, 0.1)), f"{seed}-{k}", within=f"r{seed}")
        for k in range(draw.randint(4, 8))
    ]
    for path in nights:
        if draw.random() < 0.4:
            spoil(path, draw)
    while nights:
        part, nights = nights[:2], nights[2:]
        add_all(str(place), part, draw.choice(MACHINES[: seed + 1]), strict=True)
        if len(nights) in (2, 3):  # So that it has merged samples and others.
            compaction.compact(open_archive(str(place)))
    if draw.random() < 0.5:
        # What a second writer leaves who began before the first had ended.
        again = tmp_path / f"again{seed}"
        add_all(str(again), [part[0]], "bench1", strict=True)
        shutil.copytree(again, place, dirs_exist_ok=True)
    if draw.random() < 0.5:
        compaction.compact(open_archive(str(place)))
    return place


def spoil(path: Path, draw: random.Random) -> None:
    """Give some samples values at the edges of what a sample can be."""
    journal = path / JOURNAL
    lines = []
    for line in journal.read_bytes().splitlines():
        record = unsealed(line)[0]
        event = record.get("event")
        if isinstance(event, dict) and event.get("event") == "sample" and draw.random() < 0.05:
            event["value"] = draw.choice([0.0, -1.0, 1e-300, 1e300])
        lines.append(sealed(record))
    journal.write_bytes(b"".join(lines))


def same(first: list[dict[str, object]], second: list[dict[str, object]]) -> None:
    """See that both have the same rows, in whatever order."""

    def order(row: dict[str, object]) -> list[str]:
        return [str(row[name]) for name in sorted(row) if isinstance(row[name], str)]

    assert len(first) == len(second)
    for own, other in zip(sorted(first, key=order), sorted(second, key=order), strict=True):
        assert own.keys() == other.keys()
        for name, value in own.items():
            wanted = other[name]
            if isinstance(value, float) and isinstance(wanted, float) and math.isfinite(value):
                assert wanted == pytest.approx(value, rel=1e-9, abs=1e-12), name
            else:
                assert wanted == value or (wanted != wanted and value != value), name  # noqa: PLR0124


def test_spark_and_duckdb_give_the_same(night: Make, tmp_path: Path, stopped: None) -> None:
    for seed in range(ARCHIVES):
        archive = open_archive(str(made(seed, night, tmp_path)))
        contents = archive.contents()
        duck, spark = DuckDB(archive, contents), Spark(archive, contents, "local[2]")
        for text in (WHERE,) if seed else (None, WHERE):
            where = to_sql(text, "r.")
            for sql in (
                queries.listed(to_sql(text)),
                queries.systems(where, "a"),
                queries.keys(where, "a"),
                queries.levels(where, "a", None),
                queries.spreads(where, "b"),
                queries.summaries(where),
                queries.last_good(to_sql(text), "9999", "none", 3),
                OF_SAMPLES,
            ):
                same(duck.rows(sql), spark.rows(sql))
        runs: tuple[Engine, ...] = (duck, spark)
        lines = [points(run, None, "a") for run in runs]
        assert [one.label for one in lines[0]] == [one.label for one in lines[1]]
        pools = [last_good(run, None, "a", 3, before="9999", but="none") for run in runs]
        assert [one.label for one in pools[0]] == [one.label for one in pools[1]]
        assert len(pools[0]) == 3
        for own, other in zip(*pools, strict=True):
            assert own.rows.keys() == other.rows.keys()
        assert "parquet" in spark.plan(queries.summaries("1 = 1")).lower()
