"""An emulated link, and the probes that measure it (docs/link.md)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from pentathlon.protocol.requests.base import RequestPart
from pentathlon.protocol.requests.models import Jitter


class NoLoss(RequestPart):
    """Nothing is lost on purpose."""

    model: Literal["none"] = "none"


class RandomLoss(RequestPart):
    """Each frame is lost with the same chance."""

    model: Literal["random"] = "random"
    share: float


class GilbertLoss(RequestPart):
    """Two states: `p` and `r` lead from the good one to the bad one and back, after each frame."""

    model: Literal["gilbert"] = "gilbert"
    p: float
    r: float
    loss_good: float
    loss_bad: float


Loss: TypeAlias = Annotated[NoLoss | RandomLoss | GilbertLoss, Field(discriminator="model")]


class CodelTarget(RequestPart):
    """Parameters of CoDel (RFC 8289)."""

    target_ns: int
    interval_ns: int


class Queue(RequestPart):
    """Room before the line; the frame that is on the line is not in it."""

    bytes: int | None = None
    frames: int | None = None
    codel: CodelTarget | None = None


class Way(RequestPart):
    """One direction of a link.

    Attributes:
        rate_bps: bit/s; None: no line.
        overhead_bytes: what each frame takes on the line beyond its own length.
        jitter: is added to the delay of each frame, ms.
        reorder, duplicate: shares of the frames.
    """

    rate_bps: float | None = None
    burst_bytes: int = 0
    overhead_bytes: int = 0
    delay_ns: int = 0
    jitter: Jitter | None = None
    keep_order: bool = False
    loss: Loss = NoLoss()
    reorder: float = 0.0
    duplicate: float = 0.0
    queue: Queue
    mtu_bytes: int


class Emulate(RequestPart):
    """Carry frames between two interfaces as a link would.

    Attributes:
        namespaces: network namespaces of the interfaces; None: the endpoint's own.
        ways: client to server first.
        spin_us: how long before a frame is due the emulator stops sleeping.
        lead_ns: how much earlier frames are handed over.
    """

    work: Literal["emulate"] = "emulate"
    interfaces: list[str]
    namespaces: list[str | None] = Field([None, None])
    ways: list[Way]
    seed: int = 0
    spin_us: int
    lead_ns: int = 0


class ProbeSend(RequestPart):
    """Probes that are sent, the first one after `after_ns`."""

    count: int
    size_bytes: int
    period_ns: int
    after_ns: int = 0
    answer: bool = False


class Probe(RequestPart):
    """Send probes and write down those that come; both addresses with their ports."""

    work: Literal["probe"] = "probe"
    local: str
    peer: str
    mark: int
    send: ProbeSend | None = None
