"""Streams of events that no agent should send: a boot fails with one sentence, and nothing else."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from pentathlon.cli.main import app
from pentathlon.machine.errors import TargetError
from pentathlon.procedure.admission import Admission, EventRefused
from pentathlon.procedure.records import BootStart, Record, RunStart
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import read
from pentathlon.store.directory import fill_directory, make_directory
from pentathlon.store.journal import JournalWriter, read_journal
from pentathlon.store.packets import PacketKeeper
from pentathlon.store.query import load_result
from pentathlon.study.load import LoadedStudy
from pentathlon.study.plan import Plan
from pentathlon.targets.lines import MOST_RECORDS, EventLines
from tests.cli.conftest import Shop
from tests.hostile import streams
from tests.hostile.streams import StreamTarget

pytestmark = pytest.mark.slow

SEEDS = range(3)
BLOCKS = 30
"""Boots of the system `b`, each with a spoilt stream."""


class Cut(BaseException):
    """The end of a run in its middle."""


def begin(directory: Path, plan: Plan) -> None:
    make_directory(directory, plan.study.name)
    first = RunStart(
        plan_hash=plan.hash(), study_file="/nowhere/hostile.toml", study_sha256="0", blocks=None,
        version="0", pid=1, notes=[],
    )  # fmt: skip
    loaded = LoadedStudy(Path("/nowhere/hostile.toml"), "text", plan.study)
    fill_directory(directory, loaded, plan, streams.catalog(), first)


def measure(directory: Path, plan: Plan, b: StreamTarget, cut_after: int | None) -> None:
    """Go on with a result as `run` and `run --resume` do; `cut_after` so many boots it is cut."""
    state = RunState(plan)
    for record in read_journal(directory):
        state.apply(record)
    boots = 0

    def watch(record: Record) -> None:
        nonlocal boots
        if isinstance(record, BootStart):
            boots += 1
            b.spoil = record.attempt == 0
            if boots == cut_after:
                raise Cut

    journal = JournalWriter(directory)
    targets = {"a": StreamTarget("a", directory.parent), "b": b}
    keeper = PacketKeeper(directory, journal.append)
    try:
        Runner(plan, targets, keeper, catalog=streams.catalog(), state=state, observer=watch).run()
    finally:
        journal.close()


def shown(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code != 70 and "Traceback" not in done.output, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.fixture(scope="module")
def request_of_both() -> dict[str, Any]:
    steps = streams.plan(1).steps["a"]
    return {"session": "abc", "workloads": [step.task().model_dump() for step in steps]}


def admission(request: dict[str, Any]) -> Admission:
    return Admission(streams.plan(1).steps["a"], streams.catalog(), request["session"])


def refusal(request: dict[str, Any], spoil: Callable[[list[dict[str, Any]]], object]) -> str:
    """What is stated of a stream that was changed in one place."""
    events = streams.answer(request)
    spoil(events)
    with pytest.raises(EventRefused) as refused:
        for _ in admission(request).admit(map(read, events)):
            pass
    return str(refused.value)


def place(events: list[dict[str, Any]], kind: str, **having: Any) -> int:
    return next(
        n for n, event in enumerate(events)
        if event["event"] == kind and having.items() <= event.items()
    )  # fmt: skip


def test_what_is_right_is_admitted(request_of_both: dict[str, Any]) -> None:
    events = streams.answer(request_of_both)
    admitted = list(admission(request_of_both).admit(map(read, events)))
    assert [message.document for message in admitted] == events
    assert [message.event.event for message in admitted] == [event["event"] for event in events]


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("inventory", {"session": "other"}, "session is 'other', the request's is 'abc'"),
        ("sample", {"unit": "s"}, "unit is 's', the catalog has \"ns\""),
        ("sample", {"direction": "higher"}, "direction is 'higher', the catalog has \"lower\""),
        ("sample", {"workload": "w.two"}, "workload is 'w.two', that of the step is \"w.one\""),
        ("sample", {"metric": "latency"}, "w.one has no metric 'latency'"),
        ("sample", {"index": 1}, "it is of step 1, and the step that is going on is 0"),
        ("sample", {"index": -1}, "index is -1, expected 0 to"),
        ("sample", {"index": True}, "index is True, expected a whole number"),
        ("sample", {"phase": "meacure"}, "phase is 'meacure'"),
        ("sample", {"process": 1}, "process is 1, expected 0 to 0"),
        ("sample", {"iteration": 4000}, "iteration is 4000"),
        ("sample", {"value": math.inf}, "value is inf, expected a finite number"),
        ("sample", {"value": math.nan}, "value is nan, expected a finite number"),
        ("sample", {"value": 10**400}, "a number of more than 64 bits, expected a finite"),
        ("sample", {"value": "1"}, "value is '1', expected a number"),
        ("sample", {"batch": 1 << 64}, "batch is a number of more than 64 bits"),
        ("sample", {"elapsed_ns": -1}, "elapsed_ns is -1, expected a time"),
        ("sample", {"t_ns": 1 << 63}, "t_ns is 9223372036854775808"),
        ("sample", {"checksum": 5}, "checksum is 5, expected a text"),
        ("sample", {"counters": {"cycles": -1}}, "the counter 'cycles' is -1"),
        ("sample", {"case": {"size_bytes": 7}}, "the factor size_bytes is 7, and 1 is measured"),
        ("sample", {"case": {"other": 7}}, "w.one has no factor 'other'"),
        ("sample", {"case": {"size_bytes": [1]}}, "case is an object, expected factors and"),
        ("histogram", {"buckets": [[4, 1], [9, 3]]}, "3 values are announced and 4 are in"),
        ("histogram", {"buckets": [[9, 1], [4, 2]]}, "the buckets are not in ascending order"),
        ("histogram", {"highest": 10}, "its values reach from 4 to 10, its buckets to 9"),
        ("progress", {"index": 2}, "there is no step 2, the request has 2"),
        ("progress", {"state": "begin"}, "state is 'begin'"),
        (
            "counter",
            {"value": {"workload": "w.two", "case": {}, "reads": []}},
            "workload is 'w.two'",
        ),
        ("counter", {"value": {"workload": "w.two"}}, "case is missing, expected an object"),
        ("picture", {"jpeg": None}, "jpeg is missing, expected a text"),
        ("log", {"message": "x" * 70_000}, "message has 70000 characters, at most 65536"),
        ("done", {"samples": "all"}, "samples is 'all', expected a whole number"),
        ("log", {"event": "link", "profile": "x"}, "the workload runs on one host"),
        ("log", {"event": "files"}, "workload is missing, expected a text"),
        ("log", {"event": "other"}, "the protocol has no event of that name"),
    ],
)
def test_what_is_wrong_is_said(
    kind: str, change: dict[str, Any], message: str, request_of_both: dict[str, Any]
) -> None:
    at = place(streams.answer(request_of_both), kind)

    def spoil(events: list[dict[str, Any]]) -> None:
        events[at].update(change)

    text = refusal(request_of_both, spoil)
    assert message in text and "\n" not in text
    name = change.get("event", kind)
    assert text.startswith(f'event {at + 1} of the agent, "{name}", is refused: ')


def test_the_order_is_kept(request_of_both: dict[str, Any]) -> None:
    def twice(events: list[dict[str, Any]]) -> None:
        at = place(events, "sample")
        events.insert(at, dict(events[at]))

    def after_its_end(events: list[dict[str, Any]]) -> None:
        sample = events.pop(place(events, "sample"))
        events.insert(place(events, "progress", state="end") + 1, sample)

    def without_inventory(events: list[dict[str, Any]]) -> None:
        del events[0]

    def started_again(events: list[dict[str, Any]]) -> None:
        start = events[place(events, "progress", state="start")]
        events.insert(place(events, "progress", state="end") + 1, dict(start))

    assert "iteration 0 of w.one.time (warmup) comes twice" in refusal(request_of_both, twice)
    assert "no step is going on" in refusal(request_of_both, after_its_end)
    assert 'before the session\'s "inventory"' in refusal(request_of_both, without_inventory)
    assert "step 0 (w.one) has ended already" in refusal(request_of_both, started_again)


BROKEN = {
    '{"event":"log","x":NaN}': "NaN is no number",
    '{"event":"log","x":1e400}': "the number 1e400 is larger than any",
    '{"event":"log","x":"\\ud800"}': "half of a surrogate pair",
    f'{{"event":"log","x":{"[" * 40}{"]" * 40}}}': "nested deeper than 32 levels",
    f'{{"event":"log","x":{streams.DEEP}}}': "nested deeper than 32 levels",
    f'{{"event":"log","x":{"9" * 5000}}}': "no JSON",
    '{"event":"records","flow":0,"kind":"sent","bytes":5}': "none were requested",
}


@pytest.mark.parametrize("line", BROKEN)
def test_lines_that_cannot_be_recorded(line: str) -> None:
    with pytest.raises(TargetError, match=BROKEN[line]):
        EventLines([]).feed(line.encode() + b"\n")


@pytest.mark.parametrize("size", [10**15, MOST_RECORDS + 1, -1, True, 2.0, "5", None])
def test_the_bytes_that_are_announced_are_bounded(size: Any) -> None:
    event = {"event": "records", "flow": 0, "kind": "sent", "bytes": size}
    with pytest.raises(TargetError, match=r"announced records of .* bytes"):
        EventLines([], records=True).feed(json.dumps(event).encode() + b"\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event":"sample","t_ns":1,"value":NaN}', "NaN is no number"),
        ('{"event":"records","t_ns":1,"bytes":1000000000000000}', "none were requested"),
        ('{"event":"log","t_ns":1,"level":"info","message":"\\ud800"}', "half of a surrogate"),
    ],
)
def test_a_run_with_a_line_that_no_agent_should_send(
    line: str, message: str, tmp_path: Path
) -> None:
    shop = Shop(tmp_path)
    fault = {"kind": "line", "workload": "fake.beta", "line": line, "times": 1}
    shop.options = {"faults": [fault]}
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report", "--blocks", "1")
    assert done.code == 0, done.err
    result = load_result(shop.result())
    counted = result.samples().filter(pl.col("counted") & (pl.col("phase") == "measure"))
    assert counted.height == 2 * 3 * 3 * 3
    [failure] = result.failures().iter_rows(named=True)
    assert message in failure["reason"] and failure["resolved"]
    assert shop.call("results", "show", shop.result()).code == 0
    assert shop.call("compare", shop.result()).code == 0


def test_a_value_that_is_put_in_is_a_copy() -> None:
    """Else what is done to one stream would change those that come after it."""
    kinds = set()
    for seed in range(200):
        events: list[dict[str, Any]] = [{"value": 0}]
        streams._value(events, Random(seed))
        found = events[0]["value"]
        kinds.add(type(found))
        if isinstance(found, list | dict):
            assert not any(found is one for one in streams.VALUES)
    assert kinds >= {list, dict}


def test_spoilt_streams_are_admitted_or_refused() -> None:
    ends = streams.streams(500, 1)
    assert ends.total() == 500 and min(ends["read"], ends["refused"]) > 20


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spoilt_stream_costs_its_boot(seed: int, tmp_path: Path) -> None:
    plan, directory = streams.plan(BLOCKS), tmp_path / "result"
    begin(directory, plan)
    b = StreamTarget("b", tmp_path, Random(seed))
    with pytest.raises(Cut):
        measure(directory, plan, b, cut_after=BLOCKS)
    measure(directory, plan, b, None)
    assert b.spoilt >= BLOCKS - 1, "the boot that was cut may be one of them"

    result = load_result(directory)
    result.refresh()
    assert result.finished
    counted = load_result(directory).samples().filter(pl.col("counted"))
    known = {("w.one.time", "ns", "lower"), ("w.two.p50", "us", "lower")}
    found: Counter[tuple[Any, ...]] = Counter()
    for row in counted.iter_rows(named=True):
        # A byte that turns one number into another leaves a stream of another, whole case.
        assert row["system"] == "b" or row["case"] in ("size_bytes=1", "size_bytes=2")
        assert re.fullmatch(r"size_bytes=\d+", row["case"])
        assert row["key"] == f"{row['workload']}.{row['metric']}[{row['case']}]"
        assert (row["key"].partition("[")[0], row["unit"], row["direction"]) in known
        assert math.isfinite(row["value"])
        names = ("boot", "key", "phase", "process", "iteration")
        found[tuple(row[name] for name in names)] += 1
    assert set(found.values()) == {1}, "no sample comes twice"
    of_a = counted.filter((pl.col("system") == "a") & (pl.col("phase") == "measure"))
    assert of_a.height == BLOCKS * 2 * 2 * 3
    failures = load_result(directory).failures()
    assert failures.height > BLOCKS / 3
    for row in failures.iter_rows(named=True):
        assert row["system"] == "b" and "\n" not in row["reason"]
        assert len(row["reason"]) < 1000

    assert "hostile" in shown("results", "show", directory)
    assert "w.one" in shown("compare", directory)
