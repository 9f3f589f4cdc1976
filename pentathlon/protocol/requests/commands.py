"""The commands of an endpoint, an agent that is one host of several."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from pentathlon.protocol.requests.base import RequestPart
from pentathlon.protocol.requests.models import Gap, Model
from pentathlon.protocol.requests.works import Program, Work

Role: TypeAlias = Literal["receive", "echo"]
"""What a receiver does with a packet: writes it down, or sends it back too."""


class ReceiveFlow(RequestPart):
    """A flow at its receiver.

    Attributes:
        flow: its number.
        address: where it is received.
        port: 0: the system chooses.
        spinning: ask again and again instead of sleeping.
        reader: how packets are taken.
        transmit_backend: how they are sent.
        buffer_bytes: SO_RCVBUF.
        group: multicast group to join.
        hears: the flow whose packets it hears, if not its own.
        stamps: write down the kernel's times of arrival.
    """

    flow: int
    protocol: str
    address: str
    port: int = 0
    role: Role = "receive"
    spinning: bool = False
    reader: str = "recv"
    transmit_backend: str = "send"
    buffer_bytes: int | None = None
    group: str | None = None
    hears: int | None = None
    stamps: bool = False


class SendFlow(RequestPart):
    """A flow at its sender.

    Attributes:
        flow: its number.
        peer, port: where it is received.
        size: payload of a packet, bytes.
        packets: the flow ends after so many, if that comes first.
        start_s: from the beginning of the trial.
        transmit_backend: how packets are sent.
        echo: the receiver sends them back.
        buffer_bytes: SO_SNDBUF.
        source: this host's own address, for a peer that is a group.
        stamps: write down the kernel's times of sending.
    """

    flow: int
    protocol: str
    peer: str
    port: int
    size: Model
    gap: Gap
    duration_s: float
    packets: int | None = None
    start_s: float = 0.0
    transmit_backend: str = "send"
    echo: bool = False
    buffer_bytes: int | None = None
    source: str | None = None
    stamps: bool = False


class Exchange(RequestPart):
    """Where the receiver answers the clock exchange."""

    address: str
    port: int


class Listen(RequestPart):
    """Open the receivers of a trial; `address`: where the clock exchange is answered."""

    do: Literal["listen"] = "listen"
    trial: str
    session: str
    address: str
    flows: list[ReceiveFlow]


class Send(RequestPart):
    """Send the flows of a trial; echoes are waited for `quiet_ms` after the last packet."""

    do: Literal["send"] = "send"
    trial: str
    session: str
    seed: int = 0
    exchange: Exchange
    flows: list[SendFlow]
    quiet_ms: int = 0


class Finish(RequestPart):
    """End the receivers of a trial once nothing has come for `quiet_ms`."""

    do: Literal["finish"] = "finish"
    trial: str
    quiet_ms: int


class Fetch(RequestPart):
    """Hand out the records of a trial."""

    do: Literal["fetch"] = "fetch"
    trial: str


class Address(RequestPart):
    """Bring an interface up and give it addresses with prefixes."""

    do: Literal["address"] = "address"
    interface: str
    addresses: list[str]


class Clock(RequestPart):
    """Set the clock of a guest, for tests."""

    do: Literal["clock"] = "clock"
    after_ms: int
    to_ns: int


class Forward(RequestPart):
    """Forward packets between interfaces, or no more."""

    do: Literal["forward"] = "forward"
    on: bool


class RouteTable(RequestPart):
    """So many routes that lead nowhere that is used."""

    count: int
    via: str


class Firewall(RequestPart):
    """So many rules, none of which matches."""

    rules: int
    ip_version: int


class Polling(RequestPart):
    """Whether a thread polls an interface."""

    interface: str
    threaded: bool


class Tune(RequestPart):
    """Set what forwarding depends on; `budget`: net.core.netdev_budget, 0: as it was."""

    do: Literal["tune"] = "tune"
    budget: int | None = None
    routes: RouteTable | None = None
    firewall: Firewall | None = None
    polling: Polling | None = None


class Start(RequestPart):
    """Start work in the background under a name."""

    do: Literal["start"] = "start"
    job: str
    what: Work


class Order(RequestPart):
    """Cut or mend an emulated link, or request its statistics."""

    do: Literal["order"] = "order"
    job: str
    order: Literal["cut", "mend", "statistics"]


class Stop(RequestPart):
    """End work in the background."""

    do: Literal["stop"] = "stop"
    job: str


class Capture(RequestPart):
    """Capture every frame of an interface from now on."""

    do: Literal["capture"] = "capture"
    trial: str
    interface: str


class Captured(RequestPart):
    """End that."""

    do: Literal["captured"] = "captured"
    trial: str


class Perform(RequestPart):
    """Run a program to its end."""

    do: Literal["perform"] = "perform"
    program: Program
    timeout_s: float


class Set(RequestPart):
    """Set files below /proc/sys."""

    do: Literal["set"] = "set"
    values: dict[str, str]


Command: TypeAlias = (
    Listen | Send | Finish | Fetch | Address | Clock | Forward | Tune | Start | Order | Stop
    | Capture | Captured | Perform | Set
)  # fmt: skip
AnyCommand = Annotated[Command, Field(discriminator="do")]
