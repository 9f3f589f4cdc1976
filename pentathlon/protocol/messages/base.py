"""What all events have in common, and the quantities that they hold.

Each quantity says in words what is expected of it, for the sentence that refuses another value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

MOST_SMALL: Final = (1 << 31) - 1
MOST_SIGNED: Final = (1 << 63) - 1
MOST_UNSIGNED: Final = (1 << 64) - 1
WORDS: Final = 65_536
"""Longest text of one field, in characters."""
NAME: Final = 4096
"""Longest name of a reading, and longest value of a factor, in characters."""
JPEG: Final = 4 << 20
"""Longest picture, in characters of Base64."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object that is recorded as it came, leaf by leaf."""

CaseValue: TypeAlias = str | int | float | bool
"""A value of one factor."""
Case: TypeAlias = dict[str, CaseValue]
"""The factors that separate cases, and their values."""

Phase: TypeAlias = Literal["warmup", "measure"]
Better: TypeAlias = Literal["lower", "higher"]
"""Which values of a metric are the better ones."""


@dataclass(frozen=True)
class Expected:
    """What a field holds, in words.

    Attributes:
        words: the kind of value.
        range: the values of that kind that are taken.
    """

    words: str
    range: str


def whole(most: int) -> Expected:
    """A whole number from 0 to `most`."""
    return Expected("a whole number", f"0 to {most}")


Small: TypeAlias = Annotated[int, Field(ge=0, le=MOST_SMALL), whole(MOST_SMALL)]
Signed: TypeAlias = Annotated[int, Field(ge=0, le=MOST_SIGNED), whole(MOST_SIGNED)]
Unsigned: TypeAlias = Annotated[int, Field(ge=0, le=MOST_UNSIGNED), whole(MOST_UNSIGNED)]
Time: TypeAlias = Annotated[
    float, Field(ge=0, le=MOST_UNSIGNED, allow_inf_nan=False), Expected("a time", "a time")
]
Number: TypeAlias = Annotated[
    float,
    Field(ge=-1e308, le=1e308, allow_inf_nan=False),
    Expected("a number", "a finite number"),
]
Words: TypeAlias = Annotated[str, Field(max_length=WORDS)]
Word: TypeAlias = Annotated[str, Field(max_length=64)]


class Part(BaseModel):
    """A part of an event. What a later agent adds is not looked at."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Event(Part):
    """Base of all events.

    Attributes:
        t_ns: time since the agent started, on the system's monotonic clock, ns.
    """

    t_ns: Signed


class OfStep(Event):
    """An event of one workload of the request.

    Attributes:
        index: the workload's place in the request, from 0.
        process: which of the fresh processes that repeat the workload, from 0.
    """

    workload: str
    index: Small
    process: Small = 0


class MaybeOfStep(Event):
    """An event of one workload of the request, or of the whole session."""

    workload: str | None = None
    index: Small | None = None
    process: Small | None = None
