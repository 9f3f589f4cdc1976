"""What a trial is to do, and with what."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from pentathlon.experiments.file_services.behaviours import Behaviour
from pentathlon.experiments.file_services.content import Content
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.experiments.file_services.workdir import Place


@dataclass(frozen=True)
class TaskSpec:
    """What a trial is to do.

    Attributes:
        task: "copy", "open", "roaming" or "portal".
        protocol: as the case names it.
        client, server: behaviours of the ends, with the case's factors over them.
        outstanding: requests in flight, None for as many as server and client take.
        warm: the task is done once before it is measured.
        timeout_s: the longest time that the study gives a task, in seconds.
    """

    task: str
    protocol: str
    client: Behaviour
    server: Behaviour
    outstanding: int | None
    warm: bool
    timeout_s: float = math.inf


@dataclass(frozen=True)
class Setup:
    """Everything that a server and its client are made from.

    Attributes:
        ground: both hosts.
        held: what the server is to hand out.
        server, client: the files of each end.
    """

    testbed: Testbed
    spec: TaskSpec
    held: Content
    server: Place
    client: Place

    @property
    def shared(self) -> Path:
        """What the server hands out, as it finds it."""
        return self.server.shared

    @property
    def into(self) -> Path:
        """Where the client's files are to come, as it finds it."""
        return self.client.into
