"""Archives: what goes in comes out, whoever writes beside; what is not whole is refused."""

from __future__ import annotations

import filecmp
import io
import math
import multiprocessing
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from pentathlon.archive import adding, batch, queries, reading
from pentathlon.archive import compact as compaction
from pentathlon.archive.adding import add_all
from pentathlon.archive.batch import Added
from pentathlon.archive.engines import engine
from pentathlon.archive.format import FORMAT
from pentathlon.archive.line import points
from pentathlon.archive.log import COMMITS, HEAD, open_archive
from pentathlon.archive.schema import SAMPLES
from pentathlon.archive.source import Source
from pentathlon.archive.stores import Folder
from pentathlon.cli.main import app
from pentathlon.evaluate.results.digest import NOTE, read_digest
from pentathlon.evaluate.results.timeline import Point, timeline
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.journal import JOURNAL, StoreError
from pentathlon.store.query import load_result
from tests.archive.conftest import Make


def add(place: Path | str, *paths: Path, machine: str = "bench1") -> Added:
    return add_all(str(place), paths, machine, strict=True)


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(directory)): one.read_bytes()
        for one in directory.rglob("*")
        if one.is_file()
    }


def test_a_result_comes_out_as_it_was(night: Make, tmp_path: Path) -> None:
    first, second = night(), night()
    load_result(first).refresh()
    (first / JOURNAL).chmod(0o600)
    done = add(tmp_path / "a", first, second)
    assert [path for path, _ in done.new] == [first, second]
    archive = open_archive(str(tmp_path / "a"))
    for path, result in done.new:
        one = reading.by_id(archive, result[:8])
        assert reading.by_id(archive, path.name) == one
        reading.take(archive, one, tmp_path / "out" / path.name)
        assert files(tmp_path / "out" / path.name) == files(path)
    taken = (tmp_path / "out" / first.name / JOURNAL).stat()
    assert taken.st_mode == (first / JOURNAL).stat().st_mode
    assert taken.st_mtime == pytest.approx((first / JOURNAL).stat().st_mtime, abs=1e-6)
    with pytest.raises(StoreError, match="is not empty"):
        reading.take(archive, reading.by_id(archive, first.name), tmp_path / "out" / second.name)


def test_the_rows_are_those_of_the_results(night: Make, tmp_path: Path) -> None:
    directory = night()
    add(tmp_path / "a", directory)
    archive = open_archive(str(tmp_path / "a"))
    run = engine(archive)
    result = load_result(directory)
    samples = result.samples()
    assert run.rows("select count(*) as n from samples") == [{"n": samples.height}]
    [file] = archive.contents().files["unmerged"]
    own = pl.read_parquet(io.BytesIO((tmp_path / "a" / file.name).read_bytes()))
    assert own.equals(samples)
    [index] = reading.chosen(run, None)
    for _ in range(2):  # As it was added, and compacted.
        held = pl.DataFrame(
            run.rows("select * from samples"), schema=SAMPLES, infer_schema_length=None
        )
        assert set(held["result"]) == {index.result}
        assert set(held["batch"]) == {index.row["batch"]}
        own = held.drop("result", "batch").rename({"batch_size": "batch"})
        order = ["system", "boot", "key", "workload_order", "process", "iteration", "phase"]
        assert own.select(samples.columns).sort(order).equals(samples.sort(order))
        compaction.compact(archive)
        [file] = archive.contents().files["samples"]
        assert not archive.contents().files["unmerged"]
        run = engine(archive)
    used = samples.filter(pl.col("counted") & (pl.col("phase") == "measure"))
    key, value = pl.col("key").alias("key"), pl.col("value")
    wanted = used.group_by("system", key, "block").agg(
        value.mean().alias("mean"), value.log().mean().alias("log_mean"), pl.len().alias("n"),
        value.std().alias("sd"), value.min().alias("lowest"),
    )  # fmt: skip
    boots = {(row["system"], row["key"], row["block"]): row
             for row in run.rows("select * from boots")}  # fmt: skip
    assert len(boots) == wanted.height > 0
    for row in wanted.iter_rows(named=True):
        found = boots[row["system"], row["key"], row["block"]]
        for name in ("mean", "log_mean", "n", "sd", "lowest"):
            assert found[name] == pytest.approx(row[name], rel=1e-12), name
    [index] = reading.chosen(run, 'machine = "bench1" and systems like "%b%"')
    assert (index.study, index.systems) == (result.study.name, ("a", "b"))
    assert index.row["plan"] == result.plan_hash


