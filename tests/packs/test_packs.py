"""Packs: each can be planned, and finds its values in what the real programs print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pentathlon.packs import pack as packs
from pentathlon.procedure import executions
from pentathlon.protocol.messages.execution import Execution
from pentathlon.study.commands.model import OwnWorkload
from pentathlon.study.load import load_study
from pentathlon.study.problems import StudyError

ROOT = Path(__file__).parent.parent.parent
FILES = ROOT / "tests" / "extraction" / "tools" / "files"

PRINTED: dict[str, tuple[str, dict[str, float]]] = {
    "openssl.evp": (
        "+H:16384\n+F:25:AES-256-GCM:3923852153.54\n", {"throughput": 3923852153.54},
    ),
    "openssl.rsa": (
        "+R1:3512:2048:1.00\n+F2:2:2048:4089.795918:60329.292929\n",
        {"signatures": 4089.795918, "verifications": 60329.292929},
    ),
    "sysbench.threads": (
        "General statistics:\n    total time:                          1.0002s\n"
        "    total number of events:              1935\n",
        {"events": 1935.0},
    ),
    "stress-ng.stressor": (
        "stress-ng: metrc: [4176] stressor       bogo ops real time  usr time  sys time\n"
        "stress-ng: metrc: [4176]                           (secs)    (secs)    (secs)\n"
        "stress-ng: metrc: [4176] cpu                1772      1.00      1.00      0.00      "
        "1766.97        1766.85\n",
        {"rate": 1766.97},
    ),
    "7zip.benchmark": (
        "18:       9375   100   8339   8353  |      59501   100   4819   4812\n"
        "Avr:      9375   100   8339   8353  |      59501   100   4819   4812\n"
        "Tot:             100   6579   6582\n",
        {"compression": 9375.0, "decompression": 59501.0},
    ),
    "hackbench.messages": (
        "Running in process mode with 2 groups\nTime: 0.249\n", {"time": 0.249},
    ),
    "redis.requests": (
        '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",'
        '"p99_latency_ms","max_latency_ms"\n'
        '"SET","109170.30","0.053","0.016","0.055","0.063","0.119","0.271"\n',
        {"rate": 109170.30, "latency_p99": 0.119},
    ),
}  # fmt: skip
"""Workload -> what the program of Debian 12 printed, and the values in it."""

WALL = {"sqlite.script", "c-build.make"}
"""Workloads whose metric is the time."""


def workloads() -> dict[str, OwnWorkload]:
    found = [packs.find(name) for name in packs.names()]
    tables = [table for one in found if one is not None for table in one.workloads]
    return {table["id"]: OwnWorkload.model_validate(table) for table in tables}


def run_of(output: str) -> Execution:
    return Execution.model_validate(
        {
            "event": "execution", "t_ns": 1, "workload": "w", "index": 0, "case": {},
            "phase": "measure", "process": 0, "iteration": 0, "wall_ns": 5, "status": 0,
            "peak_memory_bytes": None, "output": output, "output_bytes": len(output),
            "error": "", "error_bytes": 0, "counters": {},
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", packs.names())
def test_a_study_that_includes_a_pack_is_complete(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "s"\nreference = "a"\ninclude = ["pack:{name}"]\n'
        '[[system]]\nname = "a"\ntarget = "local"\n'
    )
    loaded = load_study(study)
    pack = packs.find(name)
    assert pack is not None and pack.title and pack.source and pack.programs
    assert [one.id for one in loaded.study.workloads] == [one["id"] for one in pack.workloads]
    for own in loaded.study.workloads:
        assert own.install == pack.install and own.install.startswith("apt-get install ")
        assert all(Path(file).exists() for file in own.files)
        assert own.area == name


def test_a_pack_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "s"\nreference = "a"\ninclude = ["pack:fi"]\n'
        '[[system]]\nname = "a"\ntarget = "local"\n'
    )
    with pytest.raises(StudyError) as caught:
        load_study(study)
    expected = f'{study}:3: include[0]: "fi" is no pack; did you mean "fio"?'
    assert str(caught.value).splitlines() == [expected]


def test_every_workload_is_tested_on_what_its_program_prints() -> None:
    by_tool = {id_ for id_, own in workloads().items() if all(m.tool for m in own.declared())}
    assert set(workloads()) == by_tool | set(PRINTED) | WALL


@pytest.mark.parametrize("workload", PRINTED)
def test_the_values_are_found_in_what_the_programs_print(workload: str) -> None:
    output, expected = PRINTED[workload]
    own = workloads()[workload]
    found = {one.name: executions._value(run_of(output), one) for one in own.declared()}
    assert found == expected


@pytest.mark.parametrize(
    ("workload", "file"),
    [
        ("fio.read", "fio.json"), ("iperf3.loopback", "iperf3.json"),
        ("pgbench.tpcb", "pgbench.txt"),
        ("sysbench.cpu", "sysbench-cpu.txt"), ("sysbench.memory", "sysbench-memory.txt"),
    ],
)  # fmt: skip
def test_metrics_of_a_tool_are_those_of_its_import(workload: str, file: str) -> None:
    from pentathlon.extraction.tools.registry import EXTRACTORS  # noqa: PLC0415

    text = (FILES / file).read_text()
    for metric in workloads()[workload].declared():
        rows = [
            row for row in EXTRACTORS[str(metric.tool)].read(text).rows
            if row.metric.id == metric.name
        ]  # fmt: skip
        assert rows, metric.name
        assert {(row.metric.unit, row.metric.direction) for row in rows} == {
            (metric.unit, metric.better)
        }
        if len(rows) == 1:
            assert executions._value(run_of(text), metric) == rows[0].values[0]


def test_another_unit_of_a_tool_is_refused() -> None:
    text = (FILES / "sysbench-cpu.txt").read_text()
    [metric] = workloads()["sysbench.cpu"].declared()
    wrong = metric.model_copy(update={"unit": "1/min"})
    with pytest.raises(executions.NoValue, match=r"sysbench prints it in 1/s.*states 1/min"):
        executions._value(run_of(text), wrong)
    other = metric.model_copy(update={"name": "colour"})
    with pytest.raises(executions.NoValue, match=r'0 values of "colour".*latency_mean'):
        executions._value(run_of(text), other)


def test_the_documentation_lists_the_packs() -> None:
    text = (ROOT / "docs" / "packs.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]* \| `([^`]*)` \|", text, re.MULTILINE)
    expected = [(name, pack.install) for name in packs.names() if (pack := packs.find(name))]
    assert rows == expected
