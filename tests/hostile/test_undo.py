"""Undo journals that are damaged, or that somebody else wrote."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from pentathlon.machine import directories, restore
from pentathlon.machine.claims import Busy, Claims
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.machine.undo_journal import (
    UndoJournal,
    damaged,
    directory,
    leftovers,
    restore_leftovers,
)
from pentathlon.machine.whole_machine import everything
from tests.targets.conftest import needs_root

FLIPS = 200
COUNT = 4


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files that stand for the kernel's, as a session has changed them."""
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    monkeypatch.setattr(restore, "KERNEL_FILES", (kernel.resolve(),))
    made = [kernel / f"value{number}" for number in range(COUNT)]
    for one in made:
        one.write_text("new")
    return made


def crashed(state: Path, values: list[Path]) -> Path:
    """The journal of a session that ended without putting anything back."""
    journal = UndoJournal(state)
    for number, one in enumerate(values):
        journal.note(restore.setting(one, f"old{number}", "new"))
    assert journal._file is not None
    os.close(journal._file)
    journal._file = None
    return directory(state) / f"{journal.token}.jsonl"


def test_flipped_bits_lose_no_other_line_and_write_no_wrong_value(
    tmp_path: Path, values: list[Path]
) -> None:
    rng = random.Random(4)
    for number in range(FLIPS):
        for one in values:
            one.write_text("new")
        state = tmp_path / f"state{number}"
        path = crashed(state, values)
        text = bytearray(path.read_bytes())
        place = rng.randrange(len(text))
        text[place] ^= 1 << rng.randrange(8)
        line = bytes(path.read_bytes()[:place]).count(b"\n")
        path.write_bytes(text)
        notes = restore_leftovers(state)
        found = [one.read_text() for one in values]
        wrong = [index for index in range(COUNT) if found[index] != f"old{index}"]
        # The line that was hit, and the one after it where its end was hit; line 0 is the head.
        assert set(wrong) <= {line - 1, line}, (place, found)
        assert all(found[index] == "new" for index in wrong)
        # A last line without its end was never synced; all other damage is reported by name.
        torn = place == len(text) - 1
        assert torn or any("is damaged" in one and path.name in one for one in notes), notes
        assert not list(directory(state).glob("*.jsonl"))
        assert restore_leftovers(state) == []
        UndoJournal(state).undo()


@pytest.mark.parametrize("kind", ["pipe", "link", "writable", "directory", "huge"])
def test_what_is_no_journal_is_set_aside_and_blocks_nothing(
    tmp_path: Path, values: list[Path], kind: str
) -> None:
    state = tmp_path / "state"
    good = crashed(state, values)
    bad = good.with_name("0bad.jsonl")
    match kind:
        case "pipe":
            os.mkfifo(bad)
        case "link":
            bad.symlink_to(good)
        case "writable":
            bad.write_bytes(good.read_bytes())
            bad.chmod(0o666)
        case "directory":
            bad.mkdir()
        case "huge":
            with bad.open("wb") as file:
                file.truncate(1 << 30)
            bad.chmod(0o600)
    assert len(leftovers(state)) == COUNT
    assert any("0bad.jsonl is damaged" in one for one in damaged(state))
    notes = restore_leftovers(state)
    assert [one.read_text() for one in values] == [f"old{number}" for number in range(COUNT)]
    assert any("0bad.jsonl is damaged" in one for one in notes)
    assert not os.path.lexists(bad) and os.path.lexists(bad.with_suffix(".damaged"))
    assert any("0bad.damaged is an undo journal that was damaged" in one for one in damaged(state))
    UndoJournal(state).undo()


@needs_root
def test_a_journal_of_another_user_is_not_obeyed(tmp_path: Path, values: list[Path]) -> None:
    state = tmp_path / "state"
    path = crashed(state, values)
    os.chown(path, 12345, 12345)
    notes = restore_leftovers(state)
    assert [one.read_text() for one in values] == ["new"] * COUNT
    assert any("it belongs to user 12345" in one for one in notes)


