"""Paired boots: the systems of a block are alive at once and take each case in turn."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import pytest

from pentathlon.machine.cpu_latency import CpuLatency
from pentathlon.machine.errors import TargetError
from pentathlon.procedure import pairing, runner
from pentathlon.procedure.pairing import Chosen, choose
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Message, Progress, Sample
from pentathlon.protocol.requests.session import Release, Request
from pentathlon.study.plan import Plan
from pentathlon.targets.contract import Session, Target
from tests.fakes import scripted
from tests.fakes.scripted import Play, ScriptedSession, ScriptedTarget, faulty, well
from tests.procedure.test_runner import complete

Taken = list[tuple[int, str, str]]
"""What was released, in order: block, system, and the workload with its case."""


class GatedSession(ScriptedSession):
    """Waits at each workload and at each case, and goes on only when it is released.

    Args:
        turns: it also waits at each measured batch.
    """

    def __init__(
        self, play: Play, boot: int, name: str, taken: Taken, *, turns: bool = False
    ) -> None:
        super().__init__(play, boot)
        self.name = name
        self.taken = taken
        self.turns = turns
        self.waits: tuple[int, str] | None = None

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        case = None
        for message in super().run(request, idle_timeout_s, total_timeout_s):
            event = message.event
            if request.gate is not None and isinstance(event, Progress) and event.state == "start":
                yield from self._wait(event.index, event.workload, None)
                case = None
            if request.gate is not None and isinstance(event, Sample) and event.case != case:
                case = event.case
                yield from self._wait(event.index, event.workload, event.case)
            turn = isinstance(event, Sample) and event.phase == "measure"
            if self.turns and request.gate is not None and turn:
                assert isinstance(event, Sample)
                yield from self._wait(event.index, event.workload, event.case, event.iteration)
            yield message

    def _wait(
        self, index: int, workload: str, case: dict[str, Any] | None, iteration: int | None = None
    ) -> Iterator[Message]:
        place = {"workload": workload, "index": index, "process": 0, "case": case}
        what = f"{workload} {json.dumps(case)}"
        if iteration is not None:
            place["iteration"] = iteration
            what += f" {iteration}"
        self.waits = index, what
        yield scripted.read({"t_ns": 0, "event": "ready", **place})
        assert self.waits is None, "it went on without its release"

    def release(self, release: Release) -> None:
        assert self.waits is not None and not self.stopped
        index, what = self.waits
        assert release.release == index
        self.taken.append((self._boot, self.name, what))
        self.waits = None


class GatedTarget(ScriptedTarget):
    turns = False

    def __init__(self, name: str, play: Play, taken: Taken, **fail: Any) -> None:
        super().__init__(name, play, **fail)
        self.taken = taken

    def boot(self, timeout_s: float) -> Session:
        super().boot(timeout_s)
        gated = GatedSession(self._play, self.boots - 1, self.name, self.taken, turns=self.turns)
        self.sessions[-1] = gated
        return gated


class Bench:
    def __init__(self, b: Play = well, blocks: int = 4, **fail: Any) -> None:
        plan = scripted.plan(blocks=blocks)
        self.plan = Plan.model_validate({**dict(plan), "pairing": "steps"})
        self.catalog = scripted.catalog()
        self.taken: Taken = []
        self.targets = {
            "a": GatedTarget("a", well, self.taken),
            "b": GatedTarget("b", b, self.taken, **fail),
        }
        self.records: list[Record] = []
        self.state = RunState(self.plan)

    def run(self, cpu_latency: CpuLatency | None = None) -> Bench:
        Runner(
            self.plan,
            self.targets,
            self._take,
            catalog=self.catalog,
            state=self.state,
            cpu_latency=cpu_latency,
        ).run()
        return self

    def _take(self, record: Record) -> None:
        self.records.append(record)

    def alive(self) -> list[set[str]]:
        """The systems that were alive at once, at each change."""
        found, now = [], set[str]()
        for record in self.records:
            if isinstance(record, BootStart):
                now.add(record.system)
            elif isinstance(record, BootEnd):
                now.discard(record.system)
            else:
                continue
            found.append(set(now))
        return found

    def counted(self) -> Counter[tuple[Any, ...]]:
        fold, found = RunState(self.plan), []
        for record in self.records:
            if isinstance(record, AgentEvent) and isinstance(record.message, Sample):
                e = record.message
                place = (e.case["size_bytes"], e.process, e.phase, e.iteration)
                step = fold.step_of(record)
                found.append(((record.block, record.system, step, record.attempt), place))
            fold.apply(record)
        return Counter(
            (where[:3], place)
            for where, place in found
            if where[2] is not None and fold.counted(*where)
        )


def test_each_case_is_taken_by_one_system_directly_after_the_other() -> None:
    bench = Bench().run()
    assert bench.counted() == Counter(complete(bench.plan))
    assert {"a", "b"} in bench.alive()
    assert [target.boots for target in bench.targets.values()] == [4, 4]
    pairs = list(zip(bench.taken[::2], bench.taken[1::2], strict=True))
    assert all(x[0] == y[0] and x[2] == y[2] and {x[1], y[1]} == {"a", "b"} for x, y in pairs)
    # 3 workloads with 2 cases each, and a gate of their own, in each block.
    assert len(pairs) == 4 * 3 * 3


def test_who_comes_first_is_balanced_over_the_blocks_for_each_case() -> None:
    bench = Bench(blocks=8).run()
    firsts: dict[str, list[str]] = defaultdict(list)
    for first, _ in zip(bench.taken[::2], bench.taken[1::2], strict=True):
        firsts[first[2]].append(first[1])
    assert {key: names.count("a") for key, names in firsts.items()} == dict.fromkeys(firsts, 4)
    # Not all cases alternate alike: within a block both orders occur.
    assert len({tuple(names) for names in firsts.values()}) > 1


def test_a_system_that_dies_is_measured_again_and_the_other_one_is_not() -> None:
    bench = Bench(faulty("w.two", "die", 1)).run()
    assert bench.counted() == Counter(complete(bench.plan))
    assert [f.system for f in bench.state.failures] == ["b"]
    assert bench.state.unresolved() == []
    assert bench.targets["b"].boots == bench.targets["a"].boots + 1
    assert all(one.stopped for target in bench.targets.values() for one in target.sessions)


def test_a_system_that_does_not_boot_leaves_the_other_one_to_run() -> None:
    bench = Bench(fail_boots={0: "no kernel"}).run()
    assert bench.counted() == Counter(complete(bench.plan))
    assert bench.targets["a"].boots == 4 and bench.targets["b"].boots == 5


def fewer(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
    """A system that has the second case of each workload only."""
    yield scripted.inventory(request)
    for index, task in enumerate(request["workloads"]):
        yield from scripted.started(task, index)
        for number in range(task["warmup"] + task["iterations"]):
            yield scripted.sample(task, index, 0, task["parameters"]["size_bytes"][1], number)
        yield scripted.ended(task, index)
    yield {"event": "done", "samples": 0, "errors": 0}


def test_cases_that_one_system_lacks_keep_the_others_in_pairs() -> None:
    bench = Bench(fewer).run()
    assert bench.state.unresolved() == []
    assert {"a", "b"} in bench.alive()
    both = [(block, what) for block, _, what in bench.taken if '"size_bytes": 2' in what]
    assert both and set(Counter(both).values()) == {2}
    neighbours = {(x[0], x[2]) for x, y in pairwise(bench.taken) if (x[0], x[2]) == (y[0], y[2])}
    assert len(neighbours & set(both)) >= len(set(both)) / 2


def test_an_interruption_ends_each_of_them() -> None:
    bench = Bench()

    def interrupt(record: Record) -> None:
        bench.records.append(record)
        if isinstance(record, AgentEvent) and isinstance(record.message, Sample):
            raise KeyboardInterrupt

    runner = Runner(
        bench.plan, bench.targets, interrupt, catalog=scripted.catalog(), state=bench.state
    )
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    ends = [record for record in bench.records if isinstance(record, BootEnd)]
    assert [(end.system, end.outcome) for end in ends] == [
        (boot.system, "interrupted") for boot in bench.plan.blocks[0]
    ]
    assert all(one.stopped for target in bench.targets.values() for one in target.sessions)


class TurnsBench(Bench):
    """Takes each measured batch in turn; notes releases and recorded samples in one order.

    Args:
        apart: whether a CPU is left on which no system measures.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, apart: bool, b: Play = well, blocks: int = 2
    ) -> None:
        super().__init__(b, blocks)
        self.plan = Plan.model_validate({**dict(self.plan), "pairing": "turns"})
        self.state = RunState(self.plan)
        monkeypatch.setattr(runner, "AVAILABLE", frozenset({0, 1} if apart else {1}))
        for target in self.targets.values():
            target.turns = True
            target.cpus = (1,)
        self.order: list[tuple[int, str, str]] = []
        """How many batches had been released, when the sample of a system was recorded."""

    def _take(self, record: Record) -> None:
        super()._take(record)
        sample = record.message if isinstance(record, AgentEvent) else None
        if isinstance(sample, Sample) and sample.phase == "measure":
            what = f"{sample.workload} {json.dumps(sample.case)} {sample.iteration}"
            self.order.append((len(self.taken), record.system, what))


