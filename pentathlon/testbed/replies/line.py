"""The statistics of an emulated link."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, TypedDict, cast

from pentathlon.testbed.replies.fields import MOST_UNSIGNED, NAME, Fields

DROPS: Final = ("mtu", "queue", "codel", "loss", "cut", "refused", "ring")
"""Causes by which frames do not come through."""

COUNTS: Final = (
    "frames_in", "bytes_in", "frames_out", "bytes_out", "duplicated", "ahead", "unchecked",
)  # fmt: skip
QUEUE: Final = ("high_bytes", "high_frames", "frames", "bytes", "on_the_way")

ENDS: Final = 2


class Lateness(TypedDict):
    """How late frames were handed over; `buckets`: [greatest value, frames], ns."""

    latest: int
    buckets: list[list[int]]


class Way(TypedDict):
    """What happened in one direction."""

    frames_in: int
    bytes_in: int
    frames_out: int
    bytes_out: int
    duplicated: int
    ahead: int
    unchecked: int
    drops: dict[str, int]
    queue: dict[str, int]
    lateness_ns: Lateness


class Line(TypedDict):
    """The `line` event: both directions, the client's towards the server first."""

    ways: list[Way]
    elapsed_ns: int
    cpu_ns: int
    sleeps: int
    clock_set: int
    gone: list[str]


def line(answer: Fields) -> Line:
    """Read it."""
    return Line(
        ways=[_way(one) for one in answer.objects("ways", ENDS, ENDS)],
        elapsed_ns=answer.time_ns("elapsed_ns"),
        cpu_ns=answer.time_ns("cpu_ns"),
        sleeps=answer.whole("sleeps"),
        clock_set=answer.whole("clock_set"),
        gone=answer.texts("gone", ENDS, NAME),
    )


def _way(way: Fields) -> Way:
    drops, queue, late = way.object("drops"), way.object("queue"), way.object("lateness_ns")
    count: dict[str, Any] = {name: way.whole(name) for name in COUNTS}
    buckets = late.rows("buckets", 2, MOST_UNSIGNED)
    if any(one[0] >= next_one[0] for one, next_one in pairwise(buckets)):
        raise late.wrong("buckets", "are not in ascending order")
    rest = {
        "drops": {cause: drops.whole(cause) for cause in DROPS},
        "queue": {name: queue.whole(name) for name in QUEUE},
        "lateness_ns": Lateness(latest=late.whole("latest"), buckets=buckets),
    }
    return cast(Way, count | rest)


def follows(host: str, before: Line, now: Line) -> None:
    """See that nothing that only grows has become less since an earlier look at the same link.

    Raises:
        AnswerRefused: it has.
    """
    answer = Fields(host, "order", {})
    if now["elapsed_ns"] <= before["elapsed_ns"]:
        what = f"is {now['elapsed_ns']}, and was {before['elapsed_ns']} before"
        raise answer.wrong("elapsed_ns", what)
    for name in ("cpu_ns", "clock_set"):
        old, new = (int(one[name]) for one in (before, now))
        if new < old:
            raise answer.wrong(name, f"is {new}, and was {old} before")
    for place, (old_way, way) in enumerate(zip(before["ways"], now["ways"], strict=True)):
        counts = [(name, old_way[name], way[name]) for name in COUNTS]
        counts += [(f"drops.{c}", old_way["drops"][c], way["drops"][c]) for c in DROPS]
        known = {one[0]: one[1] for one in way["lateness_ns"]["buckets"]}
        counts += [
            (f"lateness_ns.buckets of {value}", count, known.get(value, 0))
            for value, count in old_way["lateness_ns"]["buckets"]
        ]
        for name, old, new in counts:
            if new < old:
                raise answer.wrong(f"ways[{place}].{name}", f"is {new}, and was {old} before")
