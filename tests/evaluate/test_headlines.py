"""Headlines: one row of each workload is declared, whatever was measured."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.verdict import Verdict
from pentathlon.study.rules import Evaluation as Rules
from tests.fakes.synthetic import KIB, Item, Maker, Synthetic, same

SIZES = (KIB, 64 * KIB, 4096 * KIB)
ITEMS = [
    Item("process.one", "time", {}, "ns", "lower", 100.0, 0.004, 0.004),
    Item("process.two", "time", {}, "ns", "lower", 200.0, 0.004, 0.004),
    *(
        Item(f"memory.{name}", "bandwidth", {"block_bytes": size, "variant": kind}, "MB/s",
             "higher", 5e4, 0.004, 0.004)
        for name in ("read", "write")
        for size in SIZES
        for kind in ("scalar", "avx512")
    ),
]  # fmt: skip
CHOSEN = {
    "process.one.time",
    "process.two.time",
    "memory.read.bandwidth[block_bytes=4194304,variant=avx512]",
    "memory.write.bandwidth[block_bytes=4194304,variant=avx512]",
}


def made(factor=same, **rules: object) -> Synthetic:
    result = Maker(factors={"a": same, "b": factor}, chosen=ITEMS, blocks=6).make()
    own = result.plan.study.evaluation.model_copy(update=rules)
    study = result.plan.study.model_copy(update={"evaluation": own})
    result.plan = result.plan.model_copy(update={"study": study})
    return result


def declared(evaluation: Evaluation) -> set[str]:
    return {row.key for row in evaluation.rows if row.declared}


def test_one_row_of_each_workload_is_declared_and_nothing_measured_chooses_it():
    evaluation = evaluate(made(headlines=True))
    assert declared(evaluation) == CHOSEN == set(evaluation.study.declared)
    (pair,) = evaluation.pairs
    assert (pair.rows, pair.exploratory_rows) == (4, 10)
    # Another truth, the same headlines.
    assert declared(evaluate(made(lambda item: 1.2, headlines=True))) == CHOSEN


def test_a_headline_is_tested_in_a_smaller_family():
    def faster(item: Item) -> float:
        return 1.011 if item.workload == "process.one" else 1.0

    whole, few = evaluate(made(faster)), evaluate(made(faster, headlines=True))
    of_all = whole.row("process.one.time").comparison("b").effect
    of_few = few.row("process.one.time").comparison("b").effect
    assert of_few.p_different == of_all.p_different
    assert of_few.adjusted_confidence <= of_all.adjusted_confidence


def test_the_rest_is_exploratory():
    def faster(item: Item) -> float:
        return 1.2 if item.case.get("block_bytes") == KIB else 1.0

    evaluation = evaluate(made(faster, headlines=True))
    (pair,) = evaluation.pairs
    assert (pair.selected, pair.exploratory_selected) == (0, 4)
    row = evaluation.row("memory.read.bandwidth[block_bytes=1024,variant=scalar]")
    assert not row.declared and row.comparison("b").verdict is Verdict.FASTER_BY_DELTA


def test_a_missing_case_leaves_the_next_one():
    result = made(headlines=True)
    used = result.samples()
    gone = used["key"] == "memory.read.bandwidth[block_bytes=4194304,variant=avx512]"
    cut = Synthetic(result.plan, {**result.tables, "samples": used.filter(~gone)})
    found = declared(evaluate(cut))
    assert found - CHOSEN == {"memory.read.bandwidth[block_bytes=4194304,variant=scalar]"}


def test_headlines_and_declared_exclude_each_other():
    with pytest.raises(ValidationError, match="leave out headlines, or declared"):
        Rules(headlines=True, declared=("process.*",))
    assert "headlines" not in Rules().model_dump()
