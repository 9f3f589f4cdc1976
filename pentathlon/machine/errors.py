"""What cannot be done on a system, as one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TargetError(Exception):
    """A target did not do what it had to do; the text is one clear sentence."""


class TargetUnavailable(TargetError):
    """The target cannot work on this machine.

    Attributes:
        reason: why, as one sentence.
        remedy: the exact command that would make it work, or None if there is no such command.
    """

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(f"{reason}; to make it work: {remedy}" if remedy else reason)
        self.reason = reason
        self.remedy = remedy


def if_available(find: Callable[..., T], *arguments: object) -> T | None:
    """What `find` returns; None where this machine does not have it (`TargetUnavailable`)."""
    try:
        return find(*arguments)
    except TargetUnavailable:
        return None
