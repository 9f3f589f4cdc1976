"""The stopping rule in a run: when it is asked, what it spares, and resuming beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.procedure.records import (
    BootStart,
    Decided,
    Record,
    RunEnd,
    StoppedEarly,
    from_json,
    to_json,
)
from pentathlon.procedure.runner import DecidedWorkloads, Judge, Runner
from pentathlon.procedure.state import RunState
from pentathlon.study.load import parse_study
from pentathlon.study.plan import make_plan
from pentathlon.study.problems import StudyError
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well


def run(
    records: list[Record],
    rule: Judge | None,
    blocks: int = 6,
    decided: DecidedWorkloads | None = None,
) -> RunState:
    """Go on where the records end, as a resumed run does."""
    plan = scripted.plan(blocks=blocks)
    state = RunState(plan)
    for record in records:
        state.apply(record)
    targets = {name: ScriptedTarget(name, well) for name in "ab"}
    Runner(
        plan,
        targets,
        records.append,
        catalog=scripted.catalog(),
        state=state,
        stopping_rule=rule,
        decided=decided,
    ).run()
    return state


def boots(records: list[Record]) -> list[tuple[int, str]]:
    return [(r.block, r.system) for r in records if isinstance(r, BootStart)]


def test_a_met_rule_spares_the_blocks_that_are_left():
    requests: list[int] = []

    def enough(blocks: int) -> str | None:
        requests.append(blocks)
        return "it is clear" if blocks == 4 else None

    records: list[Record] = []
    state = run(records, enough)
    assert requests == [1, 2, 3, 4]
    assert {block for block, _ in boots(records)} == {0, 1, 2, 3}
    assert not state.pending()
    assert state.steps_not_needed() == 2 * 2 * 3
    assert state.ended
    stop = next(r for r in records if isinstance(r, StoppedEarly))
    assert (stop.blocks, stop.reason) == (4, "it is clear")
    assert from_json(to_json(stop)) == stop


def test_without_a_rule_every_block_is_measured():
    records: list[Record] = []
    assert run(records, None).steps_not_needed() == 0
    assert len(boots(records)) == 12


def test_a_stopped_run_has_nothing_to_resume():
    records: list[Record] = []
    run(records, lambda blocks: "enough" if blocks == 2 else None)
    before = len(boots(records))
    run(records, lambda blocks: pytest.fail("the rule was met already"))
    assert len(boots(records)) == before


def test_a_cut_between_the_last_boot_and_the_answer_asks_again():
    records: list[Record] = []
    run(records, lambda blocks: "enough" if blocks == 3 else None)
    cut = [r for r in records if not isinstance(r, StoppedEarly | RunEnd)]
    requests: list[int] = []
    run(cut, lambda blocks: requests.append(blocks) or "enough")  # type: ignore[func-returns-value]
    assert requests == [3]
    assert {block for block, _ in boots(cut)} == {0, 1, 2}


def test_a_block_that_has_begun_is_measured_whole():
    records: list[Record] = []
    run(records, None, blocks=6)
    starts = [i for i, r in enumerate(records) if isinstance(r, BootStart) and r.block == 2]
    cut = records[: starts[1]]  # one system of block 2 is done
    run(cut, lambda blocks: "enough")
    assert {system for block, system in boots(cut) if block == 2} == {"a", "b"}
    assert max(block for block, _ in boots(cut)) == 2


def steps(records: list[Record], block: int) -> set[int]:
    """The plan's steps that the boots of a block were asked for."""
    return {
        step for r in records if isinstance(r, BootStart) and r.block == block for step in r.steps
    }


