"""The journal: what a cut at any byte leaves, what is set aside, who may write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from pentathlon.procedure.records import Record, RunEnd
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.store import journal
from pentathlon.store.journal import (
    JOURNAL,
    TORN,
    JournalWriter,
    Lock,
    StoreError,
    is_locked,
    read_journal,
    whole_length,
)
from pentathlon.store.tables import TableBuilder
from pentathlon.study.plan import Plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, faulty, well


def write(directory: Path, records: list[Record]) -> None:
    writer = JournalWriter(directory)
    for record in records:
        writer.append(record)
    writer.close()


def run(plan: Plan, directory: Path, state: RunState, b: ScriptedTarget) -> None:
    writer = JournalWriter(directory)
    Runner(
        plan,
        {"a": ScriptedTarget("a", well), "b": b},
        writer.append,
        catalog=scripted.catalog(),
        state=state,
    ).run()
    writer.close()


def counted_rows(plan: Plan, directory: Path) -> tuple[int, Counter[tuple[object, ...]]]:
    """Rows of the samples table, and how often each planned sample is counted."""
    builder = TableBuilder(plan, scripted.catalog())
    builder.take(read_journal(directory))
    table = builder.tables()["samples"]
    columns = ["block", "system", "workload", "case", "process", "phase", "iteration"]
    return table.height, Counter(table.filter(table["counted"]).select(columns).iter_rows())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, bytes]:
    """The journal of a run in which one step dies once."""
    directory = tmp_path_factory.mktemp("whole")
    plan = scripted.plan(blocks=1, iterations=1)
    run(plan, directory, RunState(plan), ScriptedTarget("b", faulty("w.two", "die", times=1)))
    return plan, (directory / JOURNAL).read_bytes()


def test_every_cut_keeps_every_whole_line(tmp_path: Path, whole: tuple[Plan, bytes]) -> None:
    """At every byte: reading gives the records of the whole lines, neither more nor fewer."""
    _, data = whole
    ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
    kept = 0
    for length in range(len(data) + 1):
        kept += length in ends[kept : kept + 1]
        assert whole_length(BytesIO(data[:length])) == (ends[kept - 1] if kept else 0)
    records = list(read_back(tmp_path, data))
    for count, end in enumerate(ends, start=1):
        for length in {end, end + 1, (end + ends[min(count, len(ends) - 1)]) // 2}:
            assert list(read_back(tmp_path, data[:length])) == records[:count]


def read_back(directory: Path, data: bytes) -> list[Record]:
    (directory / JOURNAL).write_bytes(data)
    return list(read_journal(directory))


@pytest.mark.slow
def test_a_run_whose_journal_was_cut_is_completed(
    tmp_path: Path, whole: tuple[Plan, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut at each record (before it, inside it, and before its line end): the run goes on and ends,
    every journalled sample is kept, and every planned one is counted exactly once."""
    monkeypatch.setattr(os, "fdatasync", lambda file: None)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    plan, data = whole
    ends = [0, *(place + 1 for place, byte in enumerate(data) if byte == ord("\n"))]
    wanted: Counter[tuple[object, ...]] | None = None
    lengths = {cut for end in ends[1:] for cut in (end, end - 1, end - 30)} | {0}
    for length in sorted(lengths, reverse=True):
        directory = tmp_path / str(length)
        directory.mkdir()
        (directory / JOURNAL).write_bytes(data[:length])
        state = RunState(plan)
        for record in read_journal(directory):
            state.apply(record)
        samples_before, counted_before = counted_rows(plan, directory)
        if not state.ended:
            run(plan, directory, state, ScriptedTarget("b", well))
        kept = data[: data[:length].rfind(b"\n") + 1]
        assert (directory / JOURNAL).read_bytes().startswith(kept)
        samples, counted = counted_rows(plan, directory)
        assert samples >= samples_before
        assert not counted_before - counted, "what was counted before the cut is counted after it"
        wanted = wanted or counted
        assert counted == wanted and set(counted.values()) == {1}


def test_the_torn_line_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path, [RunEnd(outcome="finished", failures=0)])
    file = tmp_path / JOURNAL
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"record":"run-e')
    assert len(list(read_journal(tmp_path))) == 1
    write(tmp_path, [RunEnd(outcome="interrupted", failures=1)])
    assert [r.outcome for r in read_journal(tmp_path) if isinstance(r, RunEnd)] == [
        "finished",
        "interrupted",
    ]
    assert (tmp_path / TORN).read_bytes() == b'{"record":"run-e\n'


def test_zeros_at_the_end_are_torn_too(tmp_path: Path) -> None:
    write(tmp_path, [RunEnd(outcome="finished", failures=0)])
    file = tmp_path / JOURNAL
    file.write_bytes(file.read_bytes() + bytes(100) + b"\n")
    assert len(list(read_journal(tmp_path))) == 1


def test_damage_inside_is_an_error_with_its_line(tmp_path: Path) -> None:
    end = RunEnd(outcome="finished", failures=0)
    write(tmp_path, [end, end, end])
    file = tmp_path / JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"garbage\n" + lines[2])
    with pytest.raises(StoreError, match=r"journal\.jsonl:2: this line is damaged"):
        list(read_journal(tmp_path))
    file.write_bytes(lines[0] + b'{"record":"other"}\n' + lines[2])
    with pytest.raises(StoreError, match=r'journal\.jsonl:2: unknown record "other"'):
        list(read_journal(tmp_path))


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no result directory"):
        list(read_journal(tmp_path))


@pytest.mark.parametrize(
    ("data", "length"),
    [(b"", 0), (b"{", 0), (b"{}\n", 3), (b"{}\n{", 3), (b"{}\n{\n", 3), (b"{}\n\n", 3), (b"\n", 0)],
)
@pytest.mark.parametrize("chunk", [1, 2, 1 << 16])
def test_whole_length(
    data: bytes, length: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "CHUNK", chunk)
    assert whole_length(BytesIO(data)) == length


def test_text_that_json_could_trip_over(tmp_path: Path) -> None:
    reason = 'line\nbreak "quotes" \u2028 \x00 \x85 ö 🙂'
    write(tmp_path, [RunEnd(outcome=reason, failures=0)])
    [record] = read_journal(tmp_path)
    assert isinstance(record, RunEnd) and record.outcome == reason


HOLD = """
import sys, time
from pathlib import Path
from pentathlon.store.journal import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_two_runs_cannot_write_one_directory(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        assert is_locked(tmp_path)
        with pytest.raises(StoreError, match=f"another run \\(process {holder.pid}\\)"):
            Lock(tmp_path)
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert not is_locked(tmp_path), "the lock ends with its process, however it ends"
    Lock(tmp_path).release()


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JournalWriter(tmp_path)

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="cannot be written: No space left on device"):
        writer.append(RunEnd(outcome="finished", failures=0))


def test_short_writes_make_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JournalWriter(tmp_path)
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    writer.append(RunEnd(outcome="finished", failures=0))
    monkeypatch.undo()
    [line] = (tmp_path / JOURNAL).read_text().splitlines()
    assert json.loads(line)["record"] == "run-end"
