"""The cost of a judgement and of its reports grows with the rows, not with their square."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.aggregate import sensitivity
from pentathlon.evaluate.aggregate.leave_one_out import without_each
from pentathlon.evaluate.aggregate.weighting import Weighed, block_means, complete
from pentathlon.evaluate.failures import FirstFailures
from pentathlon.evaluate.model import Failure
from pentathlon.report.export import files
from pentathlon.report.html import page
from pentathlon.report.terminal import screen
from pentathlon.store import schema
from tests.fakes.synthetic import Item, Maker, Synthetic, same

pytestmark = pytest.mark.slow

FEW, MANY = 20, 80


def of_areas(count: int) -> list[Item]:
    return [Item(f"x{n}.y", "time", {}, "ns", "lower", 100.0) for n in range(count)]


def of_workloads(count: int) -> list[Item]:
    return [Item(f"x.y{n}", "time", {}, "ns", "lower", 100.0) for n in range(count)]


def of_cases(count: int) -> list[Item]:
    return [Item("x.y", "time", {"kind": f"k{n}"}, "ns", "lower", 100.0) for n in range(count)]


def result_of(chosen: list[Item]) -> Synthetic:
    """Two systems, and a failure of each row."""
    made = Maker(factors={"a": same, "b": lambda _: 1.02}, chosen=chosen, iterations=2).make()
    failure = {"block": 0, "system": "b", "boot": "0.b.0", "attempt": 0, "stage": "step",
               "workload_order": 0, "process": 0, "kind": "failed", "resolved": False,
               "utc": "2026-01-05T10:00:00Z"}  # fmt: skip
    rows = [
        {**failure, "workload": one.workload, "case": one.case_text, "reason": f"reason {n}"}
        for n, one in enumerate(chosen)
    ]
    made.tables["failures"] = pl.DataFrame(rows, schema=schema.FAILURES)
    return made


def calls(what: Callable[[], Any]) -> Counter[CodeType]:
    """How often each function is called, turns of generators among them."""
    found: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found[frame.f_code] += 1

    sys.setprofile(count)
    try:
        what()
    finally:
        sys.setprofile(None)
    return found


def work(chosen: list[Item]) -> Callable[[], None]:
    result = result_of(chosen)

    def run() -> None:
        evaluation = evaluate(result)
        screen.render(evaluation, Console(file=io.StringIO(), width=160), full=True)
        for make in (files.to_csv, files.to_markdown, files.to_latex, files.to_json):
            make(evaluation)
        page.render(evaluation, result)

    return run


@pytest.mark.parametrize("shape", [of_areas, of_workloads, of_cases])
def test_no_function_is_called_with_the_square_of_the_rows(
    shape: Callable[[int], list[Item]],
) -> None:
    work(shape(3))()  # Imports and caches.
    few, many = calls(work(shape(FEW))), calls(work(shape(MANY)))
    assert sum(few.values()) > 5_000
    grown = {
        f"{code.co_filename}:{code.co_firstlineno} {code.co_name}": (few[code], count)
        for code, count in many.items()
        if count > 800 and count > 1.5 * MANY / FEW * few[code] and few[code]
    }
    # Tables by columns look at each row of a column a few times; nothing else may grow faster.
    assert not {name: both for name, both in grown.items() if "/rich/" not in name}


def weighed(random: np.random.Generator, rows: int) -> list[Weighed]:
    """Rows of 4 parts with some blocks missing; `row` only needs a key."""

    class Row:
        def __init__(self, number: int) -> None:
            self.key = f"k{number}"

    found = []
    for number in range(rows):
        gone = set(random.integers(0, 12, size=2).tolist())
        ratios = {block: float(random.normal()) for block in range(6) if block not in gone}
        found.append(Weighed(Row(number), float(random.uniform(0.01, 1)), ratios, True))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_means_without_a_part_are_those_of_the_rest(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = weighed(random, int(random.integers(2, 14)))
    names = [f"p{one}" for one in random.integers(0, 4, size=len(rows))]
    floors = {one.row.key: random.normal(size=3).tolist() for one in rows[seed % 3 :]}
    found = {one.name: one for one in without_each(rows, names, floors)}
    for part in dict.fromkeys(names):
        rest = [one for one, name in zip(rows, names, strict=True) if name != part]
        kept, blocks = complete(rest)
        if not kept:
            assert part not in found
            continue
        own = found[part]
        assert (own.rows, own.blocks) == (len(kept), blocks)
        assert own.weight == pytest.approx(sum(one.weight for one in kept))
        assert own.means == pytest.approx(block_means(kept, blocks))
        if all(one.row.key in floors for one in kept):
            weights = np.array([one.weight for one in kept])
            grid = np.array([floors[one.row.key] for one in kept])
            assert own.floors == pytest.approx(weights @ grid / weights.sum())
        else:
            assert own.floors is None


def test_more_parts_than_weights_can_be_drawn_for_have_no_sensitivity() -> None:
    few = evaluate(result_of(of_areas(5))).aggregates[0]
    assert few.sensitivity is not None and len(few.without) == 10
    many = evaluate(result_of(of_areas(sensitivity.MOST_PARTS + 1))).aggregates[0]
    assert many.sensitivity is None and many.everything is not None


def test_the_first_failure_of_a_row_is_found_by_its_case() -> None:
    def failure(system: str, case: str, reason: str, kind: str = "failed") -> Failure:
        return Failure(
            system=system, workload="x.y", case=case, kind=kind, reason=reason, resolved=False,
            count=1, blocks=(0,),
        )  # fmt: skip

    failures = [
        failure("a", "k=[1]", "of the case"),
        failure("a", "", "of the whole"),
        failure("b", "k=2", "invalid", "invalid"),
    ]
    known = FirstFailures(failures, ("a", "b"))

    def reason_of(system: str, key: str) -> str | None:
        found = known.first(system, "x.y", key)
        return None if found is None else found.reason

    assert reason_of("a", "x.y.time[k=[1]]") == "of the case"
    assert reason_of("a", "x.y.time[k=2]") == reason_of("a", "x.y.time") == "of the whole"
    assert reason_of("b", "x.y.time") is None
    assert known.first("a", "x.z", "x.z.time") is None
    assert known.invalid("x.y", "x.y.time[k=2]") == failures[2]
    assert known.invalid("x.y", "x.y.time") is None
