"""What is printed while a run goes on and standard error is no terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pentathlon.cli import progress, screen
from pentathlon.cli.clock import TimeLeft
from pentathlon.cli.heartbeat import Heartbeat
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.targets.contract import Session
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

LIMIT_S = 20.0
"""For a line that never comes."""


class Written(io.StringIO):
    """A stream that shows when some words are in it."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        if self._words in self.getvalue():
            self.seen.set()
        return count


def watched_run(first: ScriptedTarget) -> None:
    """A run of a block whose progress is reported in plain lines."""
    plan = scripted.plan(blocks=1)
    state = RunState(plan)
    lines = progress.PlainLines(state, TimeLeft(state, None), quiet_s=0.001)
    with lines:
        Runner(
            plan,
            {"a": first, "b": ScriptedTarget("b", well)},
            lambda record: None,
            catalog=scripted.catalog(),
            state=state,
            observer=lines,
        ).run()


def test_a_step_without_events_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Written(" of 3 workloads done, w.two\n")
    console = screen.Screen(stderr=True)
    console.file = shown
    monkeypatch.setattr(progress, "err", console)

    def slow(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        for event in well(request, boot):
            yield event
            if event.get("workload") == "w.two" and event.get("state") == "start":
                assert shown.seen.wait(LIMIT_S), shown.getvalue()

    watched_run(ScriptedTarget("a", slow))
    assert shown.seen.is_set()
    assert all(line.startswith("block 1/1  ") for line in shown.getvalue().splitlines())


def test_how_long_a_boot_has_taken_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that restarts, and is waited for."""
    shown = Written("  a: boots for ")
    console = screen.Screen(stderr=True)
    console.file = shown
    monkeypatch.setattr(progress, "err", console)

    class Slow(ScriptedTarget):
        def boot(self, timeout_s: float) -> Session:
            assert shown.seen.wait(LIMIT_S), shown.getvalue()
            return super().boot(timeout_s)

    watched_run(Slow("a", well))
    assert shown.seen.is_set()


def test_between_boots_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """No boot goes on yet, and none goes on any more after the end."""
    console = screen.Screen(stderr=True)
    console.file = shown = io.StringIO()
    monkeypatch.setattr(progress, "err", console)
    state = RunState(scripted.plan(blocks=1))
    beats = threading.Event()
    with progress.PlainLines(state, TimeLeft(state, None), quiet_s=0.001) as lines:
        beat = lines._beat
        monkeypatch.setattr(lines, "_beat", lambda: (beat(), beats.set()))
        lines._heartbeat._beat = lines._beat
        assert beats.wait(LIMIT_S)
    assert shown.getvalue() == ""


def test_a_heartbeat_waits_for_silence_and_ends() -> None:
    silent = threading.Event()
    with Heartbeat(silent.set, quiet_s=0.001) as heartbeat:
        assert silent.wait(LIMIT_S)
    assert not heartbeat._thread.is_alive()

    never = threading.Event()
    with Heartbeat(never.set, quiet_s=3600.0) as heartbeat:
        heartbeat.heard()
    assert not never.is_set() and not heartbeat._thread.is_alive()
