"""Every workload of a single system under Wine: it yields samples, or states why it cannot."""

import os
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import Placement, Request
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, entry, request

FILE = 1 << 17
CACHED = {"file_bytes": FILE, "block_bytes": 4096, "limit_s": 0.01, "method": "cached"}
DIRECT = CACHED | {"method": "direct"}
BLOCKS: dict[str, Any] = {"block_bytes": [4096]}
ALONE = {"bytes": 1 << 14}
LEVELS: dict[str, Any] = {"opt_levels": ["0", "3"]}
TOGETHER = {"bytes": 1 << 14, "window_ms": 1}

PARAMETERS: dict[str, dict[str, Any]] = {
    "memory.read": BLOCKS,
    "memory.write": BLOCKS,
    "memory.copy": BLOCKS,
    "memory.latency": BLOCKS,
    "memory.blocks": BLOCKS,
    "memory.levels": {"levels": ["L1", "memory"], "memory_bytes_most": 1 << 20},
    "memory.after_boot": {},
    "memory.faults": BLOCKS | {"window_ms": 1},
    "memory.regions": {"largest_bytes": 4096},
    "memory.code_size": {
        "code_bytes": [4096, 1 << 21],
        "opt_levels": ["0", "2"],
        "follow_cache": False,
    },
    "memory.code_plus_data": BLOCKS | {"follow_cache": False},
    "memory.sub_looping": {"total_bytes": [16_384], "piece_bytes": [1024, 16_384], "passes": 2},
    "arithmetic.operations": {},
    "arithmetic.loop": {},
    "cpu.compress": ALONE,
    "cpu.decompress": ALONE,
    "cpu.encrypt": ALONE,
    "cpu.decrypt": ALONE,
    "cpu.image_decompress": {"width": 32, "height": 32},
    "cpu.audio_compress": {"audio_s": 0.1},
    "cpu.audio_decompress": {"audio_s": 0.1},
    "cpu.two_at_once": TOGETHER,
    "cpu.four_at_once": TOGETHER | {"width": 32, "height": 32, "audio_s": 0.1},
    "cpu.cipher": {"bytes": 1024, "messages": 1},
    "cpu.game": {"test": ["cpu1"], "threads": [1, 2], "frames": 1},
    "cpu.moldyn": {"cells": [3], "steps": 2},
    "cpu.pi": {"digits": [1000]},
    "cpu.primordia": {"element": ["H"]},
    "cpu.simplex": {"dimensions": 2},
    "cpu.scheduling.switch": {},
    "cpu.scheduling.wakeup": {"wakeups": 10},
    "cpu.scheduling.sleep": {"sleep_us": [100], "sleeps": 5},
    "cpu.scheduling.fairness": {"nice": [0], "window_ms": 10},
    "process.getpid": LEVELS,
    "process.malloc_free": LEVELS,
    "process.fopen_fclose": LEVELS,
    "process.open_close": LEVELS,
    "process.create_delete": LEVELS,
    "process.fork_wait": LEVELS,
    "process.fork_exec": {},
    "process.exec_static": {},
    "process.thread": {},
    "process.pipe_round_trip": {},
    "process.signal": {},
    "process.futex": {},
    "process.condition": {},
    "process.mmap_munmap": {"bytes": [65_536]},
    "process.page_fault": {"pages": [16]},
    "process.event": {},
    "process.call_styles": LEVELS | {"repetitions": [1, 2], "fork_repetitions": [1]},
    "disk.access": {"file_bytes": FILE, "chunk_bytes": [64, 65_536], "limit_s": 0.01},
    "disk.order": {"file_bytes": FILE, "chunk_bytes": [4096], "limit_s": 0.01},
    "disk.phases": {"file_bytes": FILE, "chunk_bytes": [16_384]},
    "disk.linear": CACHED,
    "disk.random": DIRECT,
    "disk.buffered": CACHED,
    "disk.access_time": DIRECT,
    "disk.trace": {"trace": ["general-usage"]},
    "disk.queue": {"file_bytes": FILE, "depth": [1, 4], "limit_s": 0.01},
    "disk.sync": {"calls": 2},
    "disk.metadata": {"files": 10, "directories": 2},
    "test.spin": {},
}
"""The smallest work that still goes through all of a workload's code."""

