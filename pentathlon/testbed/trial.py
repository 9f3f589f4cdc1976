"""A task between two hosts, and the events that it is reported with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pentathlon.protocol.events import Case, JsonObject, Message, read
from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.study.catalog import CatalogError, Metric

When: TypeAlias = tuple[str, int]
"""Phase and iteration of a trial."""


class InvalidTrial(Exception):
    """The trial ran, and what it yielded is not a measurement; one sentence."""

    kind = "invalid"


@dataclass(frozen=True)
class Task:
    """One entry of a request.

    Attributes:
        place: its place in the request, from 0.
        count: entries of the request.
        session: random hex digits of the boot; every packet carries them.
        seed: seed of every model.
        description: the entry itself.
        metrics: what the agent's catalog states that the workload yields, by id.
    """

    place: int
    count: int
    session: str
    seed: int
    description: WorkloadRequest
    metrics: Mapping[str, Metric] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The workload."""
        return self.description.id

    @property
    def parameters(self) -> JsonObject:
        """Every parameter of the workload."""
        return self.description.parameters

    def phases(self) -> list[When]:
        """(phase, iteration) of each trial of a case."""
        warmup, iterations = self.description.warmup, self.description.iterations
        return [("warmup", i) for i in range(warmup)] + [("measure", i) for i in range(iterations)]

    def progress(self, state: str, case: Case | None = None) -> Message:
        """The `progress` event."""
        return self.event("progress", state=state, case=case, count=self.count)

    def error(self, kind: str, reason: str, case: Case | None = None) -> Message:
        """The `error` event; `kind` as in docs/protocol.md."""
        return self.event("error", kind=kind, reason=reason, case=case)

    def failure(self, error: Exception, case: Case | None = None) -> Message:
        """The `error` event for an exception, whose attribute `kind` is the kind, else "failed"."""
        return self.error(getattr(error, "kind", "failed"), str(error), case)

    def sample(
        self,
        metric: str,
        case: Case,
        when: When,
        value: float,
        *,
        seconds: float,
        batch: int = 1,
        checksum: str = "0x1",
    ) -> Message:
        """The `sample` event, in the unit and with the direction of the agent's catalog.

        Args:
            seconds: length of the trial.
            batch: operations that it is of.

        Raises:
            CatalogError: the catalog has no such metric of the workload.
        """
        known = self.metrics.get(metric)
        if known is None:
            raise CatalogError(
                f'the agent\'s catalog has no metric "{metric}" of {self.id}; '
                "use the agent and the experimenter of one release"
            )
        phase, iteration = when
        return self.event(
            "sample", metric=metric, case=case, unit=known.unit, direction=known.direction,
            phase=phase, iteration=iteration, value=value, batch=batch,
            elapsed_ns=int(seconds * 1e9), checksum=checksum, counters={},
        )  # fmt: skip

    def of(self, message: Message) -> Message:
        """An event that somebody else has made, as one of this task."""
        return read({**message.document, "workload": self.id, "index": self.place})

    def event(self, name: str, **fields: Any) -> Message:
        """An event of that name, with what every event states.

        Raises:
            WrongEvent: a value of it is not what the protocol says.
        """
        return read(
            {
                "event": name,
                "workload": self.id,
                "index": self.place,
                "process": 0,
                **fields,
                "t_ns": time.monotonic_ns(),
            }
        )
