"""Traffic: flows of packets between two hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from pentathlon.experiments.descriptor import Experiment, Need
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.protocol.events import Message
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.trial import Task

Pair: TypeAlias = tuple[Endpoint, Endpoint]


def _traffic(task: Task, pair: Pair) -> Iterator[Message]:
    return run_traffic(task, *pair)


TRAFFIC: Final = Experiment("traffic", Need[Pair]("pair"), {"network.traffic": _traffic})
