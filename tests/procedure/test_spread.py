"""The short blocks that show how much the rows vary."""

from __future__ import annotations

from pathlib import Path

from pentathlon.procedure import spread
from pentathlon.study.catalog import Workload
from pentathlon.study.load import parse_study
from pentathlon.study.plan import make_plan
from tests.fakes import scripted
from tests.procedure.test_pilot import step

SIZES = [64, 1, 2, 4, 8, 16, 32]


def workload() -> Workload:
    found = scripted.catalog().workload("w.one")
    assert found is not None
    return found


def test_a_long_numeric_factor_has_its_ends_and_its_middle() -> None:
    own = step(SIZES)
    usual = scripted.plan().study.procedure.model_copy(update={"iterations": own.iterations})
    found = spread.short(own, workload(), usual)
    assert found.parameters == {"size_bytes": [1, 8, 64]}
    assert found.iterations == spread.ITERATIONS
    assert spread.stands_for(own, workload()) == 7 / 3


def test_what_is_short_or_no_number_stays() -> None:
    own = step([4, 8, 16])
    usual = scripted.plan().study.procedure
    assert spread.short(own, workload(), usual).parameters == own.parameters
    assert spread.stands_for(own, workload()) == 1.0
    words = workload().factors[0].model_copy(update={"scale": "category"})
    named = workload().model_copy(update={"factors": [words]})
    assert spread.short(step(SIZES), named, usual).parameters == {"size_bytes": SIZES}


def test_a_workload_keeps_its_own_iterations() -> None:
    own = step(SIZES).model_copy(update={"iterations": 17})
    usual = scripted.plan().study.procedure.model_copy(update={"iterations": 3})
    assert spread.short(own, workload(), usual).iterations == 17


def test_the_plan_is_that_of_three_blocks_of_all_steps() -> None:
    text = scripted.STUDY.format(blocks=8, iterations=5, retries=0)
    study = parse_study(text, Path("scripted.toml"), scripted.catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    short = study.model_copy(update={"procedure": spread.procedure(study.procedure)})
    plan = spread.reduce(
        make_plan(short, scripted.catalog(), targets), scripted.catalog(), study.procedure
    )
    assert len(plan.blocks) == spread.BLOCKS
    assert {one.iterations for one in plan.steps["a"]} == {spread.ITERATIONS}
    assert type(plan).from_json(plan.canonical()) == plan
