"""The answers to `listen`, `send` and `finish`: a trial's ports, and what its flows came to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypedDict, TypeVar, cast, get_type_hints

from pentathlon.protocol.requests.commands import Finish, Listen, Send
from pentathlon.testbed.replies import counters
from pentathlon.testbed.replies.counters import HostCounters
from pentathlon.testbed.replies.fields import NAME, Fields

MOST_PORT: Final = 65_535


class Port(TypedDict):
    """Where a flow is received."""

    flow: int
    port: int


class Ready(TypedDict):
    """The `ready` event: one port for each flow that was requested."""

    flows: list[Port]
    exchange_port: int


class FlowSent(TypedDict):
    """What the sender of a flow counted; None where it does not know."""

    flow: int
    packets: int
    planned: int | None
    bytes: int
    refused: int
    first_ns: int
    last_ns: int
    worst_late_ns: int
    wire_bytes: int | None
    wire_bytes_again: int | None
    lost_records: int
    broken: str | None
    record_bytes: int


class FlowReceived(TypedDict):
    """What the receiver of a flow, or of its echoes, counted; None where it does not know."""

    flow: int
    packets: int
    bytes: int
    foreign: int
    truncated: int
    first_ns: int
    last_ns: int
    lost_records: int
    buffer_drops: int | None
    age_ns: int
    stale: int
    merges: str | None
    broken: str | None
    record_bytes: int


Counts = TypeVar("Counts", FlowSent, FlowReceived)


class Sent(TypedDict):
    """The `sent` event."""

    flows: list[FlowSent]
    echoes: list[FlowReceived]
    start_ns: int
    announced: bool
    host: HostCounters | None


class Received(TypedDict):
    """The `received` event."""

    flows: list[FlowReceived]
    host: HostCounters | None


def ready(answer: Fields, command: Listen) -> Ready:
    """Read the answer to `listen`."""
    answer.same("trial", command.trial)
    flows = [
        Port(flow=one.whole("flow"), port=one.whole("port", MOST_PORT))
        for one in answer.objects("flows")
    ]
    _need(answer, "flows", (one["flow"] for one in flows), _flow_numbers(command), every=True)
    return Ready(flows=flows, exchange_port=answer.whole("exchange_port", MOST_PORT, 1))


def sent(answer: Fields, command: Send) -> Sent:
    """Read the answer to `send`."""
    answer.same("trial", command.trial)
    flows = [_counted(one, FlowSent) for one in answer.objects("flows")]
    echoes = [_counted(one, FlowReceived) for one in answer.objects("echoes")]
    requested = _flow_numbers(command)
    _need(answer, "flows", (one["flow"] for one in flows), requested, every=True)
    _need(answer, "echoes", (one["flow"] for one in echoes), requested, every=False)
    return Sent(
        flows=flows,
        echoes=echoes,
        start_ns=answer.time_ns("start_ns"),
        announced=answer.flag("announced"),
        host=counters.of_trial(answer),
    )


def received(answer: Fields, command: Finish) -> Received:
    """Read the answer to `finish`; which flows there may be is known to who requested them."""
    answer.same("trial", command.trial)
    flows = [_counted(one, FlowReceived) for one in answer.objects("flows")]
    numbers = [one["flow"] for one in flows]
    _need(answer, "flows", numbers, set(numbers), every=False)
    return Received(flows=flows, host=counters.of_trial(answer))


def _flow_numbers(command: Listen | Send) -> set[int]:
    return {one.flow for one in command.flows}


def _need(
    answer: Fields, name: str, found: Iterable[int], requested: set[int], *, every: bool
) -> None:
    """That no flow is there twice or unasked, and where `every`, that none is missing."""
    left = set(requested)
    for place, number in enumerate(found):
        if number not in left:
            why = "is there twice" if number in requested else "was not requested"
            raise answer.wrong(f"{name}[{place}].flow", f"is {number}, which {why}")
        left.discard(number)
    if every and left:
        raise answer.wrong(name, f"lacks the flow {min(left)}")


def _counted(one: Fields, kind: type[Counts]) -> Counts:
    """What an end counted of a flow: each field by its type, times by their names."""
    found: dict[str, Any] = {}
    for name, held in get_type_hints(kind).items():
        if held is int:
            found[name] = one.time_ns(name) if name.endswith("_ns") else one.whole(name)
        elif held == int | None:
            found[name] = one.maybe(name, one.whole)
        else:
            found[name] = one.maybe(name, lambda text: one.text(text, NAME))
    return cast(Counts, found)
