"""`trace @PATH`: the plan holds the file's numbers and its SHA-256; errors say what is wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pentathlon.study import distributions, flows, traces
from pentathlon.study.catalog import Catalog
from pentathlon.study.load import load_study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.study.problems import StudyError

STUDY = """\
name = "traced"
title = "Traced lengths"
reference = "pair"

[[system]]
name = "pair"
target = "netns"
[system.peer]

[[suite]]
name = "s"
workloads = [
    { id = "network.traffic", parameters = { PARAMETERS } },
]
"""
LENGTHS = "100 200\n\n300\t4e2\r\n"


def written(folder: Path, parameters: str) -> Path:
    file = folder / "study.toml"
    file.write_text(STUDY.replace("PARAMETERS", parameters), encoding="utf-8")
    return file


def planned(file: Path, real_catalog: Catalog) -> Plan:
    return make_plan(load_study(file, real_catalog).study, real_catalog, {"pair": {}})


def test_the_plan_holds_numbers_and_hash(real_catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "my lengths.txt").write_bytes(LENGTHS.encode())
    file = written(tmp_path, 'size = "trace @my lengths.txt"')
    plan = planned(file, real_catalog)
    (tmp_path / "my lengths.txt").unlink()
    [step] = Plan.from_json(plan.canonical()).steps["pair"]
    case = next(flows.cases(step.parameters))
    digest = hashlib.sha256(LENGTHS.encode()).hexdigest()
    assert case["size"] == f"trace @my lengths.txt {digest[:12]}"
    [flow] = flows.flows(step.parameters, case)
    assert flow.size == {"model": "trace", "values": [100.0, 200.0, 300.0, 400.0]}
    assert digest in step.parameters["size"]


def test_lines_of_a_script_and_a_systems_own_parameters(
    real_catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "gaps").write_text("0.001\n0.002\n")
    line = "name=a; gap=trace @below/gaps; size=constant 64"
    file = written(tmp_path, f'script = ["{line}", "name=b; rate=constant 5"]')
    text = file.read_text().replace(
        "[system.peer]",
        '[system.parameters]\n"network.traffic" = { gap = "trace @below/gaps" }\n[system.peer]',
    )
    file.write_text(text)
    [step] = planned(file, real_catalog).steps["pair"]
    first, second = flows.flows(step.parameters, {"ip_version": 4})
    assert first.gap["of"]["values"] == [0.001, 0.002]
    assert (first.name, first.size, second.name) == ("a", distributions.parse("constant 64"), "b")
    assert distributions.parse(step.parameters["gap"])["values"] == [0.001, 0.002]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, 'trace file "t.txt" cannot be read: no such file'),
        (b"", "holds no number"),
        (b"1\n2 x3\n", 'line 2 of the trace file "t.txt" holds something that is no number'),
        (b"nan", 'line 1 of the trace file "t.txt" holds something'),
        (b"1e999", 'line 1 of the trace file "t.txt" holds something'),
        (b"1_000", 'line 1 of the trace file "t.txt" holds something'),
        (b"\xff\xfe1", "no text in UTF-8"),
        (b"1 " * (traces.MOST + 1), "100,001 numbers; the most is 100,000"),
        (b" " * (traces.MAX_BYTES + 1), "larger than 4 MiB"),
    ],
)
def test_what_is_wrong_with_a_file(
    real_catalog: Catalog, tmp_path: Path, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "t.txt").write_bytes(content)
    file = written(tmp_path, 'packet_rate = "trace @t.txt"')
    with pytest.raises(StudyError) as caught:
        load_study(file, real_catalog)
    [line] = str(caught.value).splitlines()
    assert words in line and "study.toml:13: " in line and "packet_rate" in line


def test_a_file_that_is_gone_is_that_of_the_plan(real_catalog: Catalog, tmp_path: Path) -> None:
    numbers = tmp_path / "t.txt"
    numbers.write_text("5 6")
    file = written(tmp_path, 'gap = "trace @t.txt"')
    first = load_study(file, real_catalog).study
    numbers.unlink()
    assert load_study(file, real_catalog, traces=traces.kept(first)).study == first
    numbers.write_text("5 7")
    assert load_study(file, real_catalog, traces=traces.kept(first)).study != first


def test_a_distribution_that_cannot_be_is_found_in_the_file(
    real_catalog: Catalog, tmp_path: Path
) -> None:
    for wrong, words in (
        ('gap = "uniform 5"', 'write "uniform MINIMUM MAXIMUM"'),
        ('size = "constant inf"', "not finite"),
        ('script = ["rate=fast 5"]', 'no model "fast"'),
        ('bit_rate = 5.0, size = "imix"', "packets of one size"),
    ):
        with pytest.raises(StudyError, match=words):
            load_study(written(tmp_path, wrong), real_catalog)


def test_elsewhere_a_file_is_not_read() -> None:
    with pytest.raises(distributions.ModelError, match="in a study file only"):
        distributions.parse("trace @/etc/hostname")
