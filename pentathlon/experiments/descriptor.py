"""What an experiment between two hosts is: the `descriptor.py` of its folder makes one of these.

The agent's catalog owns its workloads, their parameters, and the units and directions of what they
yield. What is derived from its rows, and how the report shows them, are entries of the registries
of those packages (`evaluate/derived/registry.py`, `report/experiments/registry.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from pentathlon.protocol.events import Message
from pentathlon.testbed.trial import Task

Kind: TypeAlias = Literal["pair", "forwarder", "links"]

Testbed = TypeVar("Testbed")

Driver: TypeAlias = Callable[[Task, Testbed], Iterator[Message]]
"""What makes the events of a task on its testbed."""


@dataclass(frozen=True)
class Need(Generic[Testbed]):
    """A testbed that an experiment needs; `Testbed` is what its drivers are given.

    Attributes:
        kind: "pair": two hosts, with the link between them that the study names; "forwarder": a
            host between the two sides of a generator; "links": client and server, with each link
            that a task names.
    """

    kind: Kind


@dataclass(frozen=True)
class Experiment(Generic[Testbed]):
    """An experiment between two hosts.

    Attributes:
        name: its folder.
        needs: its testbed, which is made when a task first needs it.
        drivers: workload -> what drives it. These are all workloads of the experiment.
        limits_its_trials: each trial has a limit of its own, so that its time does not count
            towards the limit of a boot.
    """

    name: str
    needs: Need[Testbed]
    drivers: Mapping[str, Driver[Testbed]]
    limits_its_trials: bool = False
