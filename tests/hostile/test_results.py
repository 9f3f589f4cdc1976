"""Damaged and hostile results: the same numbers, or one sentence; never a mistake of the program.

Seeded and bounded: each damage is one that a disk, a copy or a stranger can do to the files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Never

import polars as pl
import pytest
from typer.testing import CliRunner

from pentathlon.cli import run, session
from pentathlon.cli.exits import Exit, Interrupted
from pentathlon.cli.main import app
from pentathlon.procedure.records import RunStart
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Packets
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.directory import fill_directory, make_directory
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import JOURNAL, LOCK, TORN, JournalWriter, Lock, StoreError
from pentathlon.store.packets import KeptTrial
from pentathlon.store.query import FRESH, load_result
from pentathlon.study.load import LoadedStudy
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

pytestmark = pytest.mark.slow

SEED = 20260717
READERS = (
    ["compare"], ["gate"], ["results", "show"], ["tables"], ["report", "--format", "json,csv"],
)  # fmt: skip


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished result with its tables."""
    directory = tmp_path_factory.mktemp("pristine") / "result"
    plan = scripted.plan(blocks=2, iterations=2)
    make_directory(directory, plan.study.name)
    first = RunStart(
        plan_hash=plan.hash(), study_file="/nowhere/scripted.toml", study_sha256="0", blocks=None,
        version="0", pid=1, notes=[],
    )  # fmt: skip
    loaded = LoadedStudy(Path("/nowhere/scripted.toml"), "text", plan.study)
    fill_directory(directory, loaded, plan, scripted.catalog(), first)
    journal = JournalWriter(directory)
    targets = {"a": ScriptedTarget("a", well), "b": ScriptedTarget("b", well)}
    Runner(plan, targets, journal.append, catalog=scripted.catalog(), state=RunState(plan)).run()
    journal.close()
    load_result(directory).refresh()
    return directory


@pytest.fixture
def result(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "result"))