def test_history_of_an_archive_is_that_of_the_directories(night: Make, tmp_path: Path) -> None:
    nights = [night(1.5 if k >= 5 else 1.0) for k in range(10)]
    for part in (nights[:4], nights[4:7], nights[7:]):
        add(tmp_path / "a", *part)
    archive = open_archive(str(tmp_path / "a"))
    plain = [Point(str(path), one.started, one.systems["a"])
             for path in nights for one in [read_digest(path)]]  # fmt: skip
    assert (nights[0] / NOTE).is_file()
    again = [read_digest(path).systems["a"] for path in nights]
    assert again == [one.found for one in plain]
    wanted = timeline(plain, 0.95, {})
    assert wanted.regressions

    def same() -> None:
        found = timeline(points(engine(archive), None, "a"), 0.95, {})
        assert [one.key for one in found.courses] == [one.key for one in wanted.courses]
        for own, other in zip(found.courses, wanted.courses, strict=True):
            assert own.speeds == pytest.approx(other.speeds, rel=1e-12)
            assert [one.at for one in own.changes] == [one.at for one in other.changes] == [5]

    same()
    before, after = compaction.compact(archive)
    assert after < before
    same()
    assert compaction.compact(archive)[1] == after
    same()  # also after what the first compaction replaced is gone
    some = timeline(points(engine(archive), 'started < "2026-01-05"', "a"), 0.95, {})
    assert len(some.points) == 3 and some.unassessed


def test_every_compaction_counts(night: Make, tmp_path: Path) -> None:
    place = tmp_path / "a"
    nights = [night() for _ in range(6)]
    for part in (nights[:2], nights[2:4], nights[4:]):
        for path in part:
            add(place, path)
        compaction.compact(open_archive(str(place)))
        contents = open_archive(str(place)).contents()
        assert len(contents.commits) == 1
        assert [len(files) for files in contents.files.values()] == [1, 1, 1, 1, 0]
    held = reading.chosen(engine(open_archive(str(place))), None)
    assert [one.name for one in held] == [one.name for one in nights]