@pytest.mark.parametrize("apart", [True, False])
def test_a_sample_is_recorded_once_the_next_batch_is_released_where_a_cpu_is_left(
    monkeypatch: pytest.MonkeyPatch, *, apart: bool
) -> None:
    bench = TurnsBench(monkeypatch, apart=apart)
    bench.run()
    assert bench.counted() == Counter(complete(bench.plan))
    released = {(block, name, what): n for n, (block, name, what) in enumerate(bench.taken, 1)}
    blocks = {0: bench.order[: len(bench.order) // 2], 1: bench.order[len(bench.order) // 2 :]}
    later = [
        known - released[block, name, what]
        for block, order in blocks.items()
        for known, name, what in order
    ]
    # The last sample of a boot, or of a step of it, has no batch after it at that time.
    assert max(later) == (1 if apart else 0)
    assert later.count(max(later)) >= len(later) / 2


@pytest.mark.parametrize("apart", [True, False])
def test_samples_of_a_system_that_dies_are_recorded_before_its_end(
    monkeypatch: pytest.MonkeyPatch, *, apart: bool
) -> None:
    bench = TurnsBench(monkeypatch, apart=apart, b=faulty("w.two", "die", 1))
    bench.run()
    assert bench.counted() == Counter(complete(bench.plan))
    ended = set()
    for record in bench.records:
        if isinstance(record, BootEnd):
            ended.add((record.block, record.system, record.attempt))
        elif isinstance(record, AgentEvent):
            assert (record.block, record.system, record.attempt) not in ended
    assert len(ended) == 2 * 2 + 1


class NotedLatency:
    """Notes the releases, and the limits of idle states, in one order."""

    def __init__(self, taken: Taken) -> None:
        self.now: int | None = None
        self.at_release: list[int | None] = []
        self._taken = taken

    def limit(self, us: int | None) -> None:
        self.note()
        self.now = us

    def note(self) -> None:
        """The limit that was in force at each release since the last change."""
        self.at_release += [self.now] * (len(self._taken) - len(self.at_release))


def test_cpus_stay_awake_for_cases_that_take_turns_and_for_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = TurnsBench(monkeypatch, apart=True)
    # Of w.one and w.two the cases of one byte take turns; w.two is a command; w.three has no turns.
    commands = {"w.two": {"definition": "0" * 64, "files": {}}}
    plan = {**dict(bench.plan), "commands": commands, "turns_up_to_bytes": 1}
    bench.plan = Plan.model_validate(plan)
    known = scripted.catalog()
    bench.catalog = known.model_copy(
        update={
            "workloads": [
                one.model_copy(update={"buffers": 0 if one.id == "w.three" else 1})
                for one in known.workloads
            ]
        }
    )
    noted = NotedLatency(bench.taken)
    bench.run(cast("CpuLatency", noted))
    assert noted.now is None
    awake = {what for what, us in zip(bench.taken, noted.at_release, strict=True) if us == 0}
    assert awake == {
        what
        for what in bench.taken
        if what[2] == "w.one null" or what[2].startswith('w.one {"size_bytes": 1}')
    }
    assert awake


def impatient(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
    """A system that claims a gate that is not its next one."""
    yield scripted.inventory(request)
    task = request["workloads"][-1]
    place = {"workload": task["id"], "index": len(request["workloads"]) - 1, "process": 0}
    yield {"event": "ready", **place, "case": None}


def test_a_gate_that_is_not_the_next_one_is_refused() -> None:
    bench = Bench(impatient, blocks=1).run()
    reasons = {end.reason for end in bench.records if isinstance(end, BootEnd) if end.reason}
    assert any("is not the next one" in str(reason) for reason in reasons), reasons
    assert bench.targets["a"].boots == 1


class Beside(ScriptedTarget):
    def __init__(self, name: str, why: str | None = None, held: int = 0) -> None:
        super().__init__(name, well)
        self.why, self.held = why, held

    def alone(self) -> str | None:
        return self.why

    @property
    def held_bytes(self) -> int:
        return self.held


def targets(**named: Beside) -> dict[str, Target]:
    return cast("dict[str, Target]", named)


def test_systems_are_paired_where_all_of_them_can_be_alive() -> None:
    both = targets(a=Beside("a"), b=Beside("b"))
    assert choose(None, both) == Chosen("steps") == choose("steps", both)
    assert choose("none", both) == Chosen("none")
    assert choose(None, targets(a=Beside("a"))) == Chosen("none")


def test_turns_are_limited_to_each_systems_share_of_the_second_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = targets(a=Beside("a"), b=Beside("b"))
    monkeypatch.setattr(pairing, "second_cache_bytes", lambda: 1 << 20)
    assert choose("turns", both) == Chosen("turns", None, 1 << 19)
    # Where it is not known, only cases without a size take turns.
    monkeypatch.setattr(pairing, "second_cache_bytes", lambda: None)
    assert choose("turns", both) == Chosen("turns", None, 0)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Beside("b", "it restarts"), 'system "b" is booted alone: it restarts'),
        (Beside("b", held=1 << 50), "more than half of the"),
    ],
)
def test_why_they_are_not_is_stated_and_refused_where_it_was_requested(
    other: Beside, reason: str
) -> None:
    mixed = targets(a=Beside("a"), b=other)
    way, why, _ = choose(None, mixed)
    assert way == "none" and why is not None and reason in why
    for requested in ("steps", "turns"):
        with pytest.raises(TargetError, match=reason.replace("(", r"\(")):
            choose(requested, mixed)
