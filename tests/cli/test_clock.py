"""The time left: with a pilot, without one, and as it learns."""

from __future__ import annotations

import pytest

from pentathlon.cli.clock import TimeLeft
from pentathlon.cli.screen import seconds, size
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

ESTIMATES = {
    "a": SystemEstimate(boot_s=2.0, steps_s={0: 1.0, 1: 1.0, 2: 1.0}),
    "b": SystemEstimate(boot_s=4.0, steps_s={0: 2.0, 1: 2.0, 2: 2.0}),
}


class Clock:
    """Time that passes as the records say: a boot takes `boot` seconds, a step `step`."""

    def __init__(self, boot: float, step: float) -> None:
        self.now = 0.0
        self.boot, self.step = boot, step

    def __call__(self) -> float:
        return self.now

    def before(self, record: Record) -> None:
        if isinstance(record, BootEnd):
            self.now += self.boot
        elif isinstance(record, AgentEvent) and getattr(record.message, "state", None) == "end":
            self.now += self.step


def follow(clock: Clock, estimates: dict[str, SystemEstimate] | None) -> list[tuple[float, float]]:
    """(truly left, estimated to be left) at each boot's start, for a run of three blocks."""
    plan = scripted.plan(blocks=3)
    state = RunState(plan)
    left = TimeLeft(state, estimates, clock)
    sentences: list[tuple[float, float | None]] = []

    def observe(record: Record) -> None:
        clock.before(record)
        left.take(record)
        if isinstance(record, BootStart):
            sentences.append((clock.now, left.seconds()))

    targets = {name: ScriptedTarget(name, well) for name in ("a", "b")}
    Runner(
        plan,
        targets,
        lambda record: None,
        catalog=scripted.catalog(),
        state=state,
        observer=observe,
    ).run()
    return [(clock.now - at, value) for at, value in sentences if value is not None]


def test_it_learns_what_the_steps_really_take() -> None:
    """The pilot was wrong by a factor of ten: after one boot of each, the time left is right."""
    reported = follow(Clock(boot=20.0, step=10.0), ESTIMATES)
    assert len(reported) == 6
    assert [output for _, output in reported[2:]] == pytest.approx(
        [truth for truth, _ in reported[2:]]
    )


def test_without_a_pilot_nothing_is_said_at_first() -> None:
    reported = follow(Clock(boot=0.0, step=10.0), None)
    assert len(reported) == 5, "the first boot has nothing to go by"
    assert [sentences for _, sentences in reported] == pytest.approx(
        [truth for truth, _ in reported]
    )


def test_boots_count_without_a_pilot_too() -> None:
    """A machine that restarts for minutes measures for seconds: the boot is the time."""
    reported = follow(Clock(boot=200.0, step=0.1), None)
    assert [output for _, output in reported] == pytest.approx([truth for truth, _ in reported])


def test_the_pilot_is_believed_at_first() -> None:
    state = RunState(scripted.plan(blocks=3))
    left = TimeLeft(state, ESTIMATES, Clock(0, 0))
    assert left.seconds() == pytest.approx(3 * (2 + 3 + 4 + 6))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 ms"),
        (0.0404, "40 ms"),
        (0.999, "1.0 s"),
        (2.54, "2.5 s"),
        (9.97, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185.0, "3 min 05 s"),
        (7800.0, "2 h 10 min"),
    ],
)
def test_durations(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (999, "999 B"), (1200, "1.2 kB"), (5e12, "5000.0 GB")]
)
def test_sizes(value: float, text: str) -> None:
    assert size(value) == text
