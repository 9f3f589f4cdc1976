"""One thing that was looked at on the machine, and the command that would make it work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pentathlon.machine.errors import TargetError, TargetUnavailable


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        group: "agent", "target", "setting", "helper" or "leftover".
        name: what was looked at, such as "uml 6.1".
        works: whether it works here.
        detail: what was found, or the reason why it does not work.
        remedy: the exact command that would make it work; None if it works or there is none.
    """

    group: str
    name: str
    works: bool
    detail: str
    remedy: str | None = None


def tried(group: str, name: str, look: Callable[[], str]) -> Finding:
    """What works, with the text that `look` returns, or else why it raises a `TargetError`."""
    try:
        return Finding(group, name, True, look())
    except TargetUnavailable as error:
        return Finding(group, name, False, error.reason, error.remedy)
    except TargetError as error:
        return Finding(group, name, False, str(error))
