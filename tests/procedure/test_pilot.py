"""The pilot: from one short boot to the time and the bytes of the whole study."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.procedure.expected import expected
from pentathlon.procedure.pilot import SystemEstimate, estimate_step, pilot, thin
from pentathlon.protocol.events import Message, read
from pentathlon.study.load import parse_study
from pentathlon.study.plan import Plan, Step, make_plan
from tests.fakes import catalogs, scripted
from tests.fakes.scripted import ScriptedTarget, well


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


def progress(state: str, t_ns: float, case: dict[str, Any] | None = None) -> Message:
    where = {"workload": "w.one", "index": 0, "process": 0, "case": case}
    return read({"event": "progress", **where, "state": state, "t_ns": round(t_ns)})


def sample(case: dict[str, Any], elapsed_ns: float, t_ns: float, **more: Any) -> Message:
    return read(
        {"event": "sample", "workload": "w.one", "index": 0, "metric": "time", "case": case,
         "unit": "ns", "direction": "lower", "phase": "measure", "process": 0, "iteration": 0,
         "value": 1.0, "batch": 1, "elapsed_ns": elapsed_ns, "checksum": None, "counters": {},
         "t_ns": round(t_ns), **more}
    )  # fmt: skip


def fetched(case: dict[str, Any], t_ns: int) -> Message:
    return read(
        {"event": "files", "workload": "files.copy", "index": 0, "case": case, "phase": "measure",
         "iteration": 0, "server": "s", "dialect": None, "connections": 1, "handshake_s": None,
         "up_bytes": 1, "down_bytes": 1, "exchanges": {}, "t_ns": t_ns}
    )  # fmt: skip


def events(
    sizes: list[int], setup_ns: float, fixed_ns: float, per_byte_ns: float
) -> Iterator[Message]:
    """The agent's events for one batch of each size: a case is set up, then one batch is timed."""
    now = 0.0
    yield progress("start", now)
    for size in sizes:
        case = {"size_bytes": size}
        now += setup_ns
        yield progress("case", now, case)
        elapsed = fixed_ns + per_byte_ns * size
        now += elapsed
        yield sample(case, elapsed, now)
    yield progress("end", now)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30, unique=True),
    st.integers(0, 10**9),
    st.integers(10**3, 10**9),
    st.integers(0, 10**4),
    st.integers(1, 4),
)
def test_costs_that_grow_with_the_size_are_estimated_exactly(
    sizes: list[int], setup: int, fixed: int, per_byte: int, processes: int
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


def test_the_first_visit_stands_for_the_others() -> None:
    plan = scripted.plan(iterations=3)
    steps = tuple(one for step in plan.steps["a"] for one in step.visits(3))
    apart = plan.model_copy(update={"steps": {**plan.steps, "a": steps}})
    asked: list[dict[str, Any]] = []

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        asked.extend(request["workloads"])
        yield from well(request, boot)

    estimate = pilot(apart, "a", scripted.catalog(), ScriptedTarget("a", play))
    assert [one["id"] for one in asked] == ["w.one", "w.two", "w.three"]
    assert sorted(estimate.steps_s) == list(range(9))
    assert len({estimate.steps_s[number] for number in range(3)}) == 1


def test_one_boot_with_one_batch() -> None:
    requests: list[dict[str, Any]] = []

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        requests.append(request)
        yield from well(request, boot)

    target = ScriptedTarget("a", play)
    estimate = try_one(target)
    assert target.boots == 1 and target.sessions[0].stopped
    assert {(t["iterations"], t["warmup"], t["processes"]) for t in requests[0]["workloads"]} == {
        (1, 0, 1)
    }
    assert estimate.problem is None and set(estimate.steps_s) == {0, 1, 2}
    assert estimate.journal_bytes > 1000
    plan = scripted.plan(blocks=3)
    whole = expected(plan, {"a": estimate, "b": estimate})
    assert whole.least_s == whole.most_s == pytest.approx(6 * estimate.total_s)
    assert (whole.cut, whole.problems) == ((), ())


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


def prepared_plan(steps: str, installs: int = 1) -> Plan:
    """Two blocks of two systems; b, a machine that is restarted for each boot, has the steps."""
    text = scripted.STUDY.format(blocks=2, iterations=1, retries=0)
    text = text.replace("[procedure]", f"[procedure]\ninstalls = {installs}")
    ssh = 'target = "ssh"\nssh = { host = "h", reboot = true }'
    text = text.replace('name = "b"\ntarget = "local"', f'name = "b"\n{ssh}\nsteps = {steps}')
    if installs > 1:
        text = text.replace('name = "a"\n', 'name = "a"\nsteps = [{do = "fresh", command = "x"}]\n')
    study = parse_study(text, Path("scripted.toml"), scripted.catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    return make_plan(study, scripted.catalog(), targets)


ESTIMATES = {
    "a": SystemEstimate(boot_s=1.0, steps_s={0: 2.0, 1: 3.0, 2: 4.0}),
    "b": SystemEstimate(boot_s=10.0, steps_s={0: 2.0, 1: 3.0, 2: 4.0}),
}


def test_settling_counts_in_each_boot_and_is_told_from_least_to_most() -> None:
    steps = '[{ do = "settle", after_boot_s = 600, quiet_s = 30, limit_s = 300 }]'
    found = expected(prepared_plan(steps), ESTIMATES)
    assert found.measuring_s == 2 * (10 + 19)
    assert found.settling_s == 2 * (600 + 30)
    assert found.settling_most_s == 2 * (600 + 300)
    assert found.most_s - found.least_s == 2 * 270


@pytest.mark.parametrize(("times", "runs"), [("", 5), (", times = 2", 2), (", times = 0", 0)])
def test_training_is_a_boot_for_each_workload_and_run(times: str, runs: int) -> None:
    found = expected(prepared_plan(f'["record", {{ do = "train"{times} }}]'), ESTIMATES)
    # Once for the record; then three workloads of 2, 3 and 4 s, each with a boot of 10 s.
    assert found.training_s == 10 + runs * (12 + 13 + 14)


def test_what_is_done_for_each_install_is_counted_for_each() -> None:
    steps = '[{do = "fresh", command = "x"}, "record"]'
    assert expected(prepared_plan(steps, 2), ESTIMATES).training_s == 2 * 10


def test_a_workload_that_the_pilot_cuts_off_counts_with_its_limit() -> None:
    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        yield scripted.inventory(request)
        for index, task in enumerate(request["workloads"]):
            if task["id"] == "w.two":
                yield from scripted.started(task, index)
                yield scripted.error(task, index, "timeout")
                yield scripted.ended(task, index)
            else:
                yield from scripted.step(task, index)
        yield {"event": "done", "samples": 0, "errors": 0}

    estimate = try_one(ScriptedTarget("a", play))
    plan = scripted.plan()
    place = [step.workload for step in plan.steps["a"]].index("w.two")
    assert estimate.cut == ("w.two",)
    assert estimate.steps_s[place] == plan.steps["a"][place].timeout_s
    assert expected(plan, {"a": estimate, "b": estimate}).cut == ("w.two",)


def test_files_are_fetched_shorter_and_stand_for_the_whole() -> None:
    workload = scripted.catalog().workload("w.one")
    assert workload is not None
    files = workload.model_copy(update={"area": "files", "factors": []})
    given_ = step([1], parameters={"document_bytes": [1 << 20, 1000], "links": ["a", "b", "c"]})
    parameters, weights = thin(given_, files)
    assert parameters == {"document_bytes": [1 << 17, 1000], "links": ["a", "b", "c"]}
    assert weights["document_bytes"] == {1 << 17: 8.0, 1000: 1.0}


def test_tasks_go_over_one_link_and_stand_for_the_others() -> None:
    workload = scripted.catalog().workload("w.one")
    assert workload is not None
    files = workload.model_copy(update={"area": "files", "factors": []})
    links = ["wan-1m-200ms", "lan-1000m-1ms", "wan-10m-50ms"]
    whole = {"document_bytes": [8 << 20], "links": links}
    given_ = step([1], iterations=3, warmup=0, parameters=whole)
    parameters, weights = thin(given_, files)
    assert parameters == {"document_bytes": [1 << 20], "links": ["wan-10m-50ms"]}
    case = {"link": "wan-10m-50ms", "document_bytes": 1 << 20}
    parts = [
        progress("start", 0),
        read({"event": "link", "profile": "wan-10m-50ms", "t_ns": 5 * 10**9}),
        progress("case", 5e9, case),
        fetched(case, 7 * 10**9),
    ]
    parts += [
        sample(case, 1.5e9, 7e9, metric=metric, value=value)
        for metric, value in (("round_trips", 10.0), ("wire_bytes", 125_000.0))
    ]
    seconds, _ = estimate_step(given_, parts, weights)
    assert thin(given_.model_copy(update={"parameters": whole | {"document_bytes": [1 << 20]}}),
                files)[1] == {"document_bytes": {1 << 20: 1.0}}  # fmt: skip
    # Three links to be measured for 5 s each; 0.5 s around each task; eight times as much of all.
    slow, fast = 80 * 0.2 + 1e6 * 8 / 1e6, 80 * 0.001 + 1e6 * 8 / 1e9
    assert seconds == pytest.approx(3 * 5 + (8 + 2) * 0.5 + 3 * (8 * 1.5 + slow + fast))


def test_metrics_of_one_trial_between_hosts_are_one_time() -> None:
    case = {"link": "a"}
    parts = [fetched(case, 2 * 10**9)]
    parts += [sample(case, 2e9, 2e9) for _ in range(13)]
    begun = progress("case", 0, case)
    seconds, _ = estimate_step(step([1], iterations=3, warmup=0), [begun, *parts], {})
    assert seconds == pytest.approx(6.0)


@pytest.mark.parametrize("name", ["network.traffic", "forwarding.sweep", "made.up"])
def test_a_trial_between_hosts_counts_once_with_all_its_flows(name: str) -> None:
    workload = catalogs.catalog().workload(name) or catalogs.catalog().workload("memory.read")
    assert workload is not None
    workload = workload.model_copy(update={"id": name, "hosts": 2})
    flows = [{"size": 64, "flow": flow} for flow in (0, 1)]
    parts = [sample(case, 1.5e9, 2e9) for case in flows for _ in range(20)]
    begun = progress("case", 0, {"size": 64})
    given_ = step([1], iterations=5, warmup=0).model_copy(update={"workload": name})
    seconds, _ = estimate_step(given_, [begun, *parts], {}, workload)
    # Two seconds, of which one and a half are the flows.
    assert seconds == pytest.approx(10.0)
