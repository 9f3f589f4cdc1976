"""Work that an endpoint does in the background, from one command to another."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from pentathlon.protocol.requests.base import RequestPart
from pentathlon.protocol.requests.emulation import Emulate, Probe
from pentathlon.protocol.requests.session import Placement


class Soak(RequestPart):
    """Count units of computation that the CPUs have room for.

    Attributes:
        threads: None: one for each CPU of the agent.
    """

    work: Literal["soak"] = "soak"
    threads: int | None = None
    placement: Placement | None = None


class Watch(RequestPart):
    """Read the host's counters again and again."""

    work: Literal["watch"] = "watch"
    period_ms: int


class Ping(RequestPart):
    """Send ICMP echo requests."""

    work: Literal["ping"] = "ping"
    peer: str
    period_ms: int


class Program(RequestPart):
    """A program, its arguments, and what it is given on standard input."""

    command: list[str]
    environment: dict[str, str] = Field({})
    directory: str | None = None
    input: str = ""


class RunProgram(Program):
    """Run another program, such as a server, until it is stopped."""

    work: Literal["program"] = "program"


class Compete(RequestPart):
    """Run a workload of the catalog again and again, in `copies` processes at once."""

    work: Literal["compete"] = "compete"
    workload: str
    parameters: dict[str, Any] = Field({})
    copies: int = 1
    placement: Placement | None = None


Work: TypeAlias = Annotated[
    Soak | Watch | Ping | RunProgram | Compete | Emulate | Probe, Field(discriminator="work")
]
