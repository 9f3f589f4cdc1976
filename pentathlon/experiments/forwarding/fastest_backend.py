"""`transmit_backend = "best"`: the fastest that the generator's system has, tried out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pentathlon.experiments.forwarding.flow import run_flow
from pentathlon.experiments.forwarding.setting import Setting, set_up
from pentathlon.experiments.forwarding.testbed import Testbed, Unsupported
from pentathlon.experiments.forwarding.trials import TRIES
from pentathlon.experiments.transmit_backends import BEST, FASTEST_FIRST
from pentathlon.protocol.events import Message
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial, Task

PROBE_S = 0.2
PROBE_RATE = 1000.0
"""Packets/s that every transmit backend can send; the question is whether they come back at all."""


@dataclass(frozen=True)
class Choice:
    """The transmit backend that is taken.

    Attributes:
        transmit_backend: its name.
        refused: faster transmit backends, and why they were not taken.
    """

    transmit_backend: str
    refused: dict[str, str]


def altered(task: Task, **parameters: Any) -> Task:
    """The task with other values of some parameters."""
    changed = {"parameters": task.parameters | parameters}
    return replace(task, description=task.description.model_copy(update=changed))


def choose(task: Task, bed: Testbed, setting: Setting) -> Choice:
    """Try the transmit backends in turn, the fastest first, by a short flow of few packets.

    Raises:
        Unsupported: none works, or the forwarder cannot have the setting.
    """
    refused: dict[str, str] = {}
    for backend in FASTEST_FIRST:
        probe = altered(task, transmit_backend=backend, duration_s=PROBE_S, ramp_s=0.0)
        reason = _refused(probe, bed, setting)
        if reason is None:
            return Choice(backend, refused)
        refused[backend] = reason
    raise Unsupported(
        "; ".join(f'transmit backend "{backend}": {reason}' for backend, reason in refused.items())
    )


def _refused(probe: Task, bed: Testbed, setting: Setting) -> str | None:
    """Why a transmit backend cannot be used; None: it can."""
    last = ""
    for _ in range(TRIES):
        try:
            set_up(bed, probe.parameters, setting)
            flow = run_flow(
                bed, probe, packet_rate=PROBE_RATE, frame_bytes=setting.frame_bytes,
                version=setting.version,
            )  # fmt: skip
        except InvalidTrial as error:
            last = str(error)
            continue
        except Unsupported as error:
            return str(error)
        except CommandError as error:
            if error.kind != "unsupported":
                raise
            return str(error)
        if flow.forwarded:
            return None
        last = f"none of {flow.sent} packets came back"
    return last


class FastestBackend:
    """The transmit backend of a task: the study's, or the one that is chosen before its first case.

    Attributes:
        task: the task, with the transmit backend that is used.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._left_open = task.parameters["transmit_backend"] == BEST

    def settle(self, bed: Testbed, setting: Setting) -> Iterator[Message]:
        """Choose, if that is left open yet: an `error` for each faster one that is refused.

        Raises:
            Unsupported, CommandError: see `choose`.
        """
        if self.task.parameters["transmit_backend"] != BEST:
            return
        choice = choose(self.task, bed, setting)
        self.task = altered(self.task, transmit_backend=choice.transmit_backend)
        for backend, reason in choice.refused.items():
            yield self.task.error(
                "unsupported", reason, {**setting.case, "transmit_backend": backend}
            )

    def named(self, setting: Setting) -> Setting:
        """The setting, which names the transmit backend where the study does not."""
        if not self._left_open:
            return setting
        return replace(
            setting,
            case={**setting.case, "transmit_backend": self.task.parameters["transmit_backend"]},
        )
