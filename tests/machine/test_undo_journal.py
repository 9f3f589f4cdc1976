"""The undo journal: written before the change, and put back after any end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pentathlon.machine import processes, restore
from pentathlon.machine.errors import TargetError
from pentathlon.machine.undo_journal import UndoJournal, boot_id, leftovers, restore_leftovers
from tests.targets.conftest import needs_root

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")

CHANGE_AND_WAIT = """
import sys, time
from pathlib import Path
from pentathlon.machine import restore
from pentathlon.machine.undo_journal import UndoJournal
journal = UndoJournal(Path(sys.argv[1]))
path, new = Path(sys.argv[2]), sys.argv[3]
journal.note(restore.setting(path, restore.current(path), new))
path.write_text(new)
directory = Path(sys.argv[4]) / ("pentathlon-" + journal.token)
journal.note(restore.directory(directory))
directory.mkdir()
(directory / "file").write_text("left")
print("changed", flush=True)
time.sleep(600)
"""


def kill_in_the_middle(state: Path, path: Path, new: str, scratch: Path) -> None:
    """Change a value in another process, and end it so that it can clean nothing up."""
    command = [sys.executable, "-c", CHANGE_AND_WAIT, str(state), str(path), new, str(scratch)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"changed\n"
        assert restore.current(path) == new
        # While its owner lives, nobody else puts it back.
        assert restore_leftovers(state) == []
        assert restore.current(path) == new
        process.send_signal(signal.SIGKILL)


def test_a_killed_process_is_put_back_by_the_next_start(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("old")
    scratch = tmp_path / "scratch"
    kill_in_the_middle(state, value, "new", scratch)
    assert value.read_text() == "new"
    assert [entry["change"] for entry in leftovers(state)] == ["setting", "directory"]
    assert value.read_text() == "new"
    UndoJournal(state).undo()
    assert value.read_text() == "old"
    assert list(scratch.iterdir()) == []


@needs_root
@pytest.mark.skipif(not THP.exists(), reason="the kernel has no transparent huge pages")
def test_a_real_setting_is_put_back_after_kill_9(state: Path, tmp_path: Path) -> None:
    old = restore.current(THP)
    new = "never" if old != "never" else "madvise"
    try:
        kill_in_the_middle(state, THP, new, tmp_path / "scratch")
        notes = restore_leftovers(state)
        assert restore.current(THP) == old
        assert any(f"from {old} to {new}" in sentence for sentence in notes)
    finally:
        THP.write_text(old)


def test_processes_of_a_killed_run_are_ended(state: Path, scripted: Path) -> None:
    code = """
import sys, json
from pathlib import Path
from tests.targets.conftest import FakeSystem, request
from pentathlon.targets.local.target import LocalTarget
session = LocalTarget(FakeSystem(), Path(sys.argv[1]), Path(sys.argv[2])).boot(10)
for _, event in session.run(request("stubborn"), 60, 60):
    print(json.dumps(event["pids"]), flush=True)
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(scripted), str(state)], stdout=subprocess.PIPE, cwd=root
    ) as process:
        assert process.stdout is not None
        pids = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    assert leftovers(state)
    restore_leftovers(state)
    assert len(pids) == 3
    for pid in pids:
        member = processes.stat(pid)
        assert member is None or member.state == "Z"


def test_what_was_noted_but_not_changed_is_left(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("old")
    journal = UndoJournal(state)
    journal.note(restore.setting(value, "old", "new"))
    assert journal.undo() == []
    assert value.read_text() == "old"


def test_what_somebody_else_changed_since_is_left_and_said(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("old")
    journal = UndoJournal(state)
    journal.note(restore.setting(value, "old", "new"))
    value.write_text("theirs")
    assert ["theirs" in sentence for sentence in journal.undo()] == [True]
    assert value.read_text() == "theirs"


def test_settings_go_with_a_reboot_and_directories_do_not(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("new")
    directory = tmp_path / "scratch" / "pentathlon-0123"
    directory.mkdir()
    (state / "undo").mkdir(parents=True)
    lines = [
        {"token": "t", "boot_id": "an earlier boot"},
        restore.setting(value, "old", "new"),
        restore.directory(directory),
    ]
    assert boot_id() != "an earlier boot"
    (state / "undo" / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    restore_leftovers(state)
    assert value.read_text() == "new"
    assert not directory.exists()


def test_only_own_directories_are_removed(state: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    journal = UndoJournal(state)
    journal.note(restore.directory(precious))
    with pytest.raises(TargetError, match="not a directory of this program"):
        journal.undo()
    assert precious.exists()
    next((state / "undo").glob("*.jsonl")).unlink()


def test_a_failure_keeps_the_journal_and_a_second_try_works(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.mkdir()
    journal = UndoJournal(state)
    journal.note(restore.setting(value, "old", "new"))
    with pytest.raises(TargetError, match="could not put back"):
        journal.undo()
    value.rmdir()
    value.write_text("new")
    journal.undo()
    assert value.read_text() == "old"


@given(cut=st.integers(0, 400), count=st.integers(1, 4))
@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_journal_cut_anywhere_puts_back_its_whole_lines(
    state: Path, tmp_path: Path, cut: int, count: int
) -> None:
    values = [tmp_path / f"value{index}" for index in range(count)]
    head = {"token": "t", "boot_id": boot_id()}
    lines = [head, *(restore.setting(value, "old", "new") for value in values)]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    whole = text[: min(cut, len(text))].count(b"\n")
    # A change is made only after its line is on disk.
    for index, value in enumerate(values):
        value.write_text("new" if index + 1 < whole else "old")
    (state / "undo").mkdir(parents=True, exist_ok=True)
    (state / "undo" / "t.jsonl").write_bytes(text[:cut])
    restore_leftovers(state)
    assert [value.read_text() for value in values] == ["old"] * count
    assert list((state / "undo").glob("*.jsonl")) == []


def test_the_last_change_is_put_back_first(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("first")
    journal = UndoJournal(state)
    for old, new in (("first", "second"), ("second", "third")):
        journal.note(restore.setting(value, old, new))
        value.write_text(new)
    journal.undo()
    assert value.read_text() == "first"


def test_many_random_kills_leave_nothing_changed(state: Path, tmp_path: Path) -> None:
    """Kill a process that changes and puts back all the time, at moments that nobody chose."""
    value = tmp_path / "value"
    value.write_text("old")
    code = """
import sys
from pathlib import Path
from pentathlon.machine import restore
from pentathlon.machine.undo_journal import UndoJournal
value = Path(sys.argv[2])
print("on", flush=True)
while True:
    journal = UndoJournal(Path(sys.argv[1]))
    journal.note(restore.setting(value, "old", "new"))
    # Kernel files change in one step; a plain file is replaced to do the same.
    fresh = value.with_suffix(".fresh")
    fresh.write_text("new")
    fresh.replace(value)
    journal.undo()
"""
    for delay in (0.001, 0.003, 0.007, 0.012, 0.02):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(state), str(value)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            os.kill(process.pid, signal.SIGKILL)
        if value.read_text() == "":
            value.write_text("new")  # Killed inside of the plain file's own truncation.
        restore_leftovers(state)
        assert value.read_text() == "old"