def call(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def numbers(directory: Path) -> tuple[pl.DataFrame, pl.DataFrame, object]:
    one = load_result(directory)
    return one.samples(), one.failures(), one.summary().finished


def same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return all(
        one.equals(other) if isinstance(one, pl.DataFrame) else one == other
        for one, other in zip(first, second, strict=True)
    )


def damages(data: bytes, count: int, seed: str) -> Iterator[bytes]:
    """Flipped bits, other bytes, cuts, zeros: of the middle and of the ends."""
    chance = random.Random(f"{SEED} {seed}")
    for number in range(count):
        place = chance.randrange(len(data))
        if number % 4 == 0:
            yield data[:place]
        elif number % 4 == 1:
            yield data[:place] + bytes(min(16, len(data) - place)) + data[place + 16 :]
        else:
            flipped = data[place] ^ 1 << chance.randrange(8)
            yield data[:place] + bytes([flipped]) + data[place + 1 :]


DERIVED = (FRESH, "samples.parquet", "plan.parquet", "inventory.parquet", "failures.parquet")


@pytest.mark.parametrize("name", DERIVED)
def test_derived_files_are_made_again(pristine: Path, result: Path, name: str) -> None:
    wanted = numbers(pristine)
    file = result / name
    for data in damages(file.read_bytes(), 30, name):
        file.write_bytes(data)
        assert same(numbers(result), wanted)


@pytest.mark.parametrize("name", ["plan.json", "catalog.json"])
def test_what_was_written_once_is_refused(result: Path, name: str) -> None:
    file = result / name
    whole = file.read_bytes()
    for data in damages(whole, 40, name):
        if data.removesuffix(b"\n") == whole.removesuffix(b"\n"):
            continue
        file.write_bytes(data)
        with pytest.raises(StoreError, match=name):
            load_result(result)


def test_a_damaged_journal_names_its_line(pristine: Path, result: Path) -> None:
    """A cut at the end leaves an unfinished run; everything else is refused with the line."""
    wanted = numbers(pristine)
    journal = result / JOURNAL
    whole = journal.read_bytes()
    last = whole.rfind(b"\n", 0, -1) + 1
    refused = 0
    for data in damages(whole, 100, JOURNAL):
        journal.write_bytes(data)
        differs = next(
            (n for n, (a, b) in enumerate(zip(whole, data, strict=False)) if a != b), None
        )
        try:
            one = load_result(result)
            found = numbers(result)
        except StoreError as error:
            refused += 1
            if differs is not None:
                assert f"{JOURNAL}:" in str(error)
                line = whole.count(b"\n", 0, differs) + 1
                assert f":{line}:" in str(error) or f":{line - 1}:" in str(error)
        else:
            cut = differs is None or differs >= last
            assert cut, differs
            assert same(found, wanted) or one.unfinished.startswith("unfinished, ")
    assert refused > 60


def test_every_reader_ends_with_a_sentence(result: Path) -> None:
    """Through the commands: no status 70, no traceback."""
    allowed = {Exit.OK, Exit.FAILURES, Exit.BAD_INPUT, Exit.REGRESSION, Exit.INCONCLUSIVE,
               Exit.IDENTICAL, Exit.UNFINISHED}  # fmt: skip
    names = (JOURNAL, "plan.json", "catalog.json", FRESH, "samples.parquet")
    for number, name in enumerate(names * 3):
        file = result / name
        whole = file.read_bytes()
        file.write_bytes(list(damages(whole, 3, f"{number} {name}"))[number % 3])
        status, text = call(*READERS[number % len(READERS)], result)
        assert status in allowed and "Traceback" not in text, (name, status, text)
        if status == Exit.BAD_INPUT:
            assert text.count("error:") == 1 and name in text
        file.write_bytes(whole)


def test_an_edited_plan_is_refused(result: Path) -> None:
    plan = result / "plan.json"
    plan.write_text(plan.read_text().replace('"delta_percent":1.0', '"delta_percent":9.0'))
    for words in (*READERS, ["run", "--resume"]):
        status, text = call(*words, result)
        flat = " ".join(text.split())
        assert status == Exit.BAD_INPUT and "is not the plan" in flat and "--delta" in flat


def test_an_old_journal_stays_readable(pristine: Path, result: Path) -> None:
    """Format 1: no checksums, no digest of the catalog."""
    journal = result / JOURNAL
    records = [unsealed(line)[0] for line in journal.read_bytes().splitlines()]
    for record in records:
        for name in ("format", "catalog_sha256"):
            record.pop(name, None)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert same(numbers(result), numbers(pristine))
    # What is wrong in it is still found, though it has no checksum.
    text = journal.read_text()
    for old, new, why in (
        ('"phase": "measure"', '"phase": "meacure"', "phase"),
        ('"direction": "lower"', '"direction": "lowes"', "direction"),
        ('"batch": ', '"batch": 9e999, "value": NaN, "b": ', "finite"),
    ):
        assert old in text
        journal.write_text(text.replace(old, new, 1))
        with pytest.raises(StoreError, match=rf"{JOURNAL}:\d+: .*{why}"):
            numbers(result)


def test_a_checksum_that_is_missing_and_a_later_format(result: Path) -> None:
    journal = result / JOURNAL
    lines = journal.read_bytes().splitlines()
    for place in (0, 3):
        bare = json.dumps(unsealed(lines[place])[0]).encode()
        journal.write_bytes(b"\n".join([*lines[:place], bare, *lines[place + 1 :], b""]))
        with pytest.raises(StoreError, match=rf":{place + 1}: .*checksum is missing"):
            numbers(result)
    later = sealed(unsealed(lines[0])[0] | {"format": 3})
    journal.write_bytes(later + b"\n".join([*lines[1:], b""]))
    with pytest.raises(StoreError, match="read it with the version that wrote it"):
        load_result(result)


@pytest.mark.parametrize("foreign", ["schema", "huge"])
def test_a_strangers_table_with_a_fitting_digest(
    pristine: Path, result: Path, foreign: str
) -> None:
    """The digest is no signature: a schema that is not ours or too many rows are not taken."""
    wanted = numbers(pristine)
    table = pl.DataFrame({"x": [1]})
    if foreign == "huge":
        rows = 5 * (result / JOURNAL).stat().st_size
        table = (
            wanted[0].clear().extend(wanted[0].head(1)).select(pl.all().repeat_by(rows).explode())
        )
    file = io.BytesIO()
    table.write_parquet(file)
    (result / "samples.parquet").write_bytes(file.getvalue())
    noted, _ = unsealed((result / FRESH).read_bytes())
    digest = hashlib.sha256(file.getvalue()).hexdigest()
    noted["tables"]["samples"] = f"{len(file.getvalue())}:{digest}"
    (result / FRESH).write_bytes(sealed(noted))
    assert same(numbers(result), wanted)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b"\xff"])
def test_deep_and_long_lines(result: Path, line: bytes) -> None:
    journal = result / JOURNAL
    whole = journal.read_bytes()
    first, rest = whole.split(b"\n", 1)
    journal.write_bytes(first + b"\n" + line + b"\n" + rest)
    with pytest.raises(StoreError, match=rf"{JOURNAL}:2: this line is damaged"):
        numbers(result)
    journal.write_bytes(whole)
    (result / "calibration.json").write_bytes(line)
    with pytest.raises(StoreError, match=r"calibration\.json"):
        _ = load_result(result).calibrations