OTHERS = ("network", "files", "forwarding", "graphics")
"""Areas that need two systems, and that of a program which is not built for Windows by this."""

MACHINE_S = {"memory.levels", "memory.code_size"}
"""Their checksums depend on the caches that the system reports, and on its compiler's code."""

AREAS = ["memory", "arithmetic", "cpu", "process", "disk", "test"]


def request_for(area: str, timeout_s: float = 30.0) -> Request:
    """One request for all workloads of an area."""
    workloads = [
        entry(name, parameters=parameters, iterations=1, sample_ms=0.2, timeout_s=timeout_s)
        for name, parameters in PARAMETERS.items()
        if name.startswith(area + ".")
    ]
    return request("", workloads=workloads)


def sums(events: list[dict[str, Any]], name: str) -> dict[str, str | None]:
    """The checksum of each metric in each case of one workload; histograms have none."""
    measured = (
        e for e in events if e["event"] in ("sample", "histogram") and e["workload"] == name
    )
    return {f"{e['metric']} {e['case']}": e.get("checksum") for e in measured}


def test_every_workload_has_parameters_here(real_agent: Path) -> None:
    listed = agent.catalog(real_agent)["workloads"]
    assert set(PARAMETERS) == {w["id"] for w in listed if w["area"] not in OTHERS}
    assert {name.split(".")[0] for name in PARAMETERS} == set(AREAS)


def check_same_work(
    whole: Request, there: list[dict[str, Any]], here: list[dict[str, Any]]
) -> None:
    """Each workload computed there what it computed here, or is unsupported with a reason."""
    refused = [e for e in there if e["event"] == "error"]
    failures = [f"{e['workload']}: {e['reason']}" for e in refused if e["kind"] != "unsupported"]
    assert failures == []
    assert all(e["reason"] for e in refused)
    for name in (one.id for one in whole.workloads):
        found, expected = sums(there, name), sums(here, name)
        assert found or any(e["workload"] == name for e in refused), f"{name} says nothing"
        if name not in MACHINE_S:
            common = found.keys() & expected.keys()
            assert {k: found[k] for k in common} == {k: expected[k] for k in common}, name


@pytest.mark.parametrize("area", AREAS)
def test_every_workload_is_measured_as_on_the_host_or_says_why_not(
    area: str, real_agent: Path, state: Path
) -> None:
    wine = make_target(FakeSystem(target="wine"), real_agent, state)
    try:
        wine.prepare()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    whole = request_for(area)
    with wine.boot(200) as session:
        there = documents(session.run(whole, 60, 180))
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        here = documents(session.run(whole, 60, 180))
    check_same_work(whole, there, here)


def test_all_threads_are_those_of_the_cpus_that_it_was_given(real_agent: Path, state: Path) -> None:
    wine = make_target(FakeSystem(target="wine"), real_agent, state)
    try:
        wine.prepare()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("two CPUs are needed")
    parameters = {"levels": ["L1"], "threads": ["all"]}
    levels = entry("memory.levels", parameters=parameters, iterations=1, timeout_s=120)
    parts = []
    for chosen in (cpus[:1], cpus[:2]):
        one = request("", workloads=[levels], placement=Placement(cpus=chosen))
        with wine.boot(200) as session:
            events = documents(session.run(one, 60, 180))
        parts += [
            e["value"]["threads"]
            for e in events
            if e["event"] == "counter" and e["name"].endswith("[level=L1,threads=all]")
        ]
    assert parts == [1, 2]
