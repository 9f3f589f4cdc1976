"""How programs on a host ended."""

from __future__ import annotations

from typing import Final, TypedDict

from pentathlon.protocol.requests.commands import Perform
from pentathlon.testbed.answers.fields import WORDS, Fields

MOST_STATUS: Final = (1 << 31) - 1


class Performed(TypedDict):
    """The `performed` event. `status` is None for a program that was ended by a signal."""

    status: int | None
    timed_out: bool
    elapsed_ns: int
    output: str
    error: str


class Ended(TypedDict):
    """What a program in the background left."""

    ended_before: bool
    status: int | None
    output: str
    error: str


def performed(answer: Fields, _: Perform) -> Performed:
    """Read the answer to `perform`."""
    return Performed(
        status=_status(answer),
        timed_out=answer.flag("timed_out"),
        elapsed_ns=answer.time_ns("elapsed_ns"),
        output=answer.text("output", WORDS),
        error=answer.text("error", WORDS),
    )


def ended(one: Fields) -> Ended:
    """Read what the work `program` yields."""
    return Ended(
        ended_before=one.flag("ended_before"),
        status=_status(one),
        output=one.text("output", WORDS),
        error=one.text("error", WORDS),
    )


def _status(one: Fields) -> int | None:
    return one.whole("status", MOST_STATUS, -MOST_STATUS - 1) if one.has("status") else None
