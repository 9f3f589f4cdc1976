"""`pentathlon run` end to end with the fake agent: faults, interruption, resumption, fallback."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from pentathlon.procedure import attempt
from pentathlon.store.query import Result, load_result
from tests.cli.conftest import STUDY, Shop


def counted(result: Result) -> pl.DataFrame:
    return result.samples().filter(pl.col("counted") & (pl.col("phase") == "measure"))


def test_a_run(shop: Shop) -> None:
    done = shop.call("run", shop.write())
    assert done.code == 0, done.err
    result = load_result(shop.result())
    assert result.finished
    assert counted(result).height == 2 * 2 * 3 * 3 * 3
    assert result.plan_hash in done.err, "the plan is printed with its hash"
    assert "expected time" in done.err and "not estimated" not in done.err
    assert "fake.beta" in done.err and "starts" in done.err
    assert (shop.result() / "report.html").stat().st_size > 10_000
    assert "b" in done.out and str(shop.result().name) in done.err


def test_no_pilot_says_so(shop: Shop) -> None:
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report", "--blocks", "1")
    assert done.code == 0 and "not estimated" in done.err
    assert not (shop.result() / "report.html").exists()
    assert len(load_result(shop.result()).plan.blocks) == 1
    assert done.out == ""


@pytest.mark.parametrize("kind", ["die", "torn", "silent", "failed"])
def test_a_fault_that_strikes_once(shop: Shop, kind: str) -> None:
    shop.options = {"faults": [{"kind": kind, "workload": "fake.beta", "times": 1}]}
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    result = load_result(shop.result())
    assert counted(result).height == 2 * 2 * 3 * 3 * 3
    failures = result.failures()
    assert failures.height >= 1 and set(failures["resolved"]) == {True}
    assert set(failures["workload"]) == {"fake.beta"}


def test_a_system_whose_agent_dies_at_once(shop: Shop) -> None:
    shop.options = {"faults": [{"kind": "early", "cpus": [0]}]}
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report")
    assert done.code == 1, done.err
    result = load_result(shop.result())
    assert result.finished
    assert counted(result)["system"].unique().to_list() == ["a"]
    assert set(result.failures()["kind"]) == {"boot"}
    shown = shop.call("results", "show", shop.result())
    assert shown.code == 0 and "Failures" in shown.out


def test_a_workload_that_always_fails(shop: Shop) -> None:
    shop.options = {"faults": [{"kind": "die", "workload": "fake.beta"}]}
    done = shop.call("run", shop.write(), "--no-pilot")
    assert done.code == 1, done.err
    result = load_result(shop.result())
    assert set(counted(result)["workload"]) == {"fake.alpha", "fake.gamma"}
    assert counted(result).height == 2 * 2 * 2 * 3 * 3


def test_what_is_unsupported_is_no_failure_of_the_run(shop: Shop) -> None:
    shop.options = {"faults": [{"kind": "unsupported", "workload": "fake.beta", "cpus": [0]}]}
    done = shop.call("run", shop.write(), "--no-pilot")
    assert done.code == 0, done.err
    failures = load_result(shop.result()).failures()
    assert set(failures["kind"]) == {"unsupported"} and failures.height == 2
    assert "planted: unsupported" in done.err


def test_an_agent_that_hangs(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hard limit of the session ends it; the study goes on."""
    monkeypatch.setattr(attempt, "GRACE_S", 1.0)
    shop.options = {"faults": [{"kind": "hang", "workload": "fake.beta", "times": 1}]}
    text = STUDY.replace("retries = 1", "retries = 1\nstep_timeout_s = 0.5")
    done = shop.call("run", shop.write(text), "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    result = load_result(shop.result())
    assert counted(result).height == 2 * 2 * 3 * 3 * 3
    [failure] = result.failures().iter_rows(named=True)
    assert failure["kind"] == "died" and failure["workload"] == "fake.beta"


def journals(shop: Shop) -> list[Path]:
    return list(shop.directory.glob("results/*/journal.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(shop: Shop, number: signal.Signals) -> None:
    shop.options = {"delay_s": 0.05}
    process = shop.start("run", shop.write(), "--no-pilot")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if any(file.read_text().count('"sample"') > 5 for file in journals(shop)):
            break
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert f"--resume results/{shop.result().name}" in err.replace("\n", ""), err
    assert "Traceback" not in err
    records = [json.loads(line) for line in (shop.result() / "journal.jsonl").open()]
    ends = [record["outcome"] for record in records if record["record"].endswith("-end")]
    # Both systems of a block are alive; between two blocks there is no boot to interrupt.
    assert ends[-1] == "interrupted" and set(ends[:-3]) <= {"ok"}
    assert ends[-2:-1] in (["interrupted"], ["ok"])
    listed = shop.call("results", "list")
    assert "unfinished" in listed.out
    shop.options = {}
    done = shop.call("run", "--resume")
    assert done.code == 0, done.err
    assert counted(load_result(shop.result())).height == 2 * 2 * 3 * 3 * 3
    again = shop.call("run", "--resume")
    assert again.code == 2 and "no unfinished result" in again.err


@pytest.fixture
def cut(shop: Shop) -> Path:
    """A result whose run was cut off in its first boot."""
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    journal = shop.result() / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:20]))
    return shop.result()


