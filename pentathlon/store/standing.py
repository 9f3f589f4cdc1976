"""Where a run stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Summary:
    """One line of `results list`.

    state: "finished", "running" or "unfinished" (it was cut off and can be resumed).
    """

    path: Path
    name: str
    plan_hash: str
    started: str
    state: str
    steps: int
    finished: int
    failures: int
    not_needed: int = 0
    """Steps that the stopping rule spared."""
    unsupported: int = 0
    """Answers that a system cannot do something: results, not failures."""


@dataclass(frozen=True)
class Standing:
    """Where a run stands, as it is noted beside the tables."""

    ended: bool
    started: str
    finished_steps: int
    failures: int
    unsupported: int
    not_needed: int
    enough: str | None
    """Why the stopping rule ended the study before its last block."""
    decided: dict[str, int] = field(default_factory=dict)
    """Workload -> blocks after which all of its rows were decided at a look."""
