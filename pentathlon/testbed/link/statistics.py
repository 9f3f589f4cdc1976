"""What happened on a link since it was opened, as both engines report it (docs/link.md)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from pentathlon.testbed.replies.line import Lateness


class WayStatistics(TypedDict):
    """One direction; `drops` by their causes, `queue` at this moment. The agent's emulator counts
    more (`answers.line.Way`)."""

    frames_out: int
    bytes_out: int
    drops: dict[str, int]
    queue: dict[str, int]
    lateness_ns: NotRequired[Lateness]


class Statistics(TypedDict):
    """Both directions; `cpu_ns`: None where the engine does not count it."""

    elapsed_ns: int
    cpu_ns: int | None
    clock_set: int
    up: WayStatistics
    down: WayStatistics