def test_resume_refuses_a_changed_study(shop: Shop, cut: Path) -> None:
    shop.write(STUDY.replace("iterations = 3", "iterations = 4"))
    done = shop.call("run", "--resume", cut)
    assert done.code == 2
    assert "study.toml has changed since the run began (in: procedure)" in done.err


def test_resume_refuses_another_agent(shop: Shop, cut: Path) -> None:
    shop.options = {"build": "0ther"}
    done = shop.call("run", "--resume", cut)
    assert done.code == 2 and "the agent is another build (0ther)" in done.err


def test_resume_uses_the_copy_of_a_study_that_is_gone(shop: Shop, cut: Path) -> None:
    (shop.directory / "study.toml").unlink()
    assert shop.call("run", "--resume", cut).code == 0
    assert load_result(cut).finished


def test_resume_works_in_a_copied_directory(shop: Shop, cut: Path) -> None:
    copy = shop.directory / "copied"
    shutil.copytree(cut, copy)
    assert shop.call("run", "--resume", copy).code == 0
    assert load_result(copy).finished and not load_result(cut).finished


def test_resume_refuses_what_is_no_result(shop: Shop) -> None:
    done = shop.call("run", "--resume", shop.directory)
    assert done.code == 2 and "is no result directory" in done.err


def test_a_finished_result_is_not_resumed(shop: Shop) -> None:
    shop.call("run", shop.write(), "--no-pilot", "--no-report")
    done = shop.call("run", "--resume", shop.result())
    assert done.code == 2 and "is finished" in done.err


def test_the_fallback_says_what_it_is(shop: Shop) -> None:
    """User-mode Linux needs a static agent, which the fake one is not."""
    first = STUDY.replace('target = "local"\ncpus = [0]', 'target = "uml"\nkernel = "6.1"')
    first = first.replace('name = "two"', 'name = "first"\nfallback = "second.toml"')
    shop.write(STUDY.replace('name = "two"', 'name = "second"'), "second.toml")
    done = shop.call("run", shop.write(first), "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    flat = " ".join(done.err.split())
    assert 'The study "first" was not run: system "b" (target "uml")' in flat
    assert "Its fallback second.toml is run instead" in flat
    result = load_result(shop.result())
    assert result.study.name == "second" and shop.result().name.startswith("second-")
    assert "first" in result.notes()[0]


def test_without_a_fallback_the_remedy_is_named(shop: Shop) -> None:
    text = STUDY.replace('target = "local"\ncpus = [0]', 'target = "uml"\nkernel = "6.1"')
    done = shop.call("run", shop.write(text), "--no-pilot")
    assert done.code == 3
    assert 'system "b" (target "uml") cannot be prepared' in done.err
    assert "To make it work: " in done.err
    assert shop.results() == []


def test_two_runs_in_one_directory(shop: Shop) -> None:
    shop.options = {"delay_s": 0.05}
    out = shop.directory / "out"
    first = shop.start("run", shop.write(), "--no-pilot", "--no-report", "--out", out)
    deadline = time.monotonic() + 20
    while not (out / "plan.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    second = shop.call("run", "--resume", out)
    first.terminate()
    first.communicate(timeout=60)
    assert second.code == 2 and "is being written by another run" in second.err
