"""`kill -9` of the real command at random moments, then --resume: nothing lost, nothing twice."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pentathlon.store.journal import JOURNAL
from pentathlon.store.query import Result, load_result
from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

KILLS = 5
Place = tuple[Any, ...]


def journalled(directory: Path) -> Counter[Place]:
    """Every sample that stands in a whole line of the journal, with its exact value."""
    found: Counter[Place] = Counter()
    for line in (directory / JOURNAL).read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        record = json.loads(line)
        event = record.get("event", {})
        if event.get("event") == "sample":
            place = (record["block"], record["system"], record["attempt"], event["workload"])
            found[*place, event["phase"], event["iteration"], event["value"]] += 1
    return found


def in_table(result: Result) -> Counter[Place]:
    columns = ["block", "system", "attempt", "workload", "phase", "iteration", "value"]
    return Counter(result.samples().select(columns).iter_rows())


def planned(result: Result) -> set[Place]:
    """Every sample that the plan demands."""
    return {
        (block, boot.system, step.workload, f"size_bytes={size},variant=plain", 0, phase, number)
        for block, boots in enumerate(result.plan.blocks)
        for boot in boots
        for step in result.plan.steps[boot.system]
        for size in step.parameters["size_bytes"]
        for phase, count in (("warmup", step.warmup), ("measure", step.iterations))
        for number in range(count)
    }


def kill_within(process: subprocess.Popen[str], journal: Path, randomness: random.Random) -> bool:
    """Kill the run at a random moment of its measuring; False if it ended before."""
    size = journal.stat().st_size if journal.exists() else 0
    while process.poll() is None:
        # From here on it is measuring, and each moment is as likely as any other.
        if journal.exists() and journal.stat().st_size > size:
            time.sleep(randomness.uniform(0.0, 0.35))
            break
        time.sleep(0.001)
    process.kill()
    process.communicate()
    return process.returncode == -9


def test_kill_at_random_moments(shop: Shop) -> None:
    shop.options = {"delay_s": 0.004}
    study = shop.write(STUDY.replace("blocks = 2", "blocks = 8"))
    out = shop.directory / "result"
    randomness = random.Random()
    kills = 0
    begin = ("run", study, "--no-pilot", "--no-report", "--out", out)
    process = shop.start(*begin)
    kept: Counter[Place] = Counter()
    hashes = set()
    while kills < KILLS:
        killed = kill_within(process, out / JOURNAL, randomness)
        if not (out / "plan.json").exists():
            process = shop.start(*begin)  # killed while it made the directory
            continue
        now = journalled(out)
        assert not kept - now, "a journalled sample was lost"
        kept = now
        hashes.add(load_result(out).plan_hash)
        if not killed and load_result(out).finished:
            break
        kills += killed
        process = shop.start("run", "--resume", out, "--no-report")
    process.communicate()
    if not load_result(out).finished:
        done = shop.call("run", "--resume", out, "--no-report")
        assert done.code == 0, done.err
    result = load_result(out)
    result.refresh()
    assert kills == KILLS, "the run ended before it could be killed often enough"
    assert result.finished and result.state.failures == []
    assert hashes == {result.plan_hash}
    # Every journalled sample is in the table, once, whether it is counted or not.
    assert not kept - in_table(result)
    assert in_table(result) == journalled(out)
    counted = result.samples().filter(pl.col("counted"))
    columns = ["block", "system", "workload", "case", "process", "phase", "iteration"]
    assert Counter(counted.select(columns).iter_rows()) == Counter(planned(result))


def test_killed_before_anything_is_measured(shop: Shop) -> None:
    shop.options = {"faults": [{"kind": "early"}]}
    study = shop.write()
    out = shop.directory / "result"
    process = shop.start("run", study, "--no-pilot", "--no-report", "--out", out)
    deadline = time.monotonic() + 20
    while not (out / "plan.json").exists() and time.monotonic() < deadline:
        time.sleep(0.0005)
    process.kill()
    process.communicate()
    shop.options = {}
    done = shop.call("run", "--resume", out)
    assert done.code == 0, done.err
    assert load_result(out).finished