def test_what_is_decided_is_left_out_of_later_blocks():
    records: list[Record] = []
    found = {2: ["w.two"], 4: ["w.two", "w.one"]}
    state = run(records, None, decided=lambda blocks: found.get(blocks, []))
    names = {number: step.workload for number, step in enumerate(state.plan.steps["a"])}
    left = [{names[step] for step in steps(records, block)} for block in range(6)]
    assert left[:2] == [{"w.one", "w.two", "w.three"}] * 2
    assert left[2:4] == [{"w.one", "w.three"}] * 2
    assert left[4:] == [{"w.three"}] * 2
    assert state.decided == {"w.two": 2, "w.one": 4}
    assert not state.pending() and state.ended
    assert state.steps_not_needed() == 2 * 4 + 2 * 2
    kept = [record for record in records if isinstance(record, Decided)]
    assert [record.workloads for record in kept] == [["w.two"], ["w.one"]]
    assert [from_json(to_json(record)) for record in kept] == kept
    # A run that goes on after a cut knows what was decided, and does not take it up again.
    again = RunState(state.plan)
    for record in records:
        again.apply(record)
    assert again.decided == state.decided and not again.pending()


def test_a_cut_before_a_block_does_not_bring_back_what_was_decided():
    records: list[Record] = []
    run(records, None, decided=lambda blocks: ["w.two"] if blocks == 2 else [])
    at = next(i for i, r in enumerate(records) if isinstance(r, Decided))
    cut = records[: at + 1]
    run(cut, None, decided=lambda blocks: [])
    assert len(steps(cut, 1)) == 3
    assert all(len(steps(cut, block)) == 2 for block in range(2, 6))


def test_where_the_rule_is_met_nothing_is_left_to_leave_out():
    records: list[Record] = []
    run(records, lambda blocks: "enough", decided=lambda blocks: pytest.fail("was asked"))
    assert not any(isinstance(record, Decided) for record in records)


def study(procedure: str, evaluation: str = ""):
    text = scripted.STUDY.format(blocks=5, iterations=2, retries=1)
    text = text.replace("blocks = 5\n", procedure + "\n") + evaluation
    return parse_study(text, Path("s.toml"), scripted.catalog())


def test_the_plan_holds_the_most_blocks_and_its_hash_the_rule():
    targets = {name: {"layer": "none"} for name in "ab"}
    looks = study('stopping = { rule = "looks" }')
    plan = make_plan(looks, scripted.catalog(), targets)
    assert len(plan.blocks) == 30
    fixed = make_plan(study("blocks = 30"), scripted.catalog(), targets)
    assert fixed.blocks == plan.blocks
    assert fixed.hash() != plan.hash()
    assert type(plan).from_json(plan.canonical()) == plan
    kept = study('stopping = { rule = "looks", drop_decided = false }')
    written = make_plan(kept, scripted.catalog(), targets).canonical()
    assert "drop_decided" not in written and '"drop_decided":true' in plan.canonical()
    fewer = make_plan(looks, scripted.catalog(), targets, blocks=12)
    assert fewer.study.procedure.stopping.looks == (10, 12)
    assert fewer.study.procedure.stopping.drop_decided
    assert len(fewer.blocks) == 12


@pytest.mark.parametrize(
    ("procedure", "complaint"),
    [
        ('stopping = { rule = "look" }', 'use "fixed", "looks" or "precision"'),
        ('stopping = { rule = "looks", looks = [10, 5] }', "rising order"),
        ('stopping = { rule = "looks", looks = [2, 5] }', "at least 3 blocks"),
        ('blocks = 7\nstopping = { rule = "looks" }', "leave out blocks"),
        ('stopping = { rule = "fixed", drop_decided = true }', 'is for rule = "looks"'),
        ('stopping = { rule = "precision" }', "needs half_width_percent and maximum"),
        ('stopping = { rule = "fixed", maximum = 9 }', 'is for rule = "precision"'),
        (
            'stopping = { rule = "precision", half_width_percent = 1.0, maximum = 5 }',
            "at least 10",
        ),
    ],
)
def test_a_wrong_rule_is_answered_with_what_would_be_right(procedure, complaint):
    with pytest.raises(StudyError) as caught:
        study(procedure)
    assert complaint in str(caught.value)


def test_what_is_declared_must_be_measured():
    assert study("blocks = 5", '[evaluation]\ndeclared = ["w.one", "w.t*.time"]\n')
    with pytest.raises(StudyError, match=r"declares nothing.*did you mean"):
        study("blocks = 5", '[evaluation]\ndeclared = ["w.onne"]\n')
