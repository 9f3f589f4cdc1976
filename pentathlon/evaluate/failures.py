"""The first failure that touches a row, without a look at all failures for every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pentathlon.evaluate.model import Failure


class FirstFailures:
    """Failures of some systems that were not made good later.

    A failure touches a row of the same workload if it has the row's case, or none: then it is of
    the workload as a whole.
    """

    def __init__(self, failures: Sequence[Failure], systems: Sequence[str]) -> None:
        self._systems = systems
        self._first: dict[tuple[str, str, str], tuple[int, Failure]] = {}
        self._invalid: dict[tuple[str, str, str], tuple[int, Failure]] = {}
        for place, one in enumerate(failures):
            if one.resolved or one.system not in systems:
                continue
            name = (one.system, one.workload, one.case)
            self._first.setdefault(name, (place, one))
            if one.kind == "invalid":
                self._invalid.setdefault(name, (place, one))

    def first(self, system: str, workload: str, key: str) -> Failure | None:
        """The first failure of a system that touches the row of that key."""
        return _earliest(
            self._first[name]
            for case in _cases(key)
            if (name := (system, workload, case)) in self._first
        )

    def invalid(self, workload: str, key: str) -> Failure | None:
        """The first invalid run of either system that touches the row of that key."""
        if not self._invalid:
            return None
        return _earliest(
            self._invalid[name]
            for case in _cases(key)
            for system in self._systems
            if (name := (system, workload, case)) in self._invalid
        )


def _earliest(found: Iterator[tuple[int, Failure]]) -> Failure | None:
    best = min(found, key=lambda pair: pair[0], default=None)
    return None if best is None else best[1]


MOST_BRACKETS = 16
"""A case is looked for behind so many brackets of a key; what has more is no case of ours."""


def _cases(key: str) -> Iterator[str]:
    """No case, and every text in brackets that a key ends with."""
    yield ""
    if not key.endswith("]"):
        return
    at = -1
    for _ in range(MOST_BRACKETS):
        at = key.find("[", at + 1)
        if at < 0:
            return
        yield key[at + 1 : -1]
