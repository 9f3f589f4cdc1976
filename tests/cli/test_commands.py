"""Every other command, its help and its exit code."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import STUDY, Done, Shop, copied

COMMANDS = [
    "run",
    "plan",
    "calibrate",
    "results",
    "results list",
    "results show",
    "compare",
    "tables",
    "report",
    "catalog",
    "inventory",
    "doctor",
]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples(shop: Shop, command: str) -> None:
    done = shop.call(*command.split(), "--help")
    assert done.code == 0
    if command != "results":
        assert f"pentathlon {command}".strip() in done.out.split("Options")[0], "an example"
        assert "Examples:" in done.out


def test_version(shop: Shop) -> None:
    done = shop.call("--version")
    assert done.code == 0
    assert done.out.splitlines() == [
        "pentathlon 0.1.0",
        "pentathlon-agent 0.1.0 (build fa4e, fake)",
    ]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["run"], 2, "name a study file"),
        (["run", "missing.toml"], 2, "missing.toml: cannot be read: no such file"),
        (["plan", "."], 2, "is a directory"),
        (["run", "--resume"], 2, "no unfinished result in results"),
        (["run", "--resume", "--blocks", "2"], 2, "--resume resumes the plan as it is"),
        (["results", "show", "nowhere"], 2, "nowhere is no result directory"),
        (["results", "show"], 2, "there is no result in results"),
        (["tables", "nowhere"], 2, "nowhere is no result directory"),
        (["tables", "--study", "martinovic"], 2, "martinovic2012"),
        (["tables", "--table", "table-99"], 2, "table-99"),
        (["compare", "nowhere"], 2, "nowhere is no result directory"),
        (["report", "--format", "html,docx"], 2, '"docx" is no report format'),
        (["report", "--open", "maybe"], 2, "use yes or no"),
        (["catalog", "fake.alpah"], 2, 'did you mean "fake.alpha"?'),
        (["run", "--blocks", "0", "x.toml"], 2, "Invalid value for '--blocks'"),
    ],
)
def test_wrong_input(shop: Shop, words: list[str], code: int, sentence: str) -> None:
    done = shop.call(*words)
    assert done.code == code, done.err
    assert sentence in done.err and done.out == ""


def test_a_wrong_study_names_every_line(shop: Shop) -> None:
    text = STUDY.replace("blocks = 2", "bloks = 2").replace('"fake.*"', '"fake.alpah"')
    for command in ("run", "plan"):
        done = shop.call(command, shop.write(text))
        assert done.code == 2
        assert "study.toml:6: procedure.bloks: unknown key" in done.err
        assert 'study.toml:22: suite[0].workloads[0].id: "fake.alpah"' in done.err


def test_no_agent(shop: Shop) -> None:
    shop.environment = {"PENTATHLON_AGENT": "/nowhere"}
    done = shop.call("catalog")
    assert done.code == 3 and "PENTATHLON_AGENT names /nowhere" in done.err
    assert shop.call("--version").code == 0


def test_catalog(shop: Shop) -> None:
    assert "fake.alpha" in shop.call("catalog").out
    one = shop.call("catalog", "fake.alpha").out
    assert "size_bytes" in one and "plain, wide" in one and "lower" in one
    document = json.loads(shop.call("catalog", "--json").out)
    assert document["workloads"][0]["id"] == "fake.alpha"
    assert json.loads(shop.call("catalog", "fake.beta", "--json").out)["id"] == "fake.beta"


def test_inventory_shows_what_is_unsupported(shop: Shop) -> None:
    done = shop.call("inventory")
    assert "Fake CPU" in done.out and "unsupported: a fake has no memory" in done.out
    assert json.loads(shop.call("inventory", "--json").out)["system"]["cpu"]["count"] == 2


def test_plan_prints_and_writes_nothing(shop: Shop) -> None:
    study = shop.write()
    before = set(shop.directory.iterdir())
    first = shop.call("plan", study, "--no-pilot", "--json")
    second = shop.call("plan", study, "--no-pilot", "--json")
    assert first.code == 0, first.err
    assert first.out == second.out, "the seed decides"
    document = json.loads(first.out)
    assert len(document["hash"]) == 64 and len(document["plan"]["blocks"]) == 2
    shown = shop.call("plan", study)
    assert shown.code == 0 and document["hash"] in shown.out
    # A log, which has no spinner, states what takes its time.
    assert "pilot: a is started once" in shown.err
    for words in ("privileges", "settings changed", "expected time", "written", "block 2"):
        assert words in shown.out
    # Nothing boots where the systems are this machine.
    text = " ".join(shown.out.split())
    assert "Workloads in every process start" in text and "time in one process start" in text
    assert "process starts 4 (2 blocks)" in text
    assert set(shop.directory.iterdir()) - before <= {shop.directory / "state"}


def test_the_pilot_of_a_broken_system_is_told(shop: Shop) -> None:
    shop.options = {"faults": [{"kind": "early", "cpus": [0]}]}
    done = shop.call("plan", shop.write())
    assert done.code == 0, done.err
    assert 'The pilot of "b" failed' in done.out and "not counting b" in done.out


@pytest.fixture(scope="module")
def once(shop_of_module: Shop) -> Shop:
    shop = shop_of_module
    text = STUDY.replace("cpus = [0]", 'parameters = { "fake.beta" = { slowdown_percent = 50 } }')
    done = shop.call("run", shop.write(text), "--no-pilot", "--no-report", "--blocks", "6")
    assert done.code == 0, done.err
    return shop


@pytest.fixture
def measured(shop: Shop, once: Shop) -> Path:
    return copied(shop, once).result()


def test_a_planted_slowdown_is_called_slower(shop: Shop, measured: Path) -> None:
    done = shop.call("compare", measured, "--full")
    assert done.code == 0, done.err
    rows = [line for line in done.out.splitlines() if "slower" in line]
    assert len(rows) >= 3 and done.out == shop.call("compare", measured, "a", "b", "--full").out
    back = shop.call("compare", measured, "b", "a")
    assert back.code == 0 and "faster" in back.out
    wrong = shop.call("compare", measured, "a", "c")
    assert wrong.code == 2 and '"c" is no system' in wrong.err
    assert shop.call("compare", measured, "a", "a").code == 2


def test_report_formats(shop: Shop, measured: Path) -> None:
    out = shop.directory / "reports"
    formats = "html,csv,markdown,latex,json"
    done = shop.call("report", measured, "--format", formats, "--out", out)
    assert done.code == 0, done.err
    files = [Path(line) for line in done.out.split()]
    assert all((shop.directory / file).stat().st_size > 200 for file in files)
    assert {file.suffix for file in files} == {".html", ".csv", ".md", ".tex", ".json"}
    for file in files:
        if file.suffix == ".csv":
            assert len(list(csv.reader((shop.directory / file).open()))) > 3
        if file.suffix == ".json":
            json.loads((shop.directory / file).read_text())


def test_results(shop: Shop, measured: Path) -> None:
    [listed] = json.loads(shop.call("results", "list", "--json").out)
    assert (listed["state"], listed["failures"]) == ("finished", 0)
    assert listed["steps"] == listed["finished"] == 36
    shown = shop.call("results", "show")
    assert shown.code == 0 and "Two systems" in shown.out and "Fake CPU" in shown.out
    assert "process starts" in " ".join(shown.out.split()) and "boots" not in shown.out


def test_doctor_quick(shop: Shop) -> None:
    done: Done = shop.call("doctor", "--quick")
    assert "local" in done.out and "pentathlon-agent" in done.out
    assert done.code == 3, "the fake agent is not static"


def test_output_into_a_closed_pipe(shop: Shop) -> None:
    process = shop.start("catalog", "--json")
    assert process.stdout is not None
    process.stdout.close()
    process.wait(timeout=30)
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_tables_of_a_result_that_fills_none(shop, measured):
    done = shop.call("tables", measured)
    assert (done.code, done.out) == (0, "")
    assert "measured no row of these tables" in done.err
    assert json.loads(shop.call("tables", measured, "--format", "json").out) == []
