"""How fast an archive takes results, and what questions to it cost.

    python benches/archive_scale.py [--results 10000] [--directories 200] [--linked 1000000000]

Measures one study of 13,000 samples with scripted systems, and makes of its journal as many results
of as many nights, in eight variants of noise, the last tenth slower by 5 %. They are made and added
in portions, and only the adding is timed. Then every question is asked by the program in a process
of its own: its wall time and its greatest memory count, loading included. `history` of plain
directories is timed twice: with the notes that a run leaves beside its result, and without. With
`--linked N` the archive gets further names (hard links) of its largest file of samples and commits
that state them, until it has N samples: what questions cost then shows whether they read samples.
Where pyspark is installed, Spark's plan for the history of one row is printed too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pentathlon.archive import queries  # noqa: E402
from pentathlon.archive.adding import add_all  # noqa: E402
from pentathlon.archive.engines import Spark, engine  # noqa: E402
from pentathlon.archive.log import File, open_archive  # noqa: E402
from pentathlon.safeio.checksum import sealed, unsealed  # noqa: E402
from pentathlon.store.journal import JOURNAL  # noqa: E402
from pentathlon.store.query import FRESH, load_result  # noqa: E402
from pentathlon.study.catalog import Catalog, parse_catalog  # noqa: E402

SIZES = list(range(1, 21))
BLOCKS, ITERATIONS = 4, 27
VARIANTS = 8
PORTION = 1000
"""Results that are added by one call; its processes start once."""
ONE_ROW = "w.one.time[size_bytes=7]"
COUNT = "select count(*) as n from samples"
FIRST = datetime.fromisoformat("2001-01-01T00:00:00+00:00")


def catalog() -> Catalog:
    """The scripted workloads with twenty sizes each."""
    from tests.fakes import scripted  # noqa: PLC0415  not for processes that this one starts

    workloads: list[dict[str, Any]] = [scripted.workload(f"w.{n}") for n in ("one", "two", "three")]
    for one in workloads:
        one["parameters"][0]["default"] = SIZES
    return parse_catalog(
        {"protocol": 2, "catalog_version": 1, "agent": {"version": "0", "build": "b"},
         "workloads": workloads}
    )  # fmt: skip


class Nights:
    """Makes results of one study, one night after the other."""

    def __init__(self, scratch: Path, results: int) -> None:
        from tests.fakes import scripted  # noqa: PLC0415
        from tests.store.test_tables import measure  # noqa: PLC0415

        scripted.catalog = catalog
        self.template = scratch / "template"
        plan = scripted.plan(BLOCKS, ITERATIONS)
        measure(self.template, plan, scripted.ScriptedTarget("b", scripted.well))
        self.samples = load_result(self.template).samples().height
        lines = (self.template / JOURNAL).read_bytes().splitlines()
        self.first = unsealed(lines[0])[0]
        records = [unsealed(line)[0] for line in lines[1:]]
        self.bodies = {
            (variant, slow): body(records, variant, 1.05 if slow else 1.0)
            for variant in range(VARIANTS)
            for slow in (False, True)
        }
        self.tables = {}
        for key, one in self.bodies.items():
            path = scratch / f"tables-{key[0]}-{key[1]}"
            shutil.copytree(self.template, path)
            (path / JOURNAL).write_bytes(lines[0] + b"\n" + one)
            load_result(path).refresh()
            self.tables[key] = path
        self.results, self.made = results, 0

    def make(self, directory: Path) -> Path:
        """The next one; its tables are made as a run makes them."""
        number, self.made = self.made, self.made + 1
        path = directory / f"night-{number:05d}"
        path.mkdir(parents=True)
        for name in ("plan.json", "catalog.json", "study.toml"):
            shutil.copyfile(self.template / name, path / name)
        head = {**self.first, "utc": (FIRST + timedelta(hours=number * 8)).isoformat()}
        slow = number >= self.results * 0.9
        variant = random.Random(number).randrange(VARIANTS)
        journal = sealed(head) + self.bodies[variant, slow]
        (path / JOURNAL).write_bytes(journal)
        tables = self.tables[variant, slow]
        for file in tables.glob("*.parquet"):
            shutil.copyfile(file, path / file.name)
        # What a run notes beside its tables, for this journal.
        noted = unsealed((tables / FRESH).read_bytes())[0]
        noted |= {
            "journal_bytes": len(journal),
            "journal_crc32": zlib.crc32(journal),
            "journal_sha256": hashlib.sha256(journal).hexdigest(),
        }
        noted["standing"]["started"] = head["utc"]
        (path / FRESH).write_bytes(sealed(noted))
        return path


def body(records: Sequence[dict[str, Any]], variant: int, factor: float) -> bytes:
    """A journal without its first record, with other values."""
    noise = random.Random(variant)
    night = math.exp(noise.gauss(0.0, 0.01)) * factor
    found = []
    for record in records:
        event = record.get("event")
        if isinstance(event, dict) and event.get("event") == "sample":
            value = event["value"] * night * math.exp(noise.gauss(0.0, 0.005))
            found.append(sealed({**record, "event": {**event, "value": value}}))
        else:
            found.append(sealed(record))
    return b"".join(found)


ASK = """
import resource, subprocess, sys, time
start = time.monotonic()
done = subprocess.run([sys.executable, "-m", "pentathlon", *sys.argv[1:]], stdout=subprocess.PIPE)
seconds = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = used.ru_maxrss / 1024
cpu = used.ru_utime + used.ru_stime
print(f"{seconds:.2f} {cpu:.2f} {peak:.0f} {done.returncode} {len(done.stdout)}")
"""


def ask(what: str, *words: str) -> None:
    """Run the program and print what it cost."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", ASK, *words], env=env, capture_output=True, text=True, check=True
    )
    seconds, cpu, peak, status, size = done.stdout.split()
    cost = f"{seconds:>7} s, {cpu:>6} s of CPU {peak:>6} MiB"
    print(f"{what:58} {cost}  status {status}, {size} bytes", flush=True)


