"""The request of `pentathlon-agent join`: one flow from the records of both ends."""

from __future__ import annotations

from pydantic import Field

from pentathlon.protocol.requests.base import RequestPart


class Clocks(RequestPart):
    """Receiver's timer minus sender's timer, as a line over the sender's time."""

    origin_ns: int
    offset_ns: float
    drift: float


class JoinRequest(RequestPart):
    """Files of records, and the shares whose quantiles are requested."""

    sent: str
    received: str
    clocks: Clocks | None = None
    delay_shares: list[float] = Field([])
    late_shares: list[float] = Field([])
