"""Runs of a command become samples; where a value is missing, one error states why."""

from __future__ import annotations

from typing import Any

import pytest

from pentathlon.procedure.admission import Admission, EventRefused
from pentathlon.procedure.executions import KEPT, Executions
from pentathlon.protocol.events import read
from pentathlon.study.catalog import Catalog
from pentathlon.study.commands.entries import extended
from pentathlon.study.model import Study
from pentathlon.study.plan import Step
from tests.fakes.messages import documents


def study(**workload: Any) -> Study:
    return Study.model_validate(
        {
            "name": "s",
            "reference": "a",
            "system": [{"name": "a", "target": "local"}],
            "workload": [{"id": "my.x", "command": ["x"], **workload}],
        }
    )


STEP = Step(
    suite="commands", workload="my.x", parameters={}, qualified=False, iterations=2, warmup=0,
    processes=1, sample_ms=5.0, timeout_s=9.0,
)  # fmt: skip


def run(output: str = "", iteration: int = 0, **fields: Any) -> dict[str, Any]:
    counters = {"cpu_user_ns": 3, "cpu_system_ns": 4}
    return {
        "event": "execution", "workload": "my.x", "index": 0, "case": {}, "phase": "measure",
        "process": 0, "iteration": iteration, "wall_ns": 50, "status": 0,
        "peak_memory_bytes": 4096, "output": output, "output_bytes": len(output), "error": "",
        "error_bytes": 0, "counters": counters, "t_ns": 7, **fields,
    }  # fmt: skip


def samples(made: Study, *runs: dict[str, Any]) -> list[dict[str, Any]]:
    found = documents(Executions(made, [STEP]).expanded(map(read, runs)))
    return [one for one in found if one["event"] != "execution"]


def test_a_run_yields_the_wall_time_and_what_it_took() -> None:
    found = samples(study(), run())
    assert [(one["metric"], one["value"], one["unit"]) for one in found] == [
        ("wall", 50.0, "ns"),
        ("cpu", 7.0, "ns"),
        ("peak_memory", 4096.0, "B"),
    ]
    assert found[0]["checksum"] is None and found[0]["elapsed_ns"] == 50


def test_values_come_from_where_the_metric_says() -> None:
    metrics: list[dict[str, Any]] = [
        {"name": "r", "regex": "rate (.+)", "unit": "x", "better": "higher"},
        {"name": "l", "measure": "last_number", "unit": "x", "better": "higher"},
        {"name": "exit_status"},
    ]
    found = samples(study(metric=metrics), run("rate 4\n9", status=3, error="rate 5"))
    assert [one["value"] for one in found[:3]] == [5.0, 9.0, 3.0]


def test_a_value_that_is_missing_is_one_error_with_the_last_lines() -> None:
    metric = {"name": "r", "regex": "rate (.+)", "unit": "x", "better": "higher"}
    found = samples(study(metric=[metric]), run("no\n"), run("no\n", iteration=1))
    errors = [one for one in found if one["event"] == "error"]
    assert [one["kind"] for one in errors] == ["failed"]
    assert 'the metric "r": the pattern "rate (.+)" matches nothing' in errors[0]["reason"]
    assert "its last lines: no" in errors[0]["reason"]
    assert {one["metric"] for one in found if one["event"] == "sample"} == {
        "wall", "cpu", "peak_memory",
    }  # fmt: skip


def test_what_must_be_the_same_is_the_checksum_of_every_sample() -> None:
    made = study(same=r"sum: (\w+)")
    assert {one["checksum"] for one in samples(made, run("sum: ab12"))} == {'"ab12"'}
    long = samples(study(same="(?s)(.+)"), run("x" * 1000))
    assert {one["checksum"][:7] for one in long} == {"sha256:"}
    [error] = samples(made, run("none"))
    assert error["kind"] == "failed" and error["reason"].startswith('same: the pattern "sum')


def test_a_system_that_does_not_report_a_metric_says_so() -> None:
    found = samples(study(metric=[{"name": "peak_memory"}]), run(peak_memory_bytes=None))
    assert [one["kind"] for one in found if one["event"] == "error"] == ["unsupported"]


def test_an_output_of_which_only_the_end_is_there_is_no_document() -> None:
    metric = {"name": "j", "json": "/a", "unit": "x", "better": "higher"}
    [error, *_] = samples(study(metric=[metric]), run('{"a": 1}', output_bytes=3 << 20))
    assert "longer than 2 MiB" in error["reason"]


def test_the_journal_keeps_the_end_of_an_output() -> None:
    text = "x" * (KEPT + 5) + "end"
    [kept, *_] = documents(Executions(study(), [STEP]).expanded([read(run(text))]))
    assert kept["output"].endswith("end") and len(kept["output"]) == KEPT
    assert kept["output_bytes"] == len(text)


def test_an_execution_of_what_is_no_command_is_refused(catalog: Catalog) -> None:
    made = study()
    known = extended(catalog, made.workloads)
    opening = {
        "event": "inventory", "session": "s", "agent": {"version": "1"}, "clock": {},
        "system": None, "placement": {}, "telemetry": {}, "t_ns": 1,
    }  # fmt: skip
    start = {
        "event": "progress", "workload": "my.x", "index": 0, "count": 1, "process": 0,
        "state": "start", "case": None, "t_ns": 2,
    }  # fmt: skip

    def admitted(commands: tuple[str, ...], *more: dict[str, Any]) -> int:
        admission = Admission([STEP], known, "s", (), commands)
        return len(list(admission.admit(map(read, [opening, start, *more]))))

    assert admitted(("my.x",), run()) == 3
    with pytest.raises(EventRefused, match=r"my\.x is no command"):
        admitted((), run())
    with pytest.raises(EventRefused, match="iteration is 9"):
        admitted(("my.x",), run(iteration=9))
    with pytest.raises(EventRefused, match="wall_ns"):
        admitted(("my.x",), run(wall_ns=-1))


@pytest.fixture
def catalog() -> Catalog:
    return Catalog(protocol=2, catalog_version=1, agent={}, workloads=[])
