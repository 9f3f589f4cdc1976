"""One run of a user's own command, as it was."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from pentathlon.protocol.messages.base import (
    MOST_SMALL,
    Case,
    Expected,
    OfStep,
    Phase,
    Signed,
    Small,
    Time,
    Unsigned,
)

KEPT_OUTPUT: Final = 2 << 20
"""Bytes of the end of the standard output that are sent (agent/crates/protocol/src/command.rs)."""

Status = Annotated[
    int,
    Field(ge=-MOST_SMALL - 1, le=MOST_SMALL),
    Expected("a whole number", "an exit status"),
]
Text = Annotated[str, Field(max_length=KEPT_OUTPUT)]


class Execution(OfStep):
    """One run: what the system accounted to it, and what it wrote.

    Attributes:
        wall_ns: from before its start until its end was known, ns.
        status: exit status.
        peak_memory_bytes: largest resident set of one of its processes; None: it is not reported.
        output, error: the end of what it wrote; `output_bytes`, `error_bytes`: all of it.
        counters: readings of its own, and of the system beside it.
    """

    event: Literal["execution"]
    case: Case
    phase: Phase
    process: Small
    iteration: Small
    wall_ns: Time
    status: Status
    peak_memory_bytes: Unsigned | None = None
    output: Text
    output_bytes: Unsigned
    error: Text
    error_bytes: Unsigned
    counters: dict[str, Signed | None]
