"""A boot of two hosts: an experiment is driven as its descriptor in the registry says."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from pentathlon.experiments import registry
from pentathlon.experiments.descriptor import Experiment, Kind, Need
from pentathlon.experiments.two_hosts import PairSession, no_file_services, no_pair, no_testbed
from pentathlon.machine.errors import TargetError
from pentathlon.protocol.events import Message
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import Task
from tests.fakes.messages import documents
from tests.fakes.scripted import ScriptedSession

WORKLOAD = "echoes.count"


def declared() -> Catalog:
    """A catalog with the workload of a made-up experiment."""
    count = {"id": "echoes", "title": "Echoes", "unit": "count", "direction": "higher"}
    entry = {"id": WORKLOAD, "area": "echoes", "title": "Echoes", "metrics": [count], "hosts": 2}
    return parse_catalog({"protocol": 2, "catalog_version": 1, "agent": {}, "workloads": [entry]})


def counting(task: Task, testbed: Any) -> Iterator[Message]:
    """Asks the testbed once for each trial."""
    for when in task.phases():
        yield task.sample(
            task.parameters["yields"], {"of": "all"}, when, testbed.echoes(), seconds=1e-9
        )


def register(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    made_up = Experiment("echoes", Need[Any](kind), {WORKLOAD: counting})
    monkeypatch.setattr(registry, "EXPERIMENTS", (*registry.EXPERIMENTS, made_up))


class Testbed(SimpleNamespace):
    """Two hosts, a forwarder or links: an experiment cannot know which, but by its descriptor."""

    __test__ = False

    def echoes(self) -> float:
        self.calls = getattr(self, "calls", 0) + 1
        return 10.0 * self.calls

    found: ClassVar[dict[str, Any]] = {}


def play(session: PairSession, *, yields: str = "echoes") -> list[dict[str, Any]]:
    own = WorkloadRequest(id=WORKLOAD, parameters={"yields": yields}, warmup=1, iterations=2)
    request = Request(session="0" * 16, seed=7, workloads=[WorkloadRequest(id="memory.read"), own])
    return documents(session.run(request, 1.0, 60.0))


def session(kind: Kind | None) -> PairSession:
    """A boot that can make one kind of testbed, or none, and has an agent for one host."""
    done = {"event": "done", "samples": 3, "errors": 0}
    start = {"event": "progress", "workload": "memory.read", "index": 0, "state": "start"}
    first = ScriptedSession(lambda *_: [start, done], 0)
    testbed: Any = Testbed()
    bed: Any = SimpleNamespace(forwarder=testbed, echoes=testbed.echoes)
    made = PairSession(
        "two", first,
        (lambda _: Pair(testbed)) if kind == "pair" else None,
        (lambda _: bed) if kind == "forwarder" else None,
        1.0, catalog=declared, lacking=no_pair(),
    )  # fmt: skip
    made.file_service = testbed if kind == "links" else None
    return made


class Pair(tuple[Any, Any]):
    """Two hosts, of which the first hears the echoes."""

    __slots__ = ()

    def __new__(cls, host: Any) -> Any:
        return super().__new__(cls, (host, host))

    def echoes(self) -> Any:
        return self[0].echoes()


@pytest.mark.parametrize("kind", ["pair", "forwarder", "links"])
def test_a_registered_experiment_is_driven_on_the_testbed_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    register(monkeypatch, kind)
    events = play(session(kind))
    samples = [event for event in events if event["event"] == "sample"]
    assert [(one["phase"], one["iteration"], one["value"]) for one in samples] == [
        ("warmup", 0, 10.0), ("measure", 0, 20.0), ("measure", 1, 30.0),
    ]  # fmt: skip
    # The unit and the direction are the catalog's; no driver states them.
    assert {(one["unit"], one["direction"]) for one in samples} == {("count", "higher")}
    assert {(one["workload"], one["index"]) for one in samples} == {(WORKLOAD, 1)}
    # The agent of the first host has done the rest.
    assert (events[-1]["event"], events[-1]["samples"], events[-1]["errors"]) == ("done", 3 + 3, 0)
    assert any(event.get("index") == 0 for event in events)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("pair", no_pair()), ("forwarder", no_testbed()), ("links", no_file_services())],
)
def test_a_system_without_the_testbed_refuses_the_experiment(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, reason: str
) -> None:
    register(monkeypatch, kind)
    errors = [event for event in play(session(None)) if event["event"] == "error"]
    assert [(one["kind"], one["reason"]) for one in errors] == [("unsupported", reason)]


def test_an_metric_that_the_catalog_lacks_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(monkeypatch, "pair")
    events = play(session("pair"), yields="silence")
    assert [event for event in events if event["event"] == "sample"] == []
    (error,) = (event for event in events if event["event"] == "error")
    assert (error["kind"], error["reason"]) == (
        "failed",
        'the agent\'s catalog has no metric "silence" of echoes.count; '
        "use the agent and the experimenter of one release",
    )
    assert events[-1]["errors"] == 1


def test_without_a_catalog_no_experiment_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "pair")

    def broken() -> Catalog:
        raise TargetError('system "two": the agent does not start')

    without = session("pair")
    without._catalog = broken
    with pytest.raises(TargetError, match="the agent does not start"):
        play(without)


def test_what_a_testbed_cannot_do_is_told_with_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "links")
    made = session("links")

    def refuse() -> float:
        raise CommandError("no echo here", "unsupported")

    made.file_service.echoes = refuse  # type: ignore[union-attr]
    errors = [event for event in play(made) if event["event"] == "error"]
    assert [(one["kind"], one["reason"]) for one in errors] == [("unsupported", "no echo here")]
