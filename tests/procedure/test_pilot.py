"""The pilot: from one short boot to the time and the bytes of the whole study."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import scripted
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedTarget, well

from pentathlon.procedure.pilot import estimate_step, expected_seconds, pilot, thin
from pentathlon.study.plan import Step
from pentathlon.target.contract import TargetError, TargetUnavailable


def step(sizes: list[int], **more: Any) -> Step:
    values = {
        "suite": "s",
        "workload": "w.one",
        "parameters": {"size_bytes": sizes},
        "qualified": False,
        "iterations": 5,
        "warmup": 2,
        "processes": 1,
        "sample_ms": 1e-6,
        "timeout_s": 60.0,
    }
    return Step.model_validate({**values, **more})


def events(sizes: list[int], setup_ns: float, fixed_ns: float, per_byte_ns: float) -> Iterator[Any]:
    """The agent's events for one batch of each size: a case is set up, then one batch is timed."""
    now = 0.0
    yield {"event": "progress", "state": "start", "t_ns": now}
    for size in sizes:
        case = {"size_bytes": size}
        now += setup_ns
        yield {"event": "progress", "state": "case", "case": case, "t_ns": now}
        elapsed = fixed_ns + per_byte_ns * size
        now += elapsed
        yield {
            "event": "sample",
            "phase": "measure",
            "case": case,
            "elapsed_ns": elapsed,
            "t_ns": now,
        }
    yield {"event": "progress", "state": "end", "t_ns": now}


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30, unique=True),
    st.floats(0, 1e9),
    st.floats(1e3, 1e9),
    st.floats(0, 1e4),
    st.integers(1, 4),
)
def test_costs_that_grow_with_the_size_are_estimated_exactly(
    sizes: list[int], setup: float, fixed: float, per_byte: float, processes: int
) -> None:
    full = step(sizes, processes=processes)
    parameters, weights = thin(full, scripted.catalog().workload("w.one"))
    assert len(parameters["size_bytes"]) == min(len(sizes), 2)
    seconds, _ = estimate_step(
        full, list(events(parameters["size_bytes"], setup, fixed, per_byte)), weights
    )
    truth = sum(setup + 7 * (fixed + per_byte * size) for size in sizes) * processes / 1e9
    assert math.isclose(seconds, truth, rel_tol=1e-6, abs_tol=1e-9)


def test_a_batch_lasts_at_least_as_long_as_the_study_wants() -> None:
    full = step([8], sample_ms=10.0)
    seconds, size = estimate_step(full, list(events([8], 0, 1e6, 0)), {})
    assert seconds == pytest.approx(7 * 0.010)
    assert size > 7 * 100


def test_no_events_is_no_time() -> None:
    assert estimate_step(step([8]), [], {}) == (0.0, 0.0)


@pytest.mark.parametrize("sizes", [[4], [4, 8]])
def test_short_lists_are_not_thinned(sizes: list[int]) -> None:
    parameters, weights = thin(step(sizes), scripted.catalog().workload("w.one"))
    assert parameters == {"size_bytes": sizes} and weights == {}


def test_categories_are_not_thinned() -> None:
    catalog = scripted.catalog()
    workload = catalog.workloads[0]
    factor = workload.factors[0].model_copy(update={"scale": "category"})
    parameters, _ = thin(step([1, 2, 3]), workload.model_copy(update={"factors": [factor]}))
    assert parameters == {"size_bytes": [1, 2, 3]}


def try_one(target: ScriptedTarget) -> Any:
    return pilot(scripted.plan(), target.name, scripted.catalog(), target)


def test_one_boot_with_one_batch() -> None:
    asked: list[dict[str, Any]] = []

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        asked.append(request)
        yield from well(request, boot)

    target = ScriptedTarget("a", play)
    estimate = try_one(target)
    assert target.boots == 1 and target.sessions[0].stopped
    assert {(t["iterations"], t["warmup"], t["processes"]) for t in asked[0]["workloads"]} == {
        (1, 0, 1)
    }
    assert estimate.problem is None and set(estimate.steps_s) == {0, 1, 2}
    assert estimate.journal_bytes > 1000
    plan = scripted.plan(blocks=3)
    whole = expected_seconds(plan, {"a": estimate, "b": estimate})
    assert whole == pytest.approx(6 * estimate.total_s)


def test_a_boot_that_fails_is_told() -> None:
    assert try_one(ScriptedTarget("a", well, {0: "no kernel"})).problem == "no kernel"


def test_a_target_that_is_missing_is_an_error() -> None:
    class Missing(ScriptedTarget):
        def boot(self, timeout_s: float) -> Any:
            raise TargetUnavailable("not here", "get it")

    with pytest.raises(TargetUnavailable, match="not here"):
        try_one(Missing("a", well))


def test_what_came_before_a_death_is_used() -> None:
    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        for number, event in enumerate(well(request, boot)):
            if number == 6:
                raise TargetError("the agent died")
            yield event

    estimate = try_one(ScriptedTarget("a", play))
    assert estimate.problem == "the agent died"
    assert sum(estimate.steps_s.values()) > 0
