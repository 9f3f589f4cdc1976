"""Transmit backends as the experimenter asks for them: which receiver belongs to which."""

from __future__ import annotations

from typing import Any

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


def cases(case: dict[str, Any]) -> list[dict[str, Any]]:
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


def receiving(backend: str, receiver: str) -> dict[str, Any]:
    """The command to the receiver of a flow, by its transmit backend and the study's `receiver`."""
    command: dict[str, Any] = {
        "spinning": receiver == "spinning",
        "transmit_backend": backend,
        "role": "echo",
    }
    if receiver in SILENT:
        command |= {"reader": receiver, "role": "receive"}
    elif backend != "send":
        command |= {"reader": "recvmmsg", "buffer_bytes": BUFFER_BYTES}
    return command
