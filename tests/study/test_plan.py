"""The plan: what the hash covers, what the seed decides, which workloads a pattern names."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pentathlon.study.catalog import Catalog, case_text, metric_key
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.order import order_of
from pentathlon.study.plan import Plan, make_plan
from tests.study.conftest import GOOD

TARGETS = {"a": {"kind": "local", "kernel": "1"}, "b": {"kind": "local", "kernel": "1"}}


def plan_of(text: str, catalog: Catalog, blocks: int | None = None) -> Plan:
    return make_plan(parse_study(text, Path("x.toml"), catalog), catalog, TARGETS, blocks)


def test_every_boot_has_every_system_and_every_step(study: Study, catalog: Catalog) -> None:
    plan = make_plan(study, catalog, TARGETS)
    assert len(plan.blocks) == 3
    for block in plan.blocks:
        assert sorted(boot.system for boot in block) == ["a", "b"]
        for boot in block:
            assert sorted(boot.steps) == list(range(len(plan.steps[boot.system])))


def test_defaults_are_filled_in_and_own_parameters_are_qualified(
    study: Study, catalog: Catalog
) -> None:
    plan = make_plan(study, catalog, TARGETS)
    a, b = ({step.workload: step for step in plan.steps[name]} for name in "ab")
    assert a["fake.alpha"].parameters["size_bytes"] == [1024, 2048, 4096]
    assert a["fake.alpha"].iterations == 4
    assert (a["other.delta"].iterations, a["other.delta"].parameters["size_bytes"]) == (
        2,
        [1024, 2048],
    )
    assert not a["fake.alpha"].qualified
    assert b["fake.alpha"].qualified and not b["fake.beta"].qualified
    assert b["fake.alpha"].parameters["slowdown_percent"] == 5


def test_patterns(catalog: Catalog) -> None:
    head = GOOD[: GOOD.index("[[suite]]")]

    def chosen(workloads: str) -> list[tuple[str, int]]:
        text = f'{head}[[suite]]\nname = "s"\nworkloads = [{workloads}]\n'
        return [(step.workload, step.iterations) for step in plan_of(text, catalog).steps["a"]]

    fake = [("fake.alpha", 4), ("fake.beta", 4), ("fake.gamma", 4)]
    assert chosen('"fake.*"') == fake
    assert chosen('"*"') == [*fake, ("other.delta", 4)], "a pattern names no test-only workload"
    assert chosen('"fake.alpha", "test.fake"') == [fake[0], ("test.fake", 4)]
    named = '{ id = "fake.alpha", iterations = 9 }'
    nine = ("fake.alpha", 9)
    assert chosen(f'"fake.*", {named}') == [*fake[1:], nine], "a name wins over a pattern"
    assert chosen('"fake.[ab]*", { id = "fake.*", iterations = 9 }') == [
        *fake[:2],
        ("fake.gamma", 9),
    ]


def test_visits_divide_the_iterations(catalog: Catalog) -> None:
    text = GOOD.replace("[procedure]", "[procedure]\nvisits = 3")
    assert text != GOOD
    plan = plan_of(text, catalog)
    own = [
        (step.visit, step.first_iteration, step.iterations)
        for step in plan.steps["a"]
        if step.workload == "fake.alpha"
    ]
    assert own == [(0, 0, 2), (1, 2, 1), (2, 3, 1)], "four iterations in three visits"
    few = [step.iterations for step in plan.steps["a"] if step.workload == "other.delta"]
    assert few == [1, 1], "no more visits than iterations"
    rounds = set()
    for block in plan.blocks:
        for boot in block:
            steps = [plan.steps[boot.system][number] for number in boot.steps]
            assert [step.visit for step in steps] == sorted(step.visit for step in steps)
            for visit in range(2):
                names = [step.workload for step in steps if step.visit == visit]
                assert len(set(names)) == len(names) > 2
                rounds.add((visit, tuple(names)))
    assert len({names for _, names in rounds}) > 2, "each visit has an order of its own"
    assert Plan.from_json(plan.canonical()) == plan


def test_a_plan_with_one_visit_is_written_as_before_there_were_visits(
    study: Study, catalog: Catalog
) -> None:
    text = make_plan(study, catalog, TARGETS).canonical()
    assert "visit" not in text and "first_iteration" not in text


def test_an_entry_has_visits_of_its_own(catalog: Catalog) -> None:
    head = GOOD[: GOOD.index("[[suite]]")]
    entry = '{ id = "fake.beta", visits = 2, iterations = 2 }'
    suite = f'{head}[[suite]]\nname = "s"\nworkloads = ["fake.alpha", {entry}]\n'
    steps = plan_of(suite, catalog).steps["a"]
    assert [(step.workload, step.iterations) for step in steps] == [
        ("fake.alpha", 4),
        ("fake.beta", 1),
        ("fake.beta", 1),
    ]
    apart = suite.replace("visits = 2,", "visits = 2, processes = 2,")
    assert [step.iterations for step in plan_of(apart, catalog).steps["a"]] == [4, 2]


def test_the_same_seed_gives_the_same_plan_in_another_process(catalog: Catalog) -> None:
    code = (
        "from pentathlon.study.order import order_of\n"
        "print(order_of(list(range(20)), 7, 'block', 3, 'a'))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path.cwd()
    )
    assert there.stdout.strip() == str(order_of(list(range(20)), 7, "block", 3, "a"))
    assert plan_of(GOOD, catalog).hash() == plan_of(GOOD, catalog).hash()


def test_known_order() -> None:
    """Fixed for good: a plan of an old result must come out the same in every later version."""
    assert order_of(["a", "b", "c", "d"], 20030101, "block", 0) == KNOWN_ORDER


KNOWN_ORDER = ["c", "b", "a", "d"]


@given(st.integers(0, 2**62), st.integers(0, 50))
def test_an_order_is_a_permutation(seed: int, count: int) -> None:
    assert sorted(order_of(range(count), seed, "x")) == list(range(count))


def test_all_orders_come_up() -> None:
    orders = Counter(tuple(order_of("abc", 1, "block", block)) for block in range(6000))
    assert len(orders) == 6
    assert min(orders.values()) > 800  # 1000 expected; 200 is seven standard deviations


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 7", "seed = 8"),
        ("blocks = 3", "blocks = 4"),
        ("iterations = 4", "iterations = 5"),
        ("iterations = 4", "iterations = 4\nsample_ms = 6.0"),
        ("[procedure]", "[evaluation]\ndelta_percent = 2.0\n[procedure]"),
        ("[procedure]", "[evaluation]\nconfidence = 0.9\n[procedure]"),
        ("slowdown_percent = 5", "slowdown_percent = 6"),
        ('reference = "a"', 'reference = "b"'),
        ("cpus = [0, 1]", "cpus = [0]"),
        ('"fake.*"', '"fake.alpha", "fake.beta"'),
    ],
)
def test_the_hash_covers_the_study(catalog: Catalog, old: str, new: str) -> None:
    assert old in GOOD
    changed = plan_of(GOOD.replace(old, new, 1), catalog)
    assert changed.hash() != plan_of(GOOD, catalog).hash()


def test_the_hash_covers_agent_catalog_targets_and_blocks(study: Study, catalog: Catalog) -> None:
    def changed(**update: object) -> Catalog:
        return catalog.model_copy(update=update)

    first = catalog.workloads[0]
    other_default = first.parameters[1].model_copy(update={"default": 1.0})
    workload = first.model_copy(
        update={"parameters": [first.parameters[0], other_default, first.parameters[2]]}
    )
    hashes = [
        make_plan(study, catalog, TARGETS).hash(),
        make_plan(study, catalog, TARGETS, blocks=2).hash(),
        make_plan(study, changed(agent={**catalog.agent, "build": "x"}), TARGETS).hash(),
        make_plan(study, changed(catalog_version=2), TARGETS).hash(),
        make_plan(study, changed(workloads=[workload, *catalog.workloads[1:]]), TARGETS).hash(),
        make_plan(study, catalog, {**TARGETS, "b": {"kind": "local", "kernel": "2"}}).hash(),
    ]
    assert len(set(hashes)) == len(hashes)


def test_the_hash_does_not_cover_how_the_file_is_written(catalog: Catalog) -> None:
    text = "# another comment\n" + GOOD.replace("cpus = [0, 1]", "cpus = [\n 0,\n 1 ]")
    text = text.replace("iterations = 4", "iterations = 4\nretries = 1  # the default")
    assert plan_of(text, catalog).hash() == plan_of(GOOD, catalog).hash()


def test_round_trip(study: Study, catalog: Catalog) -> None:
    plan = make_plan(study, catalog, TARGETS)
    again = Plan.from_json(plan.canonical())
    assert again == plan
    assert isinstance(again, BaseModel) and again.hash() == plan.hash()


def test_a_plan_of_another_format_is_refused(study: Study, catalog: Catalog) -> None:
    text = make_plan(study, catalog, TARGETS).canonical()
    with pytest.raises(ValueError, match="no plan of format 1"):
        Plan.from_json(text.replace('"format":1', '"format":2'))


def test_canonical_key() -> None:
    case = {"variant": "avx512", "block_bytes": 1024, "huge": True}
    text = case_text(case, ["block_bytes", "variant"])
    assert text == "block_bytes=1024,variant=avx512,huge=true"
    key = "memory.read.bandwidth[block_bytes=1024,variant=avx512,huge=true]"
    assert metric_key("memory.read", "bandwidth", text) == key
    assert metric_key("process.getpid", "time", "") == "process.getpid.time"
