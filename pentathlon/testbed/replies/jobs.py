"""What the work in the background yields (docs/protocol.md), by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, cast

from pentathlon.protocol.requests.commands import Start
from pentathlon.safeio.clipping import described
from pentathlon.testbed.replies import counters
from pentathlon.testbed.replies.counters import Reading
from pentathlon.testbed.replies.fields import LATEST_NS, NAME, WORDS, Fields
from pentathlon.testbed.replies.line import line
from pentathlon.testbed.replies.programs import ended

MOST_THREADS: Final = 1 << 16
MOST_REASONS: Final = 8


class Stopped(TypedDict):
    """The `stopped` event: `yields` has what each thread of the work made, of the type below that
    belongs to the work."""

    elapsed_ns: int
    yields: list[Any]


class CpuHogProgress(TypedDict):
    """`soak`: rows of time, units until then, and CPU time or None; at least one."""

    progress: list[list[int | None]]


class Watched(TypedDict):
    """`watch`: readings one after the other, and one over all of their time."""

    readings: list[Reading]
    whole: Reading


class Pinged(TypedDict):
    """`ping`: round trips by request, None where no reply came."""

    sent: int
    round_trip_ns: list[int | None]


class Batch(TypedDict):
    """A batch of a competitor; its times count from the competitor's start."""

    copy: int
    metric: str
    case: dict[str, str | int | float | bool | None]
    batch: int
    elapsed_ns: int
    t_ns: int


class Competed(TypedDict):
    """`compete`: the batches of one copy, and why some failed."""

    samples: list[Batch]
    errors: list[str]


class Probed(TypedDict):
    """`probe`: rows of sequence, time of sending and time of arrival, ns."""

    sent: int
    refused: int
    foreign: int
    unstamped: int
    latest_ns: int
    came: list[list[int]]
    answers: list[list[int]]


def started(answer: Fields, command: Start) -> None:
    """Read the answer to `start`."""
    answer.same("job", command.job)


def stopped(answer: Fields, job: str, work: str) -> Stopped:
    """Read the answer to `stop`.

    Args:
        job: the name of what was stopped.
        work: its kind.
    """
    answer.same("job", job)
    read = YIELDS.get(work)
    if read is None:
        raise answer.wrong("job", f"is {described(job)}, which was not started")
    # Of all others there is one thread.
    most = MOST_THREADS if work in ("soak", "compete") else 1
    return Stopped(
        elapsed_ns=answer.time_ns("elapsed_ns"),
        yields=[read(one) for one in answer.objects("yields", most, 1)],
    )


def _progress(one: Fields) -> CpuHogProgress:
    notes = one.items("progress", WORDS << 6, 1)
    before = [0, 0]
    for place, note in enumerate(notes):
        at = f"progress[{place}]"
        if not isinstance(note, list) or len(note) != 3:
            raise one.wrong(at, f"is {described(note)}, expected 3 numbers")
        for value in note[:2] if note[2] is None else note:
            if type(value) is not int or not 0 <= value <= LATEST_NS:
                what = f"holds {described(value)}, expected whole numbers of 0 to {LATEST_NS}"
                raise one.wrong(at, what)
        if note[0] < before[0] or note[1] < before[1]:
            raise one.wrong(at, "is less than the one before it")
        before = note[:2]
    return CpuHogProgress(progress=notes)


def _watched(one: Fields) -> Watched:
    found = Watched(
        readings=[counters.reading(each) for each in one.objects("readings", WORDS)],
        whole=counters.reading(one.object("whole")),
    )
    lengths = {
        len(row)
        for reading in (*found["readings"], found["whole"])
        for row in (reading["host"]["cpus"] or {}).values()
    }
    if len(lengths) > 1:
        raise one.wrong("readings", f"have rows of CPU time of {sorted(lengths)} numbers")
    return found


def _pinged(one: Fields) -> Pinged:
    trips = one.items("round_trip_ns", WORDS << 6)
    for place, value in enumerate(trips):
        if value is not None and (type(value) is not int or not 0 <= value <= LATEST_NS):
            what = f"is {described(value)}, expected a time or null"
            raise one.wrong(f"round_trip_ns[{place}]", what)
    return Pinged(sent=one.whole("sent", len(trips), len(trips)), round_trip_ns=trips)


def _competed(one: Fields) -> Competed:
    return Competed(
        samples=[_batch(each) for each in one.objects("samples", WORDS << 6)],
        errors=one.texts("errors", MOST_REASONS, WORDS),
    )


def _batch(one: Fields) -> Batch:
    return Batch(
        copy=one.whole("copy", MOST_THREADS),
        metric=one.text("metric", NAME),
        case=one.object("case").scalars(NAME),
        batch=one.whole("batch", least=1),
        elapsed_ns=one.whole("elapsed_ns", LATEST_NS, 1),
        t_ns=one.time_ns("t_ns"),
    )


def _probed(one: Fields) -> Probed:
    counts = ("sent", "refused", "foreign", "unstamped", "latest_ns")
    found: dict[str, Any] = {name: one.whole(name) for name in counts}
    found |= {name: one.rows(name, 3, LATEST_NS) for name in ("came", "answers")}
    return cast(Probed, found)


YIELDS: Final[Mapping[str, Callable[[Fields], Any]]] = {
    "soak": _progress,
    "watch": _watched,
    "ping": _pinged,
    "program": ended,
    "compete": _competed,
    "emulate": line,
    "probe": _probed,
}
"""Work -> what reads that which one thread of it yields."""
