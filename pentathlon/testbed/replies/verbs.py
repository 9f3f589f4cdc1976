"""Command -> its answering event and what reads that, where the answer depends on it alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pentathlon.protocol.requests import commands
from pentathlon.testbed.replies import captures, jobs, programs, settings, trials
from pentathlon.testbed.replies.fields import Fields
from pentathlon.testbed.replies.line import Line, line


def _line(answer: Fields, _: commands.Command) -> Line:
    return line(answer)


def _clock(answer: Fields, command: commands.Clock) -> None:
    answer.same("after_ms", command.after_ms)
    answer.same("to_ns", command.to_ns)


def _tuned(*_: object) -> None:
    """It has no further fields."""


READERS: Final[Mapping[type[commands.Command], tuple[str, Callable[[Fields, Any], Any]]]] = {
    commands.Listen: ("ready", trials.ready),
    commands.Send: ("sent", trials.sent),
    commands.Finish: ("received", trials.received),
    commands.Address: ("addressed", settings.addressed),
    commands.Set: ("set", settings.was_set),
    commands.Forward: ("forwarding", settings.forwarding),
    commands.Tune: ("tuned", _tuned),
    commands.Start: ("started", jobs.started),
    commands.Order: ("line", _line),
    commands.Capture: ("capturing", captures.capturing),
    commands.Captured: ("captured", captures.captured),
    commands.Perform: ("performed", programs.performed),
    commands.Clock: ("clock", _clock),
}
