"""What is done before a system is measured: units, verdicts, failures, going on after a cut."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.procedure.attempt import limits
from pentathlon.procedure.records import BootStart, Preparation, Record, from_json, to_json
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.study.load import parse_study
from pentathlon.study.plan import Plan, make_plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

SETTLE = '{ do = "settle", quiet_s = 1, limit_s = 2 }'


def plan(steps: str, retries: int = 1) -> Plan:
    text = scripted.STUDY.format(blocks=2, iterations=1, retries=retries)
    text = text.replace('name = "b"\n', f'name = "b"\nsteps = {steps}\n')
    study = parse_study(text, Path("scripted.toml"), scripted.catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    return make_plan(study, scripted.catalog(), targets)


def prepared(request: dict[str, Any], boot: int, *, learns: bool = True) -> Iterator[Any]:
    """A system that answers each step, and whose settling never succeeds."""
    yield scripted.inventory(request)
    for index, step in enumerate(request.get("prepare", [])):
        where = {"event": "step", "index": index, "do": step["do"], "seconds": 1.0}
        yield {**where, "state": "start", "outcome": None, "reason": None, "detail": None}
        outcome, reason, detail = "done", None, {}
        if step["do"] == "settle":
            outcome, reason = "not settled", "CPU 34.0 % (at most 5 %)"
        if step["do"] == "record":
            detail = {"learns_from_use": {"value": learns, "evidence": []}}
        end = {"state": "end", "outcome": outcome, "reason": reason, "detail": detail}
        yield {**where, **end}
    yield from list(well(request, boot))[1:]


class Bench:
    def __init__(self, plan: Plan, b: ScriptedTarget) -> None:
        self.plan = plan
        self.targets = {"a": ScriptedTarget("a", well), "b": b}
        self.records: list[Record] = []

    def run(self, sink: Any = None) -> RunState:
        state = RunState(self.plan)
        for record in self.records:
            state.apply(record)

        def keep(record: Record) -> None:
            self.records.append(from_json(to_json(record)))
            if sink is not None:
                sink(record)

        Runner(self.plan, self.targets, keep, catalog=scripted.catalog(), state=state).run()
        return state

    def done(self) -> list[tuple[str, str]]:
        return [
            (r.do, r.unit)
            for r in self.records
            if isinstance(r, Preparation) and r.state == "end" and r.outcome == "done"
        ]


def test_steps_once_come_before_the_first_boot_and_the_others_are_in_each() -> None:
    requests: list[dict[str, Any]] = []

    def play(request: dict[str, Any], boot: int) -> Iterator[Any]:
        requests.append(request)
        return prepared(request, boot)

    bench = Bench(plan(f'["record", "train", "idle", {SETTLE}]'), ScriptedTarget("b", play))
    state = bench.run()
    workloads = [step.workload for step in bench.plan.steps["b"]]
    wanted = [("record", "")]
    wanted += [("train", f"{w}#{n}") for n in range(1, 6) for w in workloads]
    assert bench.done() == wanted
    kinds = [type(r) for r in bench.records if getattr(r, "system", "") == "b"]
    last = max(i for i, kind in enumerate(kinds) if kind is Preparation)
    assert kinds.index(BootStart) > last
    measured = [r for r in requests if r["inventory"]]
    assert [[s["do"] for s in r["prepare"]] for r in measured] == [["idle", "settle"]] * 2
    assert measured[0]["prepare"][1]["after_boot_s"] == 600.0
    assert state.ended and not state.failures
    # Training is not measured: its samples are in no record.
    assert all(len(r["workloads"]) == 1 for r in requests if not r["inventory"] and r["workloads"])


def test_a_plan_with_steps_is_read_back_as_it_was() -> None:
    made = plan(f'["fresh", "record", "train", "idle", {SETTLE}]')
    assert Plan.from_json(made.canonical()) == made
    assert Plan.from_json(made.canonical()).hash() == made.hash()


def test_what_settling_found_is_kept_and_the_boot_is_measured() -> None:
    bench = Bench(plan(f"[{SETTLE}]"), ScriptedTarget("b", prepared))
    state = bench.run()
    assert [(v.block, v.system, v.outcome) for v in state.verdicts] == [
        (0, "b", "not settled"),
        (1, "b", "not settled"),
    ]
    assert state.verdicts[0].reason == "CPU 34.0 % (at most 5 %)"
    assert state.finished_steps() == bench.plan.step_count() and not state.failures


@pytest.mark.parametrize(
    ("steps", "learns", "outcome", "reason"),
    [
        ('["record", "train"]', False, "not needed", "does not learn"),
        ('["train"]', True, "unsupported", "give times"),
        ('["record", { do = "train", times = 0 }]', True, "not needed", "does not learn"),
        ('["fresh"]', True, "unsupported", "give the step a command"),
        ('[{ do = "fresh", command = "exit 0" }]', True, "done", "exit 0"),
    ],
)
def test_what_is_not_done_is_said(steps: str, learns: bool, outcome: str, reason: str) -> None:
    def play(request: dict[str, Any], boot: int) -> Iterator[Any]:
        return prepared(request, boot, learns=learns)

    bench = Bench(plan(steps), ScriptedTarget("b", play))
    state = bench.run()
    end = [r for r in bench.records if isinstance(r, Preparation) and r.state == "end"][-1]
    assert end.outcome == outcome
    assert reason in str(end.reason)
    assert not state.failures


def test_a_system_that_forgets_is_not_trained() -> None:
    class Guest(ScriptedTarget):
        persistent = False

    bench = Bench(plan('["fresh", "record", { do = "train", times = 3 }]'), Guest("b", prepared))
    bench.run()
    ends = {
        r.do: r.outcome for r in bench.records if isinstance(r, Preparation) and r.state == "end"
    }
    assert ends == {"fresh": "done", "record": "done", "train": "unsupported"}


def test_a_step_that_fails_is_tried_again_and_is_a_failure_at_last() -> None:
    bench = Bench(
        plan('[{ do = "fresh", command = "echo no disk >&2; exit 7" }]', retries=2),
        ScriptedTarget("b", well),
    )
    state = bench.run()
    outcomes = [r.outcome for r in bench.records if isinstance(r, Preparation) and r.outcome]
    assert outcomes == ["again", "again", "failed"]
    [failure] = state.unresolved()
    assert (failure.stage, failure.system) == ("preparation", "b")
    assert "no disk" in failure.reason
    assert state.finished_steps() == bench.plan.step_count(), "the study goes on"


def test_a_boot_that_fails_once_in_training_is_made_good() -> None:
    target = ScriptedTarget("b", prepared, {2: "no kernel"})
    bench = Bench(plan('["record", { do = "train", times = 2 }]'), target)
    state = bench.run()
    assert not state.failures
    assert len(bench.done()) == 1 + 2 * len(bench.plan.steps["b"])


class Stop(BaseException):
    """What a signal raises."""


@pytest.mark.parametrize("after", range(0, 60, 2))
def test_a_cut_run_goes_on_in_the_middle_of_training_and_of_settling(after: int) -> None:
    """Every piece of the preparation is done once, and every step measured once."""
    bench = Bench(
        plan(f'["record", {{ do = "train", times = 2 }}, {SETTLE}]'), ScriptedTarget("b", prepared)
    )
    seen = [0]

    def cut(record: Record) -> None:
        seen[0] += 1
        if seen[0] == after:
            raise Stop

    with contextlib.suppress(Stop):
        bench.run(cut)
    state = bench.run()
    done = bench.done()
    assert len(done) == len(set(done)) == 1 + 2 * len(bench.plan.steps["b"])
    assert state.ended and state.finished_steps() == bench.plan.step_count()
    settled = [v for v in state.verdicts if v.system == "b"]
    assert {v.block for v in settled} == {0, 1}


def test_an_agent_that_says_nothing_of_its_step_has_failed() -> None:
    bench = Bench(plan('["record"]', retries=0), ScriptedTarget("b", well))
    state = bench.run()
    assert "reported nothing about the step" in state.failures[0].reason


def test_the_limit_of_a_request_covers_its_settling() -> None:
    made = plan('[{ do = "settle", after_boot_s = 600, quiet_s = 30, limit_s = 900 }]')
    steps = list(made.steps["b"])
    alone, longer = limits(steps), limits(steps, made.preparation["b"])
    assert longer[0] == alone[0], "while it waits the agent says so"
    assert longer[1] == alone[1] + 1500


def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(TargetError, match=r"did not end within 0\.2 s"):
        ScriptedTarget("b", well).renew("sleep 5", 0.2)
