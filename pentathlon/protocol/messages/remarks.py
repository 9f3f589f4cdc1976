"""What is said beside the values: errors, remarks, readings, pictures."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from pentathlon.protocol.messages.base import (
    JPEG,
    NAME,
    Case,
    Event,
    MaybeOfStep,
    OfStep,
    Part,
    Small,
    Word,
    Words,
)

SERVED: Final = "disk.served"
"""The reading that states which source answered the reads of a case (docs/disk.md)."""

ErrorKind: TypeAlias = Literal["unsupported", "failed", "timeout", "invalid", "request"]
"""`unsupported` is an answer: the system cannot do it."""


class Error(MaybeOfStep):
    """A workload or a case without a value.

    Attributes:
        reason: one sentence.
        case: the case that has none; None: the whole workload, or the session.
    """

    event: Literal["error"]
    kind: ErrorKind
    reason: Words
    case: Case | None = None


class Log(MaybeOfStep):
    """A remark, such as the instructions that were chosen."""

    event: Literal["log"]
    level: Word
    message: Words


class Counter(Event):
    """A reading that belongs to the whole session; its name states what the value is."""

    event: Literal["counter"]
    name: Annotated[str, Field(max_length=NAME)]
    value: Any


class Read(Part):
    """Which source answered the read of one round."""

    metric: str
    served: Word


class Served(Part):
    """The value of the reading `disk.served`.

    Attributes:
        reads: one entry for each read of each round, those of warm-up first.
    """

    workload: str
    case: Case
    reads: Annotated[tuple[Read, ...], Field(strict=False)]


class Picture(OfStep):
    """What a case drew, in the first process.

    Attributes:
        width, height: of the picture, in points.
        jpeg: Base64 (RFC 4648) of a JPEG file.
    """

    event: Literal["picture"]
    case: Case
    width: Small
    height: Small
    jpeg: Annotated[str, Field(max_length=JPEG)]
