"""What made a result: when its run began and ended, the program, and the builds of the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.procedure.records import AgentEvent, RunStart
from pentathlon.store.journal import read_journal


@dataclass(frozen=True)
class Provenance:
    """What the journal states of the run.

    Attributes:
        started: time of its first record.
        ended: time of its last record.
        version: the program that ran it; "" where the journal does not state it.
        agents: build -> what the agent stated of itself.
    """

    started: str
    ended: str
    version: str
    agents: Mapping[str, Mapping[str, Any]]


def provenance(directory: Path) -> Provenance:
    """Read the whole journal for it.

    Raises:
        StoreError: the journal is damaged.
    """
    started = ended = version = ""
    agents: dict[str, dict[str, Any]] = {}
    for record in read_journal(directory):
        started, ended = started or record.utc, record.utc
        if isinstance(record, RunStart):
            version = version or record.version
        if isinstance(record, AgentEvent) and record.event.document.get("event") == "inventory":
            stated = record.event.document.get("agent")
            if isinstance(stated, dict) and isinstance(stated.get("build"), str):
                agents.setdefault(stated["build"], stated)
    return Provenance(started, ended, version, agents)
