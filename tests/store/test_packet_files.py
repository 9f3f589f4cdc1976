"""Packets of trials are kept in files, and those of boots that failed are not."""

from pathlib import Path

from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.protocol.events import Packets, read
from pentathlon.store.packets import PacketKeeper


def start(attempt: int) -> BootStart:
    return BootStart(
        block=0, order=0, system="a", attempt=attempt, target="local", layer="host",
        session="", steps=[], settings=[],
    )  # fmt: skip


def end(attempt: int, outcome: str) -> BootEnd:
    return BootEnd(
        block=0, system="a", attempt=attempt, outcome=outcome, reason=None, boot_seconds=None,
        log=[],
    )  # fmt: skip


def trial(attempt: int, data: bytes) -> AgentEvent:
    event = {
        "event": "packets", "workload": "network.traffic", "index": 0, "case": {},
        "phase": "measure", "iteration": 0, "flows": [], "hosts": [{}, {}], "table": data,
        "t_ns": 1,
    }  # fmt: skip
    return AgentEvent(block=0, system="a", attempt=attempt, event=read(event))


def names(kept: list[Record]) -> list[str | None]:
    found = []
    for record in kept:
        if isinstance(record, AgentEvent):
            assert isinstance(record.message, Packets)
            assert record.event.document["file"] == record.message.file
            assert "table" not in record.event.document and record.message.table is None
            found.append(record.message.file)
    return found


def test_the_files_of_a_failed_boot_are_removed(tmp_path: Path) -> None:
    kept: list[Record] = []
    keeper = PacketKeeper(tmp_path, kept.append)
    for record in (
        start(0), trial(0, b"good"), end(0, "ok"),
        start(1), trial(1, b"bad"), trial(1, b"worse"), end(1, "failed"),
        start(2), trial(2, b"again"), end(2, "ok"),
    ):  # fmt: skip
        keeper(record)
    files = {path.name: path.read_bytes() for path in (tmp_path / "packets").iterdir()}
    assert files == {"000001.parquet": b"good", "000004.parquet": b"again"}
    # No two trials of a run have one name, whatever was removed between them.
    assert len(set(names(kept))) == 4


def test_a_run_that_goes_on_writes_no_file_twice(tmp_path: Path) -> None:
    for data in (b"first", b"second"):
        keeper = PacketKeeper(tmp_path, lambda _: None)
        keeper(start(0))
        keeper(trial(0, data))
        keeper(end(0, "ok"))
    files = sorted(path.read_bytes() for path in (tmp_path / "packets").iterdir())
    assert files == [b"first", b"second"]