def test_names_are_literal(pristine: Path, tmp_path: Path) -> None:
    """Wildcards and markup in a path stand for themselves."""
    for name in ("run1", "run[1]", "r*", "r?n1", "[bold]", "[/]"):
        shutil.copytree(pristine, tmp_path / name)
    other = tmp_path / "run1"
    records = [unsealed(line)[0] for line in (other / JOURNAL).read_bytes().splitlines()]
    for record in records:
        if record.get("event", {}).get("event") == "sample":
            record["event"]["value"] *= 3
    (other / JOURNAL).write_bytes(b"".join(map(sealed, records)))
    load_result(other).refresh()
    wanted = numbers(pristine)
    assert not same(numbers(other), wanted)
    for name in ("run[1]", "r*", "r?n1", "[bold]", "[/]"):
        assert same(numbers(tmp_path / name), wanted), name
        for words in READERS:
            status, text = call(*words, tmp_path / name)
            assert status not in (Exit.INTERNAL, Exit.BAD_INPUT), text


def test_links_are_not_followed(result: Path, tmp_path: Path) -> None:
    """A stranger's result with links where this program writes."""
    mine = tmp_path / "mine"
    for name in ("report.html", "evaluation.csv", "evaluation.json", "samples.parquet", FRESH):
        mine.write_text("mine")
        (result / name).unlink(missing_ok=True)
        (result / name).symlink_to(mine)
    status, text = call("report", result, "--format", "html,csv,json")
    assert status == Exit.OK, text
    load_result(result).refresh()
    assert mine.read_text() == "mine"
    assert not (result / "report.html").is_symlink()
    assert not list(result.glob(".*.part"))

    (result / TORN).symlink_to(mine)
    with (result / JOURNAL).open("ab") as file:
        file.write(b'{"record":')
    with pytest.raises(StoreError, match="symbolic link"):
        JournalWriter(result)
    (result / TORN).unlink()
    for name, use in ((JOURNAL, JournalWriter), (LOCK, Lock)):
        (result / name).unlink(missing_ok=True)
        (result / name).symlink_to(mine)
        with pytest.raises(StoreError, match="symbolic link"):
            use(result)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("name", ["plan.json", "catalog.json", JOURNAL, FRESH, "samples.parquet"])
def test_a_pipe_holds_nobody(pristine: Path, result: Path, name: str) -> None:
    (result / name).unlink()
    os.mkfifo(result / name)
    if name in DERIVED:
        assert same(numbers(result), numbers(pristine))
    else:
        with pytest.raises(StoreError, match="no regular file"):
            load_result(result)


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    write_whole(file, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(file, "new", sync=True)
    assert caught.value.filename == str(file)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert read_bytes(file) == b"old"
    with pytest.raises(OSError, match="more than the 2"):
        read_bytes(file, 2)


def test_unfinished_is_said_first(result: Path) -> None:
    journal = result / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    for words in READERS[:4]:
        status, text = call(*words, result)
        first = text.strip().splitlines()[0]
        assert "nfinished, " in first and "steps: the run was cut off" in first, (words, text)
        assert status == (Exit.UNFINISHED if words == ["gate"] else Exit.OK)
    status, text = call("gate", result, "--json")
    assert json.loads(text)["unfinished"].startswith("unfinished, ")
    status, text = call("results", "list", result.parent)
    assert "unfinished" in text
    call("report", result, "--format", "html,csv,json,latex,markdown")
    for name in ("report.html", "evaluation.md", "evaluation.tex", "evaluation.json",
                 "evaluation.csv"):  # fmt: skip
        assert "nfinished, " in (result / name).read_text(), name
    assert (result / "evaluation.md").read_text().startswith("> **Unfinished, ")


def test_a_stop_while_it_reports_names_the_command(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is measured by then: what is left is to write the report."""

    def stopped(directory: Path) -> Never:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError(directory)

    monkeypatch.setattr(session, "finished_result", stopped)
    with pytest.raises(Interrupted, match=f"Write the report with: pentathlon report {result}"):
        run._finish(result, report=True)


def test_a_finished_run_that_is_resumed_names_the_command(result: Path) -> None:
    status, text = call("run", "--resume", result)
    assert status == Exit.BAD_INPUT
    assert f"pentathlon report {result}" in " ".join(text.split())


def test_packets_are_those_of_the_named_result(tmp_path: Path) -> None:
    """Of `run[1]`, not of `run1` beside it."""
    for name in ("run1", "run[1]"):
        (tmp_path / name / "packets").mkdir(parents=True)
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "run1" / "packets" / "000001.parquet")
    file = io.BytesIO()
    pl.DataFrame({"x": [2]}).write_parquet(file)
    directory = tmp_path / "run[1]"
    (directory / "packets" / "000001.parquet").write_bytes(file.getvalue())
    event = Packets(
        event="packets", workload="w", index=0, case={}, phase="measure", iteration=0, flows=(),
        file="packets/000001.parquet", t_ns=1,
    )  # fmt: skip
    assert KeptTrial(1, directory, "a", 0, 0, event).packets()["x"].to_list() == [2]
    (directory / "packets" / "000001.parquet").write_bytes(file.getvalue()[:-9])
    with pytest.raises(StoreError, match="cannot be read"):
        KeptTrial(1, directory, "a", 0, 0, event).packets()
