"""What the two hosts of a system say of a trial. These events are made by targets, from both ends.

A link's figures are those of docs/link.md; the packets' and files' are those of docs/results.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pentathlon.protocol.messages.base import (
    Case,
    JsonObject,
    MaybeOfStep,
    OfStep,
    Part,
    Phase,
    Small,
)


class Figures(Part):
    """What was asked of one quantity of a link and what was measured; None: neither."""

    asked_kbit: float | None = None
    measured_kbit: float | None = None
    asked_ms: float | None = None
    measured_ms: float | None = None
    asked_percent: float | None = None
    measured_percent: float | None = None
    probes: int | None = None
    lost: int | None = None


class WayFigures(Part):
    """One direction of a link, before its use."""

    rate: Figures = Figures()
    delay: Figures = Figures()
    loss: Figures = Figures()


class Calibration(Part):
    """What was measured of a link before its use.

    Attributes:
        engine: what carries the frames.
        ways: direction -> figures; empty if the probes did not come.
        attempts: the faults of each attempt; the last has none if the link passed.
        cpu_percent: share of one CPU that the emulator took; None: it does not count it.
        lateness_us: how late it handed frames over: `p50` and `p99`.
    """

    engine: str
    ways: dict[str, WayFigures]
    attempts: Annotated[
        tuple[Annotated[tuple[str, ...], Field(strict=False)], ...], Field(strict=False)
    ]
    cpu_percent: float | None
    lateness_us: dict[str, float]


class Lateness(Part):
    """How late frames were handed over: (ns, frames)."""

    buckets: Annotated[
        tuple[Annotated[tuple[int, int], Field(strict=False)], ...], Field(strict=False)
    ]


class WayUse(Part):
    """One direction of a link during a trial; `drops` by their causes."""

    frames_out: int
    bytes_out: int
    drops: dict[str, int]
    lateness_ns: Lateness | None = None


class LinkUse(Part):
    """What the emulator counted during a trial.

    Attributes:
        elapsed_ns: length of the trial, ns.
        cpu_ns: CPU time of the emulator, ns; None: it does not count it.
        up: from the client to the server.
    """

    elapsed_ns: float
    cpu_ns: float | None
    up: WayUse
    down: WayUse


class Profile(Part):
    """A link's profile; here only its name is read."""

    name: str


class Link(MaybeOfStep):
    """An emulated link: its calibration, or what crossed it during a trial."""

    event: Literal["link"]
    profile: str | Profile
    calibration: Calibration | None = None
    case: Case | None = None
    phase: Phase | None = None
    iteration: Small | None = None
    link: LinkUse | None = None

    @property
    def profile_name(self) -> str:
        """The name of the link's profile."""
        return self.profile if isinstance(self.profile, str) else self.profile.name


class OfTrial(OfStep):
    """An event of one trial."""

    case: Case
    phase: Phase
    iteration: Small


class Packets(OfTrial):
    """The flows of a trial, and its packets where they are kept.

    Attributes:
        flows: one entry a flow (docs/results.md).
        hosts: counters of both hosts over the flows.
        table: the packets as a Parquet file, until they lie beside the journal.
        file: where they lie there.
    """

    event: Literal["packets"]
    flows: Annotated[tuple[JsonObject, ...], Field(strict=False)]
    hosts: Annotated[tuple[JsonObject, ...], Field(strict=False)] = ()
    table: bytes | None = None
    file: str | None = None


class Files(OfTrial):
    """What no metric states of a task with files.

    Attributes:
        server: the program that served.
        dialect: the version of the protocol that both ends agreed on.
        connections: that were opened.
        handshake_s: time until the first one stood, s.
        up_bytes, down_bytes: to the server and to the client.
        exchanges: how often each kind of request was sent, by its name.
        capture: the packets as a pcapng file, until they lie beside the journal.
        file: where they lie there.
    """

    event: Literal["files"]
    server: str
    dialect: str | None
    connections: int
    handshake_s: float | None
    up_bytes: int
    down_bytes: int
    exchanges: dict[str, int]
    capture: bytes | None = None
    file: str | None = None