def test_a_compaction_that_nobody_asked_for_leaves_few_files_of_samples(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a"
    least = 4
    monkeypatch.setitem(compaction.LEAST_UNASKED, "unmerged", least)

    def numbers() -> dict[str, int]:
        found = open_archive(str(place)).contents().files
        return {kind: len(files) for kind, files in found.items()}

    for _ in range(least - 1):
        add(place, night())
    before = engine(open_archive(str(place))).rows("select sum(value) as s from samples")
    compaction.compact(open_archive(str(place)), unasked=True)
    tables = {"index": 1, "systems": 1, "boots": 1}
    assert numbers() == {**tables, "samples": 0, "unmerged": least - 1}
    after = engine(open_archive(str(place))).rows("select sum(value) as s from samples")
    assert after[0]["s"] == pytest.approx(before[0]["s"], rel=1e-12)
    add(place, night())
    compaction.compact(open_archive(str(place)), unasked=True)
    assert numbers() == {**tables, "samples": 1, "unmerged": 0}


def test_a_compaction_that_nobody_asked_for_merges_a_bounded_number_of_samples(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a"
    nights = [night() for _ in range(6)]
    rows = load_result(nights[0]).samples().height
    monkeypatch.setitem(compaction.MOST_ROWS, "unmerged", 2 * rows)
    monkeypatch.setitem(compaction.LEAST_UNASKED, "unmerged", 2)
    for one in nights:
        add(place, one)
    for left in (4, 2, 0):
        compaction.compact(open_archive(str(place)), unasked=True)
        archive = open_archive(str(place))
        assert len(archive.contents().files["unmerged"]) == left
        [found] = engine(archive).rows(
            "select count(*) as n, count(distinct result) as results from samples"
        )
        assert found == {"n": 6 * rows, "results": 6}


def test_a_note_beside_a_result_holds_for_its_journal_alone(night: Make) -> None:
    directory = night()
    first = read_digest(directory)
    journal = directory / JOURNAL
    lines = [unsealed(line)[0] for line in journal.read_bytes().splitlines()]
    for record in lines:
        if isinstance(event := record.get("event"), dict) and event.get("event") == "sample":
            event["value"] *= 2.0
    journal.write_bytes(b"".join(map(sealed, lines)))
    second = read_digest(directory)
    [key, *_] = first.systems["a"].levels
    levels = [one.systems["a"].levels[key].log_mean for one in (first, second)]
    assert levels[1] - levels[0] == pytest.approx(math.log(2.0))
    note = directory / NOTE
    note.write_bytes(note.read_bytes()[:-9] + b"00000000\n")
    assert read_digest(directory) == second


@pytest.mark.parametrize(
    ("column", "value"),
    [("log_mean", "fast"), ("key", 7), ("nature", 10**6), ("natures", [["w"]]), ("lowest", None)],
)
def test_a_note_that_somebody_else_wrote_is_not_believed(
    night: Make, column: str, value: object
) -> None:
    directory = night()
    first = read_digest(directory)
    noted = unsealed((directory / NOTE).read_bytes())[0]
    columns = noted["systems"]["a"]["levels"]
    columns[column] = [value, *columns[column][1:]] if column != "natures" else value
    (directory / NOTE).write_bytes(sealed(noted))
    assert read_digest(directory) == first


def test_a_line_of_notes_is_made_without_what_reads_samples(night: Make) -> None:
    nights = [str(night()) for _ in range(6)]
    for path in nights:
        read_digest(Path(path))
    code = (
        "import sys\nfrom pathlib import Path\nfrom pentathlon.cli.history import _of_directories\n"
        "print(len(_of_directories([Path(one) for one in sys.argv[1:]], None, []).points),"
        " *sorted({'polars', 'pydantic_core', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *nights], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["6"]


def test_writers_at_once_lose_nothing_and_count_nothing_twice(night: Make, tmp_path: Path) -> None:
    nights = [night() for _ in range(4)]
    place = tmp_path / "a"
    add(place, nights[0])
    start = threading.Barrier(3)
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            start.wait()
            # Every writer adds the third night; whether both see it in time is up to them.
            add(place, nights[number], nights[3])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    for _ in range(3):
        run = engine(open_archive(str(place)))
        assert len(reading.chosen(run, None)) == 4
        counts = run.rows("select result, count(*) as n from samples group by result")
        assert len(counts) == 4 and len({row["n"] for row in counts}) == 1
        compaction.compact(open_archive(str(place)))


def test_who_comes_second_reports_that_it_is_there(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, both = night(), night()
    read = batch.read

    def meanwhile(source: Any, *rest: Any) -> Any:
        if source.path == both:
            with monkeypatch.context() as patch:
                patch.setattr(batch, "read", read)
                assert [path for path, _ in add(tmp_path / "a", both).new] == [both]
        return read(source, *rest)

    add(tmp_path / "a", night())
    monkeypatch.setattr(batch, "read", meanwhile)
    done = add(tmp_path / "a", mine, both)
    assert [path for path, _ in done.new] == [mine]
    assert [path for path, _ in done.known] == [both]


def test_the_same_result_from_two_batches_counts_once(night: Make, tmp_path: Path) -> None:
    directory = night()
    add(tmp_path / "a", directory)
    assert [path for path, _ in add(tmp_path / "a", directory).known] == [directory]
    add(tmp_path / "b", directory)
    # What two writers leave who both looked before either had committed.
    shutil.copytree(tmp_path / "b", tmp_path / "a", dirs_exist_ok=True)
    archive = open_archive(str(tmp_path / "a"))
    rows = load_result(directory).samples().height
    for _ in range(2):
        run = engine(archive)
        assert run.rows("select count(*) as n from samples") == [{"n": rows}]
        assert len(reading.chosen(run, None)) == 1
        compaction.compact(archive)


@pytest.fixture
def held(night: Make, tmp_path: Path) -> Path:
    for _ in range(2):
        add(tmp_path / "a", night())
    return tmp_path / "a"


def refused(place: Path) -> str:
    with pytest.raises(StoreError) as error:
        engine(open_archive(str(place)))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", [HEAD, COMMITS])
def test_a_newer_format_is_refused(held: Path, name: str) -> None:
    file = held / HEAD if name == HEAD else sorted((held / COMMITS).iterdir())[0]
    document = unsealed(file.read_bytes())[0]
    file.write_bytes(sealed({**document, "format": FORMAT + 1}))
    words = f"has format {FORMAT + 1}, and this version reads up to {FORMAT}"
    assert words in refused(held)


def test_a_half_copied_archive_is_refused(held: Path) -> None:
    file = next((held / "boots").rglob("*.parquet"))
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    assert f"has {len(data) // 2} bytes instead of {len(data)}" in refused(held)
    file.unlink()
    assert "is not whole" in refused(held)
    [first, _] = sorted((held / COMMITS).iterdir())
    first.write_bytes(first.read_bytes().replace(b"boots", b"bools", 1))
    assert "its checksum does not fit" in refused(held)


def test_a_damaged_original_is_not_taken_out(held: Path, tmp_path: Path) -> None:
    archive = open_archive(str(held))
    one = reading.chosen(engine(archive), None)[0]
    file = held / one.row["original"]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match="its SHA-256 is not that of the index"):
        reading.take(archive, one, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_not_whole_is_not_added(night: Make, tmp_path: Path) -> None:
    whole, cut, bare, tied = night(), night(), night(), night()
    journal = cut / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    (bare / "catalog.json").unlink()
    (tied / "else").symlink_to("/etc/hostname")
    for path, reason in ((cut, "not copied in full"), (bare, "catalog.json"), (tied, "no regular")):
        with pytest.raises(StoreError, match=reason):
            add(tmp_path / "a", whole, path)
    done = add_all(str(tmp_path / "a"), [whole, cut, bare, tied], "m", strict=False)
    assert [path for path, _ in done.known] == [whole]
    assert [path for path, _ in done.left_out] == [cut, bare, tied]
    assert len(reading.chosen(engine(open_archive(str(tmp_path / "a"))), None)) == 1


def test_an_archive_is_made_where_nothing_lies(night: Make, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    with pytest.raises(StoreError, match="is no archive and not empty"):
        add(tmp_path / "full", night())
    with pytest.raises(StoreError, match="is no archive: it has no"):
        open_archive(str(tmp_path / "nowhere"))


def test_a_disk_that_fills_while_compacting_costs_nothing(
    held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(held)
    left = [2]
    write = Folder.write

    def full(self: Folder, name: str, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device", name)
        write(self, name, data)

    monkeypatch.setattr(Folder, "write", full)
    with pytest.raises(StoreError, match="No space left on device; it is as it was before"):
        compaction.compact(open_archive(str(held)))
    after = files(held)
    after.pop("lock")
    assert after == before


def test_processes_of_their_own_add_the_same(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = [night() for _ in range(17)]
    look = batch.look

    def patient(path: Path) -> Source:
        for _ in range(6000):  # Until the other process has taken one as well.
            if adding._taken.value > 1:
                break
            time.sleep(0.01)
        return look(path)

    monkeypatch.setattr(batch, "look", patient)
    done = add_all(str(tmp_path / "a"), nights, "m", strict=True, processes=2)
    assert sorted(path for path, _ in done.new) == nights
    commits = open_archive(str(tmp_path / "a")).contents().commits
    assert sorted(len(one.results) for one in commits)[0] > 0
    assert len(commits) == 2
    run = engine(open_archive(str(tmp_path / "a")))
    assert [one.name for one in reading.chosen(run, None)] == [path.name for path in nights]


def test_no_process_takes_more_once_one_of_them_has_failed(night: Make, tmp_path: Path) -> None:
    adding._share(multiprocessing.get_context("spawn").Value("q", 0))
    nights = [night() for _ in range(4)]
    (nights[1] / JOURNAL).unlink()
    archive = str(tmp_path / "a")
    add(archive)
    with pytest.raises(StoreError, match="no result directory"):
        adding._part(archive, nights, "m", True, "")
    assert not adding._part(archive, nights, "m", True, "").new
    assert [one.name for one in reading.chosen(engine(open_archive(archive)), None)] == [
        nights[0].name
    ]


def test_a_store_of_fsspec_holds_the_same(night: Make, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    place = f"memory://{tmp_path.name}"
    nights = [night() for _ in range(3)]
    for one in nights:
        add(place, one)
    archive = open_archive(place)
    for _ in range(2):
        run = engine(archive)
        assert [one.name for one in reading.chosen(run, None)] == [one.name for one in nights]
        assert run.rows(queries.summaries("1 = 1"))
        compaction.compact(archive)
    reading.take(archive, reading.by_id(archive, nights[1].name), tmp_path / "out")
    assert not filecmp.dircmp(tmp_path / "out", nights[1]).diff_files
    assert files(tmp_path / "out") == files(nights[1])


def test_files_are_sorted_by_what_is_asked_for(held: Path) -> None:
    compaction.compact(open_archive(str(held)))
    [file] = open_archive(str(held)).contents().files["boots"]
    table = pl.read_parquet(io.BytesIO((held / file.name).read_bytes()))
    assert table["key"].is_sorted()


def test_no_question_opens_the_samples(night: Make, tmp_path: Path) -> None:
    nights = [night(1.5 if k >= 5 else 1.0) for k in range(10)]
    add(tmp_path / "a", *nights[:6])
    archive = open_archive(str(tmp_path / "a"))
    compaction.compact(archive)
    add(tmp_path / "a", *nights[6:])
    files = archive.contents().files
    assert len(files["samples"]) == 1
    assert len(files["unmerged"]) == 4
    for file in [*files["samples"], *files["unmerged"]]:
        (tmp_path / "a" / file.name).write_bytes(bytes(file.size))  # Of the same size, and none.
    run = engine(archive)
    with pytest.raises(StoreError, match="cannot be read"):
        run.rows("select count(*) from samples")
    assert len(reading.chosen(run, 'study = "scripted"')) == 10
    assert timeline(points(run, None, "a"), 0.95, {}).regressions
    assert run.rows(queries.summaries("1 = 1"))
    held = [str(tmp_path / "a"), "--where", f'name = "{nights[9].name}"']
    for words in (
        ["archive", "list", "--archive", held[0]], ["history", held[0]], ["compare", *held],
        ["gate", held[0]], ["tables", *held], ["report", *held, "--out", str(tmp_path / "r")],
        ["archive", "site", "--archive", held[0], "--out", str(tmp_path / "s")],
    ):  # fmt: skip
        done = CliRunner().invoke(app, words, prog_name="pentathlon")
        assert done.exit_code in (0, 4, 5), (words, done.output)
