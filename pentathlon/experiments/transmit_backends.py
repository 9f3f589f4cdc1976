"""Transmit backends as the experimenter requests them: which receiver belongs to which."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from pentathlon.protocol.events import Case
from pentathlon.protocol.requests.commands import Role

BUFFER_BYTES = 8 << 20
"""Buffer of a receiver that takes many packets at once, in bytes (SO_RCVBUF)."""


BEST = "best"
FASTEST_FIRST = ("live", "packet", "sendmmsg", "send")
"""What `transmit_backend = "best"` tries, in this order: the first that the system has is taken."""

SILENT = ("xdp", "ring", "afxdp")
"""Receivers that see frames and send nothing back."""


MUTE = ("pktgen",)
"""Transmit backends whose packets nobody sends back: they carry the generator's own header."""

_JITTERS = frozenset({"jitter", "ditg_jitter"})
MERGED = _JITTERS | {"ipdv", "pdv_p999"}
"""Metrics of the times between packets, which those that were merged do not have."""

_DELAYS = ("delay", "kernel_", "send_", "receive_")
"""How the names of metrics begin for which one has to know when each packet left."""


def cases(case: Case) -> list[Case]:
    """The cases that a case stands for: where its backend is "best", one for each, fastest first.

    The next one is for where the one before is refused.
    """
    if case.get("transmit_backend") != BEST:
        return [case]
    return [{**case, "transmit_backend": backend} for backend in FASTEST_FIRST]


def is_meaningless(metric: str, backend: str) -> bool:
    """Whether the transmit backend does not yield the metric.

    Packets that are cut from one piece leave together, and of the kernel's own generator nobody
    knows when each packet left.
    """
    if backend == "pktgen":
        return metric in MERGED or metric.startswith(_DELAYS)
    return backend == "gso" and metric in _JITTERS


class Receiving(TypedDict):
    """Fields of a `ReceiveFlow` that all flows of a trial share."""

    spinning: bool
    transmit_backend: str
    role: Role
    reader: NotRequired[str]
    buffer_bytes: NotRequired[int]
    stamps: NotRequired[bool]


def receiving(backend: str, receiver: str) -> Receiving:
    """The command to the receiver of a flow, by its transmit backend and the study's `receiver`."""
    command: Receiving = {
        "spinning": receiver == "spinning",
        "transmit_backend": backend,
        "role": "echo",
    }
    if receiver in SILENT:
        command |= {"reader": receiver, "role": "receive"}
    elif backend != "send":
        command |= {"reader": "recvmmsg", "buffer_bytes": BUFFER_BYTES}
    return command