@needs_root
def test_below_the_directory_of_another_user_a_user_has_an_own_one(
    tmp_path: Path, values: list[Path]
) -> None:
    state = tmp_path / "state"
    crashed(state, values)
    os.chown(state / "undo", 12345, 12345)
    assert leftovers(state) == [] == restore_leftovers(state)
    journal = UndoJournal(state)
    assert [path.parent.name for path in directory(state).iterdir()] == ["undo-0"]
    journal.undo()
    assert [one.read_text() for one in values] == ["new"] * COUNT


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"change": "setting", "path": "{tmp}/other", "from": "a", "to": "b"}, "no setting of"),
        ({"change": "setting", "path": "{tmp}/kernel/../other", "from": "a", "to": "b"}, "no sett"),
        ({"change": "setting", "path": "{tmp}/kernel/out", "from": "a", "to": "b"}, "no setting"),
        ({"change": "setting", "path": "{tmp}/kernel/value0", "from": 1, "to": "b"}, 'its "from"'),
        ({"change": "directory", "path": "{tmp}/other"}, "not a directory of this program"),
        ({"change": "directory", "path": "{tmp}/x/../pentathlon-x"}, "not a directory of this"),
        ({"change": "processes", "leader": "1", "start": 1}, 'its "leader"'),
        ({"change": "command", "path": "true"}, "no kind of change"),
    ],
)
def test_only_what_this_program_changes_is_put_back(
    tmp_path: Path, values: list[Path], entry: dict[str, object], reason: str
) -> None:
    other = tmp_path / "other"
    other.write_text("b")
    (values[0].parent / "out").symlink_to(other)
    state = tmp_path / "state"
    journal = UndoJournal(state)
    if "path" in entry:
        entry = {**entry, "path": str(entry["path"]).format(tmp=tmp_path)}
    journal.note(entry)
    assert journal._file is not None
    os.close(journal._file)
    (output,) = restore_leftovers(state)
    assert reason in output
    assert other.read_text() == "b"


MEASURES = """
import sys
from pentathlon.machine.claims import Claims
with Claims() as claims:
    claims.take("living", sys.argv[1:])
    print("taken", flush=True)
    sys.stdin.read()
"""
"""A run in another process, until its standard input ends."""


def test_settings_are_not_put_back_under_another_process(
    tmp_path: Path, values: list[Path]
) -> None:
    state = tmp_path / "state"
    crashed(state, values)
    first, last = f"CPU {min(AVAILABLE)}", f"CPU {max(AVAILABLE)}"
    other = subprocess.Popen(
        [sys.executable, "-c", MEASURES, first],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdin is not None and other.stdout is not None
    try:
        assert other.stdout.readline() == "taken\n"
        for begin in (UndoJournal, restore_leftovers):
            with pytest.raises(Busy, match=r'run of study "living".*cannot be put back before'):
                begin(state)
        assert [one.read_text() for one in values] == ["new"] * COUNT
        assert len(leftovers(state)) == COUNT
    finally:
        other.communicate()
    with Claims() as claims:
        claims.take("this run", [last])
        UndoJournal(state).undo()
    assert [one.read_text() for one in values] == [f"old{number}" for number in range(COUNT)]


def test_the_owner_of_the_settings_puts_them_back(tmp_path: Path, values: list[Path]) -> None:
    state = tmp_path / "state"
    crashed(state, values)
    with Claims() as claims:
        claims.take("this run", everything())
        UndoJournal(state).undo()
    assert [one.read_text() for one in values] == [f"old{number}" for number in range(COUNT)]


def test_a_setting_that_is_gone_is_reported_once(tmp_path: Path, values: list[Path]) -> None:
    state = tmp_path / "state"
    crashed(state, values)
    values[1].unlink()
    notes = restore_leftovers(state)
    assert sum("value1 is gone" in one for one in notes) == 1
    assert restore_leftovers(state) == []
    assert [one.read_text() for one in values if one.exists()] == ["old0", "old2", "old3"]


def test_a_relative_state_directory_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    found = directories.user_dir("XDG_STATE_HOME", ".local", "state")
    assert found == Path("/home/somebody/.local/state/pentathlon")
