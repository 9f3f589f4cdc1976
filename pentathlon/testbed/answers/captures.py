"""The answers to `capture`, `captured` and `fetch`: captures, and files of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypedDict

from pentathlon.packets import records
from pentathlon.protocol.requests import commands
from pentathlon.testbed.answers.fields import Fields

CAPTURE: Final = "capture"

KINDS: Final[Mapping[str, int | None]] = {
    "sent": records.SENT, "received": records.RECEIVED, "echoes": records.ECHOES,
    "exchange": records.EXCHANGE, "heard": records.HEARD, "left": records.LEFT, CAPTURE: None,
}  # fmt: skip
"""Kind of a file -> that of its blocks; None: it is no file of records."""

MOST_FLOW: Final = (1 << 32) - 1
MOST_FILES: Final = 1 << 16
"""Files of one trial."""


@dataclass(frozen=True)
class Records:
    """One file of records, or a capture, as it came from the endpoint."""

    flow: int
    kind: str
    data: bytes


class Captured(TypedDict):
    """The `captured` event: what the capture holds, and what it lacks."""

    frames: int
    bytes: int
    dropped: int


def capturing(answer: Fields, command: commands.Capture) -> None:
    """Read the answer to `capture`."""
    answer.same("trial", command.trial)
    answer.same("interface", command.interface)


def captured(answer: Fields, command: commands.Captured) -> Captured:
    """Read the answer to `captured`."""
    answer.same("trial", command.trial)
    return Captured(
        frames=answer.whole("frames"),
        bytes=answer.whole("bytes"),
        dropped=answer.whole("dropped"),
    )


def announced(event: Fields, trial: str, data: bytes) -> Records:
    """Read a `records` event, whose bytes have come."""
    event.same("trial", trial)
    return Records(event.whole("flow", MOST_FLOW), event.one_of("kind", KINDS), data)


def check(file: Records) -> None:
    """Look at the headers of a file's blocks; what is in them is checked where it is decoded.

    Raises:
        RecordsError: they are torn, those of another flow or kind, or cannot be.
    """
    kind = KINDS[file.kind]
    if kind is not None:
        records.check_origin(file.data, file.flow, kind)


def fetched(answer: Fields, trial: str, files: list[Records]) -> None:
    """Read the end of the answer to `fetch`."""
    answer.same("trial", trial)
    answer.same("files", len(files))
    if len({(one.kind, one.flow) for one in files}) < len(files):
        raise answer.wrong("files", "hold the records of a flow twice")
