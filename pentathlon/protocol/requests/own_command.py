"""A user's own command as an entry of a request: what is run, in which cases."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pentathlon.protocol.requests.base import RequestPart


class OwnCase(RequestPart):
    """One case of a command. Every list of words is a program with its arguments; an empty one is
    nothing.

    Attributes:
        case: its parameters with one value each.
        prepare, cleanup: before and after each run, outside of the time.
    """

    case: dict[str, Any] = Field({})
    command: list[str]
    prepare: list[str] = Field([])
    cleanup: list[str] = Field([])


class OwnCommand(RequestPart):
    """What is run.

    Attributes:
        files: folder of its files in the request's `files`.
        setup: once before the first run.
        timeout_s: longest time of each of the programs.
        any_status: whether another exit status than 0 is a value and no failure.
        largest_file_bytes: largest file that it may write.
    """

    files: str | None = None
    setup: list[str] = Field([])
    cases: list[OwnCase]
    timeout_s: float
    any_status: bool = False
    largest_file_bytes: int
