"""Name of an answering event -> what reads it, for commands whose answers depend on them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pentathlon.testbed.answers import captures, jobs, programs, settings, trials
from pentathlon.testbed.answers.fields import Fields
from pentathlon.testbed.answers.line import Line, line


def _line(answer: Fields, _: Mapping[str, Any]) -> Line:
    return line(answer)


def _clock(answer: Fields, command: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("after_ms", "to_ns"):
        answer.same(name, command[name])
    return {name: command[name] for name in ("after_ms", "to_ns")}


def _tuned(*_: object) -> dict[str, Any]:
    return {}


READERS: Final[Mapping[str, Callable[[Fields, Mapping[str, Any]], Any]]] = {
    "ready": trials.ready,
    "sent": trials.sent,
    "received": trials.received,
    "addressed": settings.addressed,
    "set": settings.was_set,
    "forwarding": settings.forwarding,
    "tuned": _tuned,
    "started": jobs.started,
    "line": _line,
    "capturing": captures.capturing,
    "captured": captures.captured,
    "performed": programs.performed,
    "clock": _clock,
}
