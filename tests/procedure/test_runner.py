"""The runner and the fold over its records: retries, failures, interruptions, what is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from pentathlon.procedure.records import (
    AgentEvent,
    BootEnd,
    BootStart,
    Record,
    RunEnd,
    from_json,
    to_json,
)
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Sample
from pentathlon.protocol.version import PROTOCOL
from pentathlon.study.plan import Plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, faulty, well


class Bench:
    """A plan of two systems, run; `a` always works."""

    def __init__(self, plan: Plan, b: ScriptedTarget) -> None:
        self.plan = plan
        self.a, self.b = ScriptedTarget("a", well), b
        self.records: list[Record] = []
        self.state = RunState(plan)

    def run(self) -> Bench:
        targets = {"a": self.a, "b": self.b}
        Runner(
            self.plan, targets, self.records.append, catalog=scripted.catalog(), state=self.state
        ).run()
        return self

    def boots(self, system: str) -> list[BootStart]:
        return [r for r in self.records if isinstance(r, BootStart) and r.system == system]

    def counted(self) -> Counter[tuple[Any, ...]]:
        """Samples that are counted, by place; a second fold over the records decides."""
        fold, found = RunState(self.plan), []
        for record in self.records:
            if isinstance(record, AgentEvent) and isinstance(record.message, Sample):
                e = record.message
                step = fold.step_of(record)
                place = (e.case["size_bytes"], e.process, e.phase, e.iteration)
                found.append(((record.block, record.system, step, record.attempt), place))
            fold.apply(record)
        assert fold.failures == self.state.failures
        return Counter(
            (where[:3], place)
            for where, place in found
            if where[2] is not None and fold.counted(*where)
        )


def complete(plan: Plan, without: tuple[str, str] | None = None) -> set[tuple[Any, ...]]:
    """Every sample that the plan demands, but those of one workload of one system."""
    wanted = set()
    for block, boots in enumerate(plan.blocks):
        for boot in boots:
            for number in boot.steps:
                step = plan.steps[boot.system][number]
                if (boot.system, step.workload) == without:
                    continue
                for size in step.parameters["size_bytes"]:
                    for process in range(step.processes):
                        where = (block, boot.system, number)
                        wanted |= {
                            (where, (size, process, "warmup", i)) for i in range(step.warmup)
                        }
                        wanted |= {
                            (where, (size, process, "measure", i)) for i in range(step.iterations)
                        }
    return wanted


def test_a_run_without_faults() -> None:
    bench = Bench(scripted.plan(blocks=3), ScriptedTarget("b", well)).run()
    order = [(r.block, r.system) for r in bench.records if isinstance(r, BootStart)]
    assert order == [
        (block, boot.system) for block, boots in enumerate(bench.plan.blocks) for boot in boots
    ]
    for start in bench.boots("a"):
        planned = [boot for boot in bench.plan.blocks[start.block] if boot.system == "a"]
        assert start.steps == list(planned[0].steps)
    assert bench.counted() == Counter(complete(bench.plan))
    assert bench.state.ended and not bench.state.pending() and not bench.state.failures
    assert all(session.stopped for session in bench.a.sessions)


def test_a_boot_that_fails_is_tried_again() -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", well, {0: "no kernel"})).run()
    assert [start.attempt for start in bench.boots("b")] == [0, 1, 0]
    assert bench.counted() == Counter(complete(bench.plan))
    [failure] = bench.state.failures
    assert (failure.stage, failure.kind, failure.reason) == ("boot", "boot", "no kernel")
    assert bench.state.unresolved() == []


def test_a_system_that_never_boots_does_not_stop_the_others() -> None:
    broken = ScriptedTarget("b", well, dict.fromkeys(range(99), "no kernel"))
    bench = Bench(scripted.plan(blocks=2, retries=2), broken).run()
    assert broken.boots == 2 * 3
    assert {where[1] for where, _ in bench.counted()} == {"a"}
    assert len(bench.state.unresolved()) == 6
    assert bench.state.ended and not bench.state.pending()


@pytest.mark.parametrize("kind", ["die", "silent", "failed", "timeout", "skip"])
def test_a_step_that_fails_once_is_measured_in_a_new_boot(kind: str) -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", faulty("w.two", kind, times=1))).run()
    assert bench.counted() == Counter(complete(bench.plan))
    assert len(bench.boots("b")) == 3
    assert bench.state.failures and bench.state.unresolved() == []


@pytest.mark.parametrize("kind", ["die", "silent", "failed"])
def test_a_step_that_always_fails_costs_only_itself(kind: str) -> None:
    bench = Bench(scripted.plan(retries=1), ScriptedTarget("b", faulty("w.two", kind))).run()
    assert bench.counted() == Counter(complete(bench.plan, without=("b", "w.two")))
    assert {f.workload for f in bench.state.unresolved()} == {"w.two"}
    assert bench.state.ended


def test_what_a_system_cannot_do_is_an_answer() -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", faulty("w.two", "unsupported"))).run()
    assert len(bench.boots("b")) == 2, "no boot is spent on trying again"
    assert {f.kind for f in bench.state.failures} == {"unsupported"}
    assert len(bench.state.failures) == 2 and bench.state.unresolved() == []


def test_samples_beside_a_failure_are_counted_and_the_failure_is_kept() -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", faulty("w.two", "partial"))).run()
    assert len(bench.boots("b")) == 2
    assert all(count == 1 for count in bench.counted().values())
    assert {f.workload for f in bench.state.unresolved()} == {"w.two"}


def test_noise_that_strikes_once_is_measured_again() -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", faulty("w.two", "noise", times=1))).run()
    assert [start.steps for start in bench.boots("b")][1] == [
        number for number, step in enumerate(bench.plan.steps["b"]) if step.workload == "w.two"
    ]
    assert bench.counted() == Counter(complete(bench.plan))
    assert len(bench.state.failures) == 1 and bench.state.unresolved() == []


def test_noise_that_stays_is_taken_as_it_is() -> None:
    """After the last retry the samples count, and what was invalid stays a failure."""
    bench = Bench(scripted.plan(retries=1), ScriptedTarget("b", faulty("w.two", "noise"))).run()
    assert len(bench.boots("b")) == 4
    assert all(count == 1 for count in bench.counted().values())
    own = [place for place in bench.counted() if place[0][1] == "b"]
    assert len(own) == len(complete(bench.plan)) / 2 - 2, "each block lacks one sample"
    assert len(bench.state.failures) == 4 and len(bench.state.unresolved()) == 2


def test_no_retries() -> None:
    bench = Bench(scripted.plan(retries=0), ScriptedTarget("b", faulty("w.two", "die"))).run()
    assert bench.counted() == Counter(complete(bench.plan, without=("b", "w.two")))


class Stop(BaseException):
    """What a signal raises."""


@pytest.mark.parametrize("after", range(0, 140, 3))
def test_an_interrupted_run_goes_on_where_it_was(after: int) -> None:
    """A run stopped after any event reports it, and a second run completes the plan."""
    seen = [0]

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        for event in well(request, boot):
            if seen[0] == after:
                seen[0] += 1
                raise Stop("stopped")
            seen[0] += 1
            yield event

    plan = scripted.plan(blocks=2)
    bench = Bench(plan, ScriptedTarget("b", play))
    try:
        bench.run()
    except Stop:
        *_, boot_end, run_end = bench.records
        assert isinstance(boot_end, BootEnd) and boot_end.outcome == "interrupted"
        assert isinstance(run_end, RunEnd) and run_end.outcome == "interrupted"
        assert bench.b.sessions[-1].stopped
        bench.run()
    assert bench.counted() == Counter(complete(plan))
    assert bench.state.failures == []
    assert bench.state.ended


def test_records_survive_json() -> None:
    bench = Bench(scripted.plan(), ScriptedTarget("b", faulty("w.two", "die", times=1))).run()
    for record in bench.records:
        assert from_json(to_json(record)) == record


@pytest.mark.parametrize(
    "document", [{}, {"record": "x"}, {"record": ["run-end"]}, {"record": "run-end", "utc": ""}]
)
def test_a_record_that_is_none(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="record"):
        from_json(document)


def test_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[dict[str, Any]] = []

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        requests.append(request)
        yield from well(request, boot)

    plan = scripted.plan(blocks=1)
    Bench(plan, ScriptedTarget("b", play)).run()
    [request] = requests
    assert request["protocol"] == PROTOCOL and request["seed"] == plan.study.seed
    assert "placement" not in request and "scratch" not in request, "the target adds these"
    boot = next(boot for boot in plan.blocks[0] if boot.system == "b")
    assert request["workloads"] == [
        plan.steps["b"][number].task().model_dump(exclude_none=True) for number in boot.steps
    ]


def test_a_stop_that_fails_is_recorded_as_the_end_of_the_boot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(_: scripted.ScriptedSession) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(scripted.ScriptedSession, "stop", stop)
    bench = Bench(scripted.plan(blocks=1), ScriptedTarget("b", well)).run()
    ends = [one for one in bench.records if isinstance(one, BootEnd)]
    assert [one.system for one in ends] == [boot.system for boot in bench.plan.blocks[0]]
    assert all("Bad file descriptor" in (one.reason or "") for one in ends)
    assert isinstance(bench.records[-1], RunEnd)
