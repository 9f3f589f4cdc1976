"""What was not measured, stated once for all the cases that share a reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pentathlon.evaluate.model import Failure


@dataclass(frozen=True)
class FailureGroup:
    """One reason on one system.

    Attributes:
        what: workload, or "boot".
        cases: the cases that share the reason, as text; empty if it was the whole workload.
        count: how often it was reported, over all boots.
    """

    system: str
    """The systems with commas, where several share the reason (`across`)."""
    what: str
    kind: str
    reason: str
    resolved: bool
    cases: tuple[str, ...]
    count: int

    @property
    def cases_text(self) -> str:
        """The case, or how many there are with the first as an example."""
        if len(self.cases) <= 1:
            return "".join(self.cases)
        return f"{len(self.cases)} cases, such as {self.cases[0]}"


def grouped(failures: Iterable[Failure]) -> list[FailureGroup]:
    """Groups in the order of their first failure."""
    groups: dict[tuple[str, str, str, str, bool], list[Failure]] = {}
    for one in failures:
        key = (one.system, one.workload or "boot", one.kind, one.reason, one.resolved)
        groups.setdefault(key, []).append(one)
    return [
        FailureGroup(
            *key,
            cases=tuple(one.case for one in members if one.case),
            count=sum(one.count for one in members),
        )
        for key, members in groups.items()
    ]


def across(failures: Iterable[Failure]) -> list[FailureGroup]:
    """The same, with one group for all systems that share a reason and its cases."""
    found: dict[tuple[object, ...], list[FailureGroup]] = {}
    for one in grouped(failures):
        key = (one.what, one.kind, one.reason, one.resolved, one.cases)
        found.setdefault(key, []).append(one)
    return [
        replace(
            members[0],
            system=", ".join(one.system for one in members),
            count=sum(one.count for one in members),
        )
        for members in found.values()
    ]
