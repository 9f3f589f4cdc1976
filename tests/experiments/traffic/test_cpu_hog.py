"""A CPU hog that measured nothing leaves a sentence in the place of its figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.experiments.traffic import driver, trials
from pentathlon.study.flows import Flow
from pentathlon.testbed import availability
from tests.experiments.traffic.conftest import task


def cpu_hog(*progress: list[list[float]]) -> dict[str, Any]:
    return {"yields": [{"progress": notes} for notes in progress]}


def test_a_cpu_hog_without_any_time_is_asked_again_and_then_leaves_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(availability.time, "sleep", lambda _: None)
    nothing, something = cpu_hog([[0, 0, 0], [1e9, 0, 0]]), cpu_hog([[0, 0, 0], [1e9, 9, 9]])

    class Host:
        def __init__(self, left: list[dict[str, Any]]) -> None:
            self.left = left
            self.start = lambda job, what: None

        def finish_job(self, _: str) -> dict[str, Any]:
            return self.left.pop(0) if self.left else nothing

    both: Any = Host([nothing, something]), Host([nothing, something])
    with availability.cpu_hogs_on("idle", both) as cpu_hogs:
        pass
    window = {"window": {"from_ns": 0, "to_ns": 1e9}}
    assert (cpu_hogs.before, cpu_hogs.percent([window, window])) == ([9, 9], [0, 0])
    both = Host([]), Host([something] * availability.CALIBRATIONS)
    with availability.cpu_hogs_on("idle", both) as cpu_hogs:
        pass
    assert cpu_hogs.percent([window, window]) == [availability.NOTHING_ALONE, 0]


def test_a_case_says_once_which_cpu_hog_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def cpu_hogs_on(*_: Any) -> Iterator[availability.CpuHogs]:
        yield availability.CpuHogs([0.0, 1.0], [cpu_hog([[0, 0, 0]])] * 2)

    trial = trials.Trial([Flow("1", "udp", {}, {}, 0.0, 1.0)], 1.0, ("a", "b"))
    monkeypatch.setattr(availability, "cpu_hogs_on", cpu_hogs_on)
    monkeypatch.setattr(driver, "run_trial", lambda *_: trial)
    monkeypatch.setattr(driver, "judge", lambda _: [])
    monkeypatch.setattr(driver, "_kept", lambda *_: [])
    once = task(cpu_hog="idle")
    work = replace(once, description=once.description.model_copy(update={"iterations": 3}))
    host: Any = SimpleNamespace(refused={})
    errors = [e for _, e in driver.run_traffic(work, host, host) if e["event"] == "error"]
    assert [(error["kind"], error["reason"]) for error in errors] == [
        ("unsupported", f"cpu_available_sender: {availability.NOTHING_ALONE}"),
        ("unsupported", f"cpu_available_receiver: {availability.NO_WINDOW}"),
    ]
