"""How long tasks between two hosts may take: a trial by its link, a boot by its other tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.experiments import registry
from pentathlon.experiments import two_hosts as pair
from pentathlon.experiments.descriptor import Experiment, Need
from pentathlon.experiments.file_services import trial
from pentathlon.experiments.file_services.descriptor import FILE_SERVICES
from pentathlon.machine.errors import TargetError
from pentathlon.protocol.events import Message
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.testbed.trial import Task
from tests.fakes.catalogs import catalog
from tests.fakes.messages import documents
from tests.fakes.scripted import ScriptedSession

PATIENCE_S = 60.0


def setup(timeout_s: float, slow: float = 1.0) -> Any:
    """Of ten files of 1 MB in all over 10 Mbit/s and 50 ms."""
    host = SimpleNamespace(slow=slow)
    testbed = SimpleNamespace(client=host, server=host, rate_bit_s=1e7, round_trip_s=0.05)
    held = SimpleNamespace(total=1_000_000, names=tuple("0123456789"))
    return SimpleNamespace(testbed=testbed, held=held, spec=SimpleNamespace(timeout_s=timeout_s))


def test_a_trial_may_take_what_its_link_needs_and_no_longer_than_the_study_says() -> None:
    # 0.8 s of bytes; a round trip for each 8 KiB, and 100 for each file.
    needs_s = 0.8 + 0.05 * (1_000_000 / 8192 + 100 * 10)
    assert trial._limit_s(setup(math.inf)) == pytest.approx(PATIENCE_S + 4 * needs_s)
    assert trial._limit_s(setup(math.inf, slow=4.0)) == pytest.approx(4 * PATIENCE_S + 4 * needs_s)
    assert trial._limit_s(setup(30.0)) == 30.0


class Clock:
    """Each task takes a hundred seconds."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return int(self.now * 1e9)

    def task(self, task: Task, *_: Any) -> Iterator[Message]:
        self.now += 100.0
        yield task.event(
            "sample", metric="time", case={}, unit="s", direction="lower", phase="measure",
            iteration=0, value=1.0, batch=1, elapsed_ns=1, counters={},
        )  # fmt: skip


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> pair.PairSession:
    clock = Clock()
    monkeypatch.setattr(pair, "time", clock)
    slow = Experiment("slow", Need[object]("pair"), {"network.traffic": clock.task})
    monkeypatch.setattr(registry, "EXPERIMENTS", (slow, FILE_SERVICES))
    first = ScriptedSession(lambda *_: [{"event": "done", "samples": 0, "errors": 0}], 0)
    host: Any = SimpleNamespace(found={})
    made = pair.PairSession("two", first, lambda _: (host, host), None, 1.0, catalog=catalog)
    made.file_service = SimpleNamespace(run=clock.task)  # type: ignore[assignment]
    return made


def done(session: pair.PairSession, *workloads: str) -> dict[str, Any]:
    request = Request(
        session="0" * 16, seed=7, workloads=[WorkloadRequest(id=name) for name in workloads]
    )
    return documents(session.run(request, 1.0, 150.0))[-1]


def test_file_tasks_do_not_count_for_the_limit_of_a_boot(session: pair.PairSession) -> None:
    last = done(session, *["files.copy", "files.open"] * 5, "network.traffic")
    assert last["event"] == "done" and last["samples"] == 11


def test_a_boot_whose_last_task_is_done_has_not_failed(session: pair.PairSession) -> None:
    last = done(session, "network.traffic", "network.traffic")
    assert last["event"] == "done" and last["samples"] == 2


def test_no_task_begins_after_the_limit(session: pair.PairSession) -> None:
    with pytest.raises(TargetError, match="the time limit is over"):
        done(session, "network.traffic", "network.traffic", "files.copy")


def test_a_histogram_of_the_first_host_keeps_its_count() -> None:
    """Only `progress` counts the workloads of the request."""
    where = {"workload": "cpu.x", "index": 0}
    play = [
        {"event": "progress", **where, "count": 1, "state": "start"},
        {
            "event": "histogram",
            **where,
            "process": 0,
            "metric": "m",
            "case": {},
            "unit": "ns",
            "direction": "lower",
            "phase": "measure",
            "iteration": 0,
            "elapsed_ns": 1,
            "counters": {},
            "count": 5,
            "lowest": 1,
            "highest": 1,
            "significant_digits": 2,
            "buckets": [[1, 5]],
        },
        {"event": "done", "samples": 1, "errors": 0},
    ]
    first = ScriptedSession(lambda *_: iter(play), 0)
    made = pair.PairSession("two", first, None, None, 1.0, catalog=catalog)
    request = Request(
        session="0" * 16, seed=7,
        workloads=[WorkloadRequest(id=name) for name in ("network.traffic", "cpu.x")],
    )  # fmt: skip
    parts = [
        event for _, event in made.run(request, 1.0, 150.0) if event.get("workload") == "cpu.x"
    ]
    events = {event["event"]: event for event in parts}
    assert (events["histogram"]["count"], events["histogram"]["index"]) == (5, 1)
    assert (events["progress"]["count"], events["progress"]["index"]) == (2, 1)
