"""What users meet: full disks, killed writers, results of other studies, half copies."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pentathlon.archive import batch, reading
from pentathlon.archive import compact as compaction
from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import engine
from pentathlon.archive.format import FORMAT
from pentathlon.archive.log import HEAD, Archive, open_archive
from pentathlon.archive.source import look
from pentathlon.archive.stores import Folder
from pentathlon.cli.main import app
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.journal import JOURNAL, StoreError
from pentathlon.study.plan import canonical_json
from tests.archive.conftest import Make
from tests.fakes.disk import disk as disk  # noqa: PLC0414  a fixture
from tests.fakes.disk import leave
from tests.targets.conftest import needs_root


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(directory)): one.read_bytes()
        for one in directory.rglob("*")
        if one.is_file() and one.name != "lock"
    }


def call(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], prog_name="pentathlon")
    return done.exit_code, done.output


def names(place: Path) -> list[str]:
    return [one.name for one in reading.chosen(engine(open_archive(str(place))), None)]


def renamed(directory: Path, name: str) -> Path:
    """The same result as one of a study of another name."""
    plan = json.loads((directory / "plan.json").read_text())
    plan["study"]["name"] = name
    text = canonical_json(plan)
    (directory / "plan.json").write_text(text + "\n")
    first, *rest = (directory / JOURNAL).read_bytes().splitlines(keepends=True)
    start = unsealed(first)[0]
    start["plan_hash"] = hashlib.sha256(text.encode()).hexdigest()
    (directory / JOURNAL).write_bytes(sealed(start) + b"".join(rest))
    return directory


@needs_root
def known(place: Path) -> set[str]:
    """Every file that an archive should have."""
    archive = open_archive(str(place))
    contents = archive.contents()
    commits = [one.name for one in (*contents.commits, *contents.replaced)]
    tables = [one.name for group in contents.files.values() for one in group]
    originals = [one.row["original"] for one in reading.chosen(engine(archive), None)]
    return {HEAD, *commits, *tables, *originals}


def test_a_disk_that_fills_while_results_are_added_or_compacted(night: Make, disk: Path) -> None:
    place, nights = disk / "a", [night() for _ in range(4)]
    assert call("archive", "add", "--archive", place, nights[0])[0] == 0
    done = 0
    for pages in range(0, 60, 4):
        leave(disk, pages)
        code, text = call("archive", "add", "--archive", place, *nights)
        if code == 0:
            done = pages
            break
        assert code == 2 and "cannot be written: No space left on device" in text, text
        held = names(place)
        assert held == [one.name for one in nights][: len(held)]
        assert set(files(place)) == known(place), "nothing is left of what could not be added"
    assert done, "it fits in the end, and not at once"
    assert names(place) == [one.name for one in nights]
    leave(disk, 1)
    before = files(place)
    code, text = call("archive", "compact", "--archive", place)
    assert code == 2 and "No space left on device; it is as it was before" in text
    assert files(place) == before
    code, text = call("archive", "take", nights[1].name, disk / "out", "--archive", place)
    assert code == 2 and "no space left on device" in text and str(disk / "out") in text
    assert not (disk / "out").exists()
    (disk / "filler").unlink()
    assert call("archive", "compact", "--archive", place)[0] == 0
    assert call("archive", "take", nights[1].name, disk / "out", "--archive", place)[0] == 0
    assert files(disk / "out") == files(nights[1])


@pytest.mark.parametrize("kind", ["originals", "unmerged"])
@pytest.mark.parametrize("place", range(7))
def test_results_before_one_that_cannot_be_written_are_added(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: int
) -> None:
    nights = [night() for _ in range(8)]
    write, found = Folder.write, look(nights[place]).identity

    def fails(self: Folder, name: str, data: bytes) -> None:
        if name.startswith(kind) and found in name:
            raise OSError(errno.EIO, "planted", name)
        write(self, name, data)

    monkeypatch.setattr(Folder, "write", fails)
    archive = tmp_path / "a"
    with pytest.raises(StoreError, match=r"cannot be written: planted; what was added before"):
        add_all(str(archive), nights, "m", strict=True)
    assert names(archive) == [one.name for one in nights[:place]]
    assert set(files(archive)) == known(archive)


def test_a_writer_that_is_killed_at_any_point_costs_its_own_results_alone(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, nights = str(tmp_path / "a"), [night() for _ in range(3)]
    add_all(place, nights[:1], "m", strict=True)
    monkeypatch.setattr(batch, "discard", lambda *_, **__: None)  # Nobody is left to tidy up.
    write, lock = Folder.write, threading.Lock()
    for point in range(8):  # Two originals, their samples, three tables, the commit.
        left = [point]

        def killed(self: Folder, name: str, data: bytes, *, left: list[int] = left) -> None:
            with lock:
                if not left[0]:
                    raise SystemExit
                left[0] -= 1
            write(self, name, data)

        monkeypatch.setattr(Folder, "write", killed)
        with pytest.raises(SystemExit):
            add_all(place, nights[1:], "m", strict=True)
        monkeypatch.setattr(Folder, "write", write)
        assert names(tmp_path / "a") == [nights[0].name]
    add_all(place, nights, "m", strict=True)
    compaction.compact(open_archive(place))
    assert names(tmp_path / "a") == [one.name for one in nights]


def test_a_commit_that_a_store_may_have_keeps_its_files(
    night: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    place, nights = f"memory://{tmp_path.name}-cut", [night() for _ in range(2)]
    add_all(place, nights[:1], "m", strict=True)
    commit = Archive.commit

    def unanswered(self: Archive, *what: object) -> str:
        commit(self, *what)  # type: ignore[arg-type]
        raise OSError(errno.ETIMEDOUT, "timed out")

    monkeypatch.setattr(Archive, "commit", unanswered)
    with pytest.raises(StoreError, match="cannot be written: timed out"):
        add_all(place, nights[1:], "m", strict=True)
    with pytest.raises(StoreError, match="timed out"):
        compaction.compact(open_archive(place))
    monkeypatch.setattr(Archive, "commit", commit)
    held = reading.chosen(engine(open_archive(place)), None)
    assert [one.name for one in held] == [one.name for one in nights]


def test_results_of_several_studies_are_pointed_out(night: Make, tmp_path: Path) -> None:
    nights = [night() for _ in range(8)]
    for path in nights[::2]:
        renamed(path, "other")
    add_all(str(tmp_path / "a"), nights, "m", strict=True)
    words = "! the results are of 2 studies (other, scripted)"
    code, text = call("history", tmp_path / "a")
    assert code == 0 and words in text
    code, text = call("history", *nights)
    assert code == 0 and words in text
    code, text = call("history", tmp_path / "a", "--where", 'study = "other"')
    assert code == 0 and "studies" not in text and "4 comparable results" in text
    code, text = call("history", *nights[::2])
    assert code == 0 and "studies" not in text


def test_a_half_copied_result_is_named_and_left_out(night: Make, tmp_path: Path) -> None:
    whole, bare, cut = night(), night(), night()
    (bare / "plan.json").unlink()
    (cut / JOURNAL).write_bytes((cut / JOURNAL).read_bytes()[:-300])
    code, text = call("archive", "sync", whole.parent, "--archive", tmp_path / "a")
    assert code == 0 and "1 result added" in text and "2 left out" in text
    assert f"left out: {bare} is no result directory, or was not copied in full" in text
    assert f"left out: {cut} is unfinished" in text
    for path in (bare, cut):
        code, text = call("archive", "add", path, "--archive", tmp_path / "a")
        assert code == 2 and text.startswith("error: ") and "copied" in text


def test_every_command_refuses_an_archive_of_a_newer_format(night: Make, tmp_path: Path) -> None:
    place, directory = tmp_path / "a", night()
    add_all(str(place), [directory], "m", strict=True)
    head = place / "archive.json"
    head.write_bytes(sealed({**unsealed(head.read_bytes())[0], "format": FORMAT + 1}))
    before = files(place)
    there = ("--archive", place)
    for words in (
        ("archive", "list", *there), ("archive", "add", directory, *there),
        ("archive", "sync", directory.parent, *there), ("archive", "compact", *there),
        ("archive", "take", "1234", tmp_path / "out", *there),
        ("archive", "site", "--out", tmp_path / "out", *there),
        ("history", place), ("gate", place), ("gate", directory, "--against", place),
        ("compare", place), ("report", place, "--out", tmp_path / "out"), ("tables", place),
    ):  # fmt: skip
        code, text = call(*words)
        assert code == 2 and f"has format {FORMAT + 1}, and this version" in text, (words, text)
        assert text.count("\n") == 1
    assert files(place) == before and not (tmp_path / "out").exists()
    shutil.rmtree(place)
