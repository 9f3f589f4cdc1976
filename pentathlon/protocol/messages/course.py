"""The course of a session: its opening, its steps, its end."""

from __future__ import annotations

from typing import Any, Literal

from pentathlon.protocol.messages.base import (
    Case,
    Event,
    JsonObject,
    OfStep,
    Signed,
    Small,
    Time,
    Word,
    Words,
)


class Inventory(Event):
    """Who measures, with which clock, on what; also what was read of the hosts of a pair.

    Attributes:
        session: id of the request; None where it was read of the hosts of a pair.
        agent: version and build; None likewise.
        clock: calibration of the clock.
        system: the full inventory, if it was requested.
        placement: CPUs, policy and nice value in force.
        telemetry: the counters that can be read.
    """

    event: Literal["inventory"]
    session: str | None = None
    agent: JsonObject | None = None
    clock: Any = None
    system: JsonObject | None = None
    placement: Any = None
    telemetry: Any = None


class Progress(OfStep):
    """A workload begins, goes on with a case, or ends.

    Attributes:
        count: workloads of the request.
        case: the case that begins.
    """

    event: Literal["progress"]
    count: Small | None = None
    state: Literal["start", "case", "end"]
    case: Case | None = None


class Ready(OfStep):
    """Something of a request with a gate waits for its release.

    Attributes:
        case: the case that waits; None: the workload does.
        iteration: the measured batch of that case that waits; None: the case does.
    """

    event: Literal["ready"]
    case: Case | None = None
    iteration: Small | None = None


class Step(Event):
    """A step of `prepare`.

    Attributes:
        index: its place in `prepare`, from 0.
        do: what it does, as the request names it.
        state: `waiting` comes every 10 s.
        outcome: `done`, `unsupported`, `settled` or `not settled`, at its end.
        seconds: time since its start, s.
        detail: what it found.
    """

    event: Literal["step"]
    index: Small
    do: str
    state: Literal["start", "waiting", "end"]
    outcome: Word | None = None
    reason: Words | None = None
    seconds: Time = 0.0
    detail: JsonObject | None = None


class Done(Event):
    """The last event.

    Attributes:
        samples: samples and histograms that were sent.
        errors: errors that were sent.
    """

    event: Literal["done"]
    samples: Signed
    errors: Signed
