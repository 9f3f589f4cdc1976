"""Two runs on one CPU: the second one is refused, or waits; a machine that is not quiet."""

from __future__ import annotations

import csv
import io
import json
import signal

import pytest

from pentathlon.machine.claims import Claims, lock_directory
from pentathlon.report.export.files import MAKERS
from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

ONE = STUDY.replace('target = "local"\n\n', 'target = "local"\ncpus = [0]\n\n', 1)


def test_a_second_run_on_a_cpu_is_refused(shop: Shop) -> None:
    file = shop.write(ONE)
    with Claims() as claims:
        claims.take("another study", ["CPU 0"])
        for words in (["run", file], ["run", file, "--no-pilot"], ["calibrate", file]):
            done = shop.call(*words)
            assert done.code == 3 and not shop.results()
            assert 'CPU 0 is taken by the run of study "another study" (process ' in done.err
            assert len(done.err.strip().splitlines()) == 1, done.err
        planned = shop.call("plan", file)
        assert planned.code == 3 and "--no-pilot" in planned.err
        assert shop.call("plan", file, "--no-pilot").code == 0
    assert shop.call("run", file, "--no-report", "--no-pilot", "--blocks", "1").code == 0
    with Claims() as claims:
        claims.take("after a run nothing is held", ["CPU 0"])


def test_a_run_on_another_cpu_is_not_refused(shop: Shop) -> None:
    with Claims() as claims:
        claims.take("another study", ["CPU 4095"])
        done = shop.call("run", shop.write(ONE), "--no-pilot", "--no-report", "--blocks", "1")
        assert done.code == 0


def test_a_resumed_run_takes_its_cpus_too(shop: Shop) -> None:
    shop.options = {"delay_s": 0.01}
    process = shop.start("run", shop.write(ONE), "--no-pilot")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("block 1/2"):
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    with Claims() as claims:
        claims.take("another study", ["CPU 0"])
        done = shop.call("run", "--resume")
        assert done.code == 3 and "another study" in done.err
    shop.options = {}
    assert shop.call("run", "--resume").code == 0


def test_a_run_that_waits(shop: Shop) -> None:
    with Claims() as claims:
        claims.take("another study", ["CPU 0"])
        process = shop.start("run", shop.write(ONE), "--no-pilot", "--no-report", "--wait")
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "another study" in line and "waiting" in line
        assert not shop.results()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert shop.result().is_dir()


def test_the_locks_of_tests_are_their_own() -> None:
    assert "pentathlon-test-locks-" in str(lock_directory())


def test_a_run_on_a_busy_machine_says_so_and_keeps_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pentathlon.cli.setup.disturbances", lambda: ["load: 97 % busy"])
    done = shop.call("run", shop.write(ONE), "--no-pilot", "--blocks", "1")
    assert done.code == 0
    remark = "This machine is not quiet (load: 97 % busy)"
    assert done.err.index(remark) < done.err.index("block 1/1")
    assert any(remark in note for note in load_result(shop.result()).notes())
    page = (shop.result() / "report.html").read_text()
    assert page.index(remark) < page.index("<article")
    assert remark in shop.call("results", "show").out


def test_samples_without_a_whole_cpu_are_named_everywhere(shop: Shop) -> None:
    shop.options = {
        "faults": [{"kind": "starved", "workload": "fake.beta", "cpus": [0]}],
    }
    study = ONE.replace('target = "local"\ncpus = [0]\n', 'target = "local"\n', 1)
    done = shop.call("run", shop.write(study), "--no-pilot")
    assert done.code == 0, done.err
    head = "b got less than 90 % of a CPU for 3 of 9 metrics in the blocks 1 and 2, at worst 10 %"
    assert head in " ".join(done.out.split())
    shown = shop.call("compare", str(shop.result()), "--tables")
    assert "b: fake.beta.time, 3 cases: 10 % in the blocks 1 and 2" in shown.out
    assert (
        "fake.alpha" not in done.out.partition("less than 90 % of a CPU\n")[2].partition("\n\n")[0]
    )
    assert "a got less" not in done.out
    assert head in " ".join(shop.call("compare").out.split())
    shop.call("report", "--format", "html,csv,markdown,json,latex")
    note = "b got 10 % of a CPU in the blocks 1 and 2"
    page = (shop.result() / "report.html").read_text()
    assert page.index(head) < page.index("<article") and note in page
    rows = csv.DictReader(io.StringIO((shop.result() / MAKERS["csv"][0]).read_text()))
    marked = {row["workload"] for row in rows if note in row["cautions"]}
    assert marked == {"fake.beta"}
    exported = json.loads((shop.result() / MAKERS["json"][0]).read_text())
    assert {tuple(one["blocks"]) for one in exported["starved"]} == {(0, 1)}
    assert "less than 90 % of a CPU" in (shop.result() / MAKERS["markdown"][0]).read_text()
    assert r"less than 90 \% of a CPU" in (shop.result() / MAKERS["latex"][0]).read_text()


def test_a_plan_points_out_what_makes_no_difference(shop: Shop) -> None:
    done = shop.call("plan", shop.write(ONE), "--no-pilot")
    text = 'The systems "a" and "b" are the same under two names'
    assert done.code == 0 and text in done.out
    planned = shop.call("plan", shop.write(ONE), "--no-pilot", "--json")
    assert any(text in note for note in json.loads(planned.out)["notes"])
    calibrated = shop.call("calibrate", shop.write(ONE), "--blocks", "2")
    assert calibrated.code == 0 and text not in calibrated.err, "counterparts are what it asks for"
