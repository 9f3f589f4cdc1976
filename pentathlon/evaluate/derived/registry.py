"""What is derived from the rows of each experiment between two hosts, one entry for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pentathlon.evaluate.derived.files import Ends, find_file_tasks
from pentathlon.evaluate.derived.forwarding import find_competitions
from pentathlon.evaluate.derived.limits import find_limits
from pentathlon.evaluate.model import Row


@dataclass(frozen=True)
class Measured:
    """What a result measured.

    Attributes:
        ends: system -> how client and server of its file tasks behave, the reference first.
        level: 1 − confidence.
    """

    rows: Sequence[Row]
    systems: Sequence[str]
    ends: Mapping[str, Ends]
    level: float


DERIVATIONS: Mapping[str, Mapping[str, Callable[[Measured], tuple[Any, ...]]]] = {
    "forwarding": {
        "competitions": lambda one: find_competitions(one.rows, one.systems, one.level),
        "limits": lambda one: find_limits(one.rows, one.systems, one.level),
    },
    "file_services": {"file_tasks": lambda one: find_file_tasks(one.rows, one.ends, one.level)},
}
"""Name of an experiment, as in their registry -> field of `Derived` -> what finds its figures.

Traffic has none: its metrics are compared as they are.
"""


def figures(measured: Measured) -> dict[str, tuple[Any, ...]]:
    """Field of `Derived` -> its figures."""
    return {field: find(measured) for own in DERIVATIONS.values() for field, find in own.items()}
