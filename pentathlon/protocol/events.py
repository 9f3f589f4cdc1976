"""The events of a session as types, and how a JSON object becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, get_args

from pydantic import Field, TypeAdapter, ValidationError

from pentathlon.protocol.messages.base import (
    Case,
    CaseValue,
    Event,
    JsonObject,
    MaybeOfStep,
    OfStep,
)
from pentathlon.protocol.messages.course import Done, Inventory, Progress, Ready, Step
from pentathlon.protocol.messages.execution import Execution
from pentathlon.protocol.messages.measured import Histogram, Measured, Sample
from pentathlon.protocol.messages.remarks import (
    SERVED,
    Counter,
    Error,
    Log,
    Picture,
    Served,
)
from pentathlon.protocol.messages.two_hosts import (
    Calibration,
    Files,
    Link,
    LinkUse,
    Packets,
    WayFigures,
)
from pentathlon.protocol.refusal import WrongEvent, clause

__all__ = [
    "AGENT_KINDS", "SERVED", "TYPES", "AnyEvent", "Calibration", "Case", "CaseValue", "Counter",
    "Done", "Error", "Execution", "Files", "Histogram", "Inventory", "JsonObject", "Link",
    "LinkUse", "Log", "Measured", "Message", "Packets", "Picture", "Progress", "Ready", "Sample",
    "Served", "Step", "Unknown", "WayFigures", "WrongEvent", "index_of", "read", "read_served",
]  # fmt: skip


@dataclass(frozen=True)
class Unknown:
    """An event that this version has no type for; a journal may hold one of a later version."""

    event: str


OfAgent: TypeAlias = (
    Sample
    | Histogram
    | Execution
    | Progress
    | Ready
    | Inventory
    | Step
    | Picture
    | Counter
    | Log
    | Error
    | Done
)
"""Events that answer a request."""
OfPair: TypeAlias = Link | Packets | Files
"""Events that targets make, from what the two hosts of a system say."""
AnyEvent: TypeAlias = OfAgent | OfPair | Unknown


def _named(union: Any) -> dict[str, type[Event]]:
    """The types of a union by their events' names."""
    found = {}
    for model in get_args(union):
        [name] = get_args(model.model_fields["event"].annotation)
        found[name] = model
    return found


AGENT_KINDS: Final = frozenset(_named(OfAgent))
"""Names of the events that answer a request."""
TYPES: Final = _named(OfAgent) | _named(OfPair)
"""Name of an event -> its type."""

_ADAPTER: Final[TypeAdapter[OfAgent | OfPair]] = TypeAdapter(
    Annotated[OfAgent | OfPair, Field(discriminator="event")]
)
_validate = _ADAPTER.validate_python


class Message(NamedTuple):
    """An event, and the JSON object that it was read from, which the journal keeps unchanged."""

    event: AnyEvent
    document: JsonObject


def read(document: JsonObject) -> Message:
    """The event of a JSON object.

    Raises:
        WrongEvent: a value of it is not what the protocol states.
    """
    name = document.get("event")
    if not isinstance(name, str) or name not in TYPES:
        return Message(Unknown(str(name)), document)
    try:
        return Message(_validate(document), document)
    except ValidationError as error:
        raise WrongEvent(clause(error, TYPES[name], tagged=True), name) from None


def read_served(counter: Counter) -> Served:
    """The value of a reading `disk.served`.

    Raises:
        WrongEvent: it is something else.
    """
    try:
        return Served.model_validate(counter.value)
    except ValidationError as error:
        raise WrongEvent(clause(error, Served), counter.event) from None


def index_of(event: AnyEvent) -> int | None:
    """The workload of the request that an event is of, by its place; None: it is of none."""
    return event.index if isinstance(event, OfStep | MaybeOfStep) else None