def cpu_s() -> float:
    """CPU time of this process and of those that have ended."""
    return sum(sum(os.times()[place : place + 2]) for place in (0, 2))


def size_of(directory: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in directory.rglob("*"):
        if path.is_file():
            kind = path.relative_to(directory).parts[0]
            found[kind] = found.get(kind, 0) + path.stat().st_size
    return found


def link(place: Path, wanted: int) -> None:
    """Give an archive so many samples, in files that share what they hold."""
    archive = open_archive(str(place))
    files = archive.contents().files["samples"]
    largest = max(files, key=lambda one: one.rows)
    rows = sum(one.rows for one in files)
    made = []
    while rows < wanted:
        name = largest.name.replace(".parquet", f"-{len(made):05d}.parquet")
        (place / name).hardlink_to(place / largest.name)
        made.append(File("samples", largest.study, largest.month, name, largest.size, largest.rows))
        rows += largest.rows
    archive.commit(made, {})
    size = sum(one.size for one in (*files, *made)) / 1e9
    print(f"{rows} samples in {len(files) + len(made)} files, {size:.1f} GB", flush=True)


def bytes_read() -> int:
    """Bytes that this process has read, from wherever."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


def read_by_a_question(place: Path) -> None:
    """What the history of one row reads, and what a count of all samples does."""
    run = engine(open_archive(str(place)))
    for what, sql in (
        (
            "a mean of one row over all results",
            f"select avg(mean) from boots where key = '{ONE_ROW}'",
        ),
        ("the number of samples", COUNT),
    ):
        before = bytes_read()
        found = run.rows(sql)
        print(f"{what}: {found}, {(bytes_read() - before) / 1e6:.1f} MB read", flush=True)


def by_spark(place: Path) -> None:
    """How Spark runs the history of one row over the same archive, if pyspark is installed."""
    archive = open_archive(str(place))
    try:
        run = engine(archive, name="spark")
    except ImportError:
        print("Spark: pyspark is not installed")
        return
    sql = queries.levels("1 = 1", "a", [ONE_ROW])
    plan = run.plan(sql) if isinstance(run, Spark) else ""
    print("Spark:", plan[plan.find("== Physical Plan ==") :], sep="\n")
    for what, one in (("history of one row", sql), ("count of all samples", COUNT)):
        start = time.monotonic()
        found = run.rows(one)
        print(f"Spark, {what}: {len(found)} rows, {time.monotonic() - start:.2f} s", flush=True)
        if one == COUNT:
            print(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--directories", type=int, default=200)
    parser.add_argument("--linked", type=int, default=0, metavar="SAMPLES")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="archive-scale-") as name:
        scratch = Path(name)
        nights = Nights(scratch, given.results)
        journal = len(nights.bodies[0, False]) / 1e6
        print(f"{nights.samples} samples a result, journals of {journal:.1f} MB")
        place = scratch / "archive"
        spent = cpu = 0.0
        while nights.made < given.results:
            count = min(PORTION, given.results - nights.made)
            paths = [nights.make(scratch / "portion") for _ in range(count)]
            os.sync()  # Results of other nights are on the disk, which is free for the archive.
            start, used = time.monotonic(), cpu_s()
            add_all(str(place), paths, "bench", strict=True)
            spent += time.monotonic() - start
            cpu += cpu_s() - used
            shutil.rmtree(scratch / "portion")
        rate = f"{given.results / spent:.1f} a second, {cpu / given.results:.3f} s of CPU each"
        print(f"added {given.results} results in {spent:.1f} s: {rate}", flush=True)
        sizes = {kind: f"{one / 1e6:.1f} MB" for kind, one in size_of(place).items()}
        print(json.dumps(sizes), flush=True)
        ask("archive list", "archive", "list", "--archive", str(place), "--json")
        ask("history of one row", "history", str(place), "--only", ONE_ROW, "--json")
        ask("the same of one year", "history", str(place), "--only", ONE_ROW, "--json",
            "--where", 'started < "2002"')  # fmt: skip
        ask("history of every row", "history", str(place), "--json")
        ask("the gate's table, the newest against the five before", "gate", str(place), "--last",
            "5", "--json")  # fmt: skip
        ask("archive compact", "archive", "compact", "--archive", str(place))
        ask("history of one row, compacted", "history", str(place), "--only", ONE_ROW, "--json")
        if given.linked:
            link(place, given.linked)
            ask("history of one row beside them", "history", str(place), "--only", ONE_ROW,
                "--json")  # fmt: skip
            ask("archive list beside them", "archive", "list", "--archive", str(place), "--json")
            read_by_a_question(place)
            by_spark(place)
        plain = [str(nights.make(scratch / "plain")) for _ in range(given.directories)]
        ask(f"history of {given.directories} directories, without notes", "history", *plain,
            "--json")  # fmt: skip
        ask("the same, with notes", "history", *plain, "--json")


if __name__ == "__main__":
    main()
