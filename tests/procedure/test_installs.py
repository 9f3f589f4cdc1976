"""Several installs: when each system is made anew, and what the blocks of each are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from pentathlon.procedure.records import BootStart, Preparation, Record, from_json, to_json
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.study.load import parse_study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.study.problems import StudyError
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

FRESH = 'steps = [{ do = "fresh", command = "true" }]'


def study_text(blocks: int, installs: int, more: str = FRESH) -> str:
    text = scripted.STUDY.format(blocks=blocks, iterations=1, retries=0)
    return text.replace("[procedure]", f"[procedure]\ninstalls = {installs}\n{more}")


def plan(blocks: int, installs: int) -> Plan:
    study = parse_study(study_text(blocks, installs), Path("scripted.toml"), scripted.catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    return make_plan(study, scripted.catalog(), targets)


class Guest(ScriptedTarget):
    """A guest: what `renew` makes lives as long as the target."""

    persistent: ClassVar[bool] = False


def run(made: Plan, records: list[Record], stop_at: int | None = None, kind: Any = Guest) -> Any:
    """One run of a plan that goes on after the records, cut off at some boot if asked."""
    state = RunState(made)
    for record in records:
        state.apply(record)

    def keep(record: Record) -> None:
        if isinstance(record, BootStart) and record.block == stop_at:
            raise KeyboardInterrupt
        records.append(from_json(to_json(record)))

    targets = {name: kind(name, well) for name in ("a", "b")}
    Runner(made, targets, keep, catalog=scripted.catalog(), state=state).run()
    return targets


def booted(records: list[Record]) -> list[tuple[int, str, str]]:
    return sorted((r.block, r.system, r.install) for r in records if isinstance(r, BootStart))


def fresh(records: list[Record]) -> list[tuple[str, str]]:
    ends = [r for r in records if isinstance(r, Preparation) and r.state == "end"]
    return [(r.system, r.unit) for r in ends if r.do == "fresh"]


def test_blocks_are_shared_out_evenly_and_in_order() -> None:
    assert [plan(6, 3).install_of(block) for block in range(6)] == [0, 0, 1, 1, 2, 2]
    uneven = [plan(7, 3).install_of(block) for block in range(7)]
    assert uneven == sorted(uneven)
    assert {uneven.count(install) for install in range(3)} == {2, 3}
    assert [plan(2, 1).install_of(block) for block in range(2)] == [0, 0]


@pytest.mark.parametrize("kind", [Guest, ScriptedTarget])
def test_each_install_is_made_once_before_its_blocks(kind: Any) -> None:
    records: list[Record] = []
    targets = run(plan(4, 2), records, kind=kind)
    assert fresh(records).count(("a", "@0")) == fresh(records).count(("b", "@1")) == 1
    assert len(fresh(records)) == 4
    assert booted(records) == [
        (block, name, str(block // 2)) for block in range(4) for name in ("a", "b")
    ]
    # Nothing is held once the run has ended.
    assert all(target.install is None for target in targets.values())


def test_an_install_that_was_lost_in_a_cut_is_another_one() -> None:
    made, records = plan(4, 2), []
    with pytest.raises(KeyboardInterrupt):
        run(made, records, stop_at=3)
    run(made, records)
    assert [one for one in booted(records) if one[0] == 2] == [(2, "a", "1"), (2, "b", "1")]
    assert [one for one in booted(records) if one[0] == 3] == [(3, "a", "1.2"), (3, "b", "1.2")]
    assert len(fresh(records)) == 6


def test_an_install_that_lasts_is_not_made_again_after_a_cut() -> None:
    made, records = plan(4, 2), []
    with pytest.raises(KeyboardInterrupt):
        run(made, records, stop_at=3, kind=ScriptedTarget)
    run(made, records, kind=ScriptedTarget)
    assert {install for block, _, install in booted(records) if block > 1} == {"1"}
    assert len(fresh(records)) == 4


def test_an_old_record_without_an_install_has_the_first_one() -> None:
    records: list[Record] = []
    run(plan(2, 1), records)
    document = next(to_json(r) for r in records if isinstance(r, BootStart))
    del document["install"]
    found = from_json(document)
    assert isinstance(found, BootStart) and found.install == "0"
    del document["block"]
    with pytest.raises(ValueError, match="lacks block"):
        from_json(document)


@pytest.mark.parametrize(
    ("blocks", "installs", "more", "message"),
    [
        (2, 3, FRESH, "2 blocks are too few for 3 installs"),
        (4, 2, "", "need a command"),
        (4, 2, FRESH + '\nstopping = { rule = "looks", looks = [4] }', "stopping rules count"),
    ],
)
def test_what_installs_cannot_do_is_said(
    blocks: int, installs: int, more: str, message: str
) -> None:
    text = study_text(blocks, installs, more)
    if "looks" in more:
        text = text.replace(f"blocks = {blocks}\n", "")
    with pytest.raises(StudyError, match=message):
        parse_study(text, Path("scripted.toml"), scripted.catalog())


class Learning(Guest):
    """A guest that writes into the files of its install."""

    def forgets(self) -> str | None:
        return None if self.install is not None else super().forgets()


TRAINED = 'steps = [{ do = "fresh", command = "true" }, { do = "train", times = 2 }]'


def trained(records: list[Record]) -> list[str]:
    ends = [r for r in records if isinstance(r, Preparation) and r.state == "end"]
    return [r.unit for r in ends if (r.system, r.do, r.outcome) == ("a", "train", "done")]


def training(blocks: int) -> Plan:
    text = study_text(blocks, 2, TRAINED)
    study = parse_study(text, Path("scripted.toml"), scripted.catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    return make_plan(study, scripted.catalog(), targets)


def test_a_guest_that_keeps_its_files_is_trained_in_each_install() -> None:
    records: list[Record] = []
    made = training(4)
    run(made, records, kind=Learning)
    workloads = [step.workload for step in made.steps["a"]]
    wanted = [f"{name}#{n}@{k}" for k in (0, 1) for n in (1, 2) for name in workloads]
    assert trained(records) == wanted


def test_what_was_learned_in_a_lost_install_is_learned_again() -> None:
    made, records = training(4), []
    with pytest.raises(KeyboardInterrupt):
        run(made, records, stop_at=3, kind=Learning)
    before = trained(records)
    run(made, records, kind=Learning)
    second = [unit for unit in before if unit.endswith("@1")]
    assert second and trained(records) == [*before, *second]


def test_a_guest_that_forgets_says_so_whatever_the_installs() -> None:
    records: list[Record] = []
    run(training(4), records)
    assert not trained(records)
    reasons = {r.reason for r in records if isinstance(r, Preparation) and r.do == "train"}
    assert "nothing that this system learns survives its boot" in reasons
