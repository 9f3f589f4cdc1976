"""Derived figures as data: what the studies read off their curves, each with its uncertainty.

A figure that the data do not show has `seen = False` (or no region, no set) and states why.
"""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.model_curves import Boundary, CacheCheck


class Mean(Frozen):
    """A mean over the boots with its t interval at the study's confidence."""

    value: float
    low: float | None
    """None with fewer than 2 boots."""
    high: float | None
    boots: int


class CodeSize(Frozen):
    """Knees of the time over the size of the code (venkata2003, section 3.2)."""

    system: str
    opt_level: str
    case_text: str
    unit: str
    points: int
    knees: tuple[Boundary, ...]
    """Sizes of code beyond which it runs more slowly."""
    seen: bool
    checks: tuple[CacheCheck, ...]
    """Each cache for instructions that the system claims, beside the knee that shows it."""
    words: tuple[str, ...]
    """Each claimed cache beside the knee that shows it, then knees that none explains."""


class OptimumPiece(Frozen):
    """The piece of sub-looping that is best for one total (venkata2003, section 3.3)."""

    system: str
    total_bytes: int
    case_text: str
    unit: str
    boots: int
    best_bytes: int | None
    """The piece with the lowest mean; None where nothing can be stated."""
    set_bytes: tuple[int, ...]
    """Pieces not shown to be slower than another: the best is one of them, at the confidence."""
    gain: Mean | None
    """How many times as long the undivided loop takes as the best piece."""
    seen: bool
    """Whether at least one piece is shown not to be the best."""
    words: str


class ReadAhead(Frozen):
    """Where reading in order stops gaining on reading at random (venkata2003, section 4.2.2)."""

    system: str
    case_text: str
    """The random order that is compared with, and what else names the curve."""
    boots: int
    points: tuple[tuple[int, float], ...]
    """(chunk in bytes, sequential rate / random rate)."""
    low_bytes: int | None
    high_bytes: int | None
    configured_bytes: int | None
    """What the system's inventory claims for the device of the scratch directory."""
    outcome: str
    """"agrees", "smaller", "larger", "unclaimed", "not seen", "outside" or "too few"."""
    words: str

    @property
    def seen(self) -> bool:
        return self.low_bytes is not None


class Region(Frozen):
    """One region of memory, from its smallest to its largest measured block."""

    name: str
    """"cache", "RAM" or "swap"."""
    low_bytes: int
    high_bytes: int
    blocks: int
    read: Mean | None
    """MB/s, mean over the blocks of the region."""
    write: Mean | None


class LevelLatency(Frozen):
    """What one page costs more in a region than in the one before it."""

    between: str
    """"cache–RAM" or "RAM–swap"."""
    seconds: Mean
    faster_seconds: float
    slower_seconds: float
    """Time to read one page in either region, whose difference it is."""


class Regions(Frozen):
    """Cache, RAM and swap as the curve over block size tells them (venkata2003, section 3.1)."""

    system: str
    case_text: str
    regions: tuple[Region, ...]
    boundaries: tuple[tuple[str, int, int], ...]
    """(between, low, high): each boundary with its interval in bytes."""
    latencies: tuple[LevelLatency, ...]
    words: tuple[str, ...]
    """What qualifies them, or why there are none."""

    def region(self, name: str) -> Region | None:
        return next((one for one in self.regions if one.name == name), None)

    def latency(self, between: str) -> LevelLatency | None:
        return next((one for one in self.latencies if one.between == between), None)


class LoadChange(Frozen):
    """What a competitor changes at one offered load."""

    load_kpps: float | None
    """Thousands of packets per second; None for a share."""
    load_percent: float | None = None
    """Share of the highest load that is forwarded, as each boot found it."""
    throughput: Mean | None
    """With the competitor over without it."""
    lost: Mean | None
    """With less without, percentage points."""
    delay: Mean | None
    """Mean round-trip time, with over without."""

    @property
    def load(self) -> float:
        """In the competition's `factor`."""
        known = self.load_percent if self.load_kpps is None else self.load_kpps
        assert known is not None
        return known


class Against(Frozen):
    """What a competitor changes on one system, against what it changes on the reference."""

    capacity: Mean | None
    """Ratio of the ratios; below 1: this system loses more."""
    lost: Mean | None
    """Difference of the differences, percentage points; above 0: this system loses more."""
    delay: Mean | None
    """Ratio of the ratios; above 1: this system is delayed more."""


class Competition(Frozen):
    """What a competitor for the CPU does to forwarding (salah2010, section 3.2)."""

    system: str
    competitor: str
    case_text: str
    """What else names the case, such as the length of the frames."""
    boots: int
    """Boots with a load that was measured both with and without the competitor."""
    factor: str
    """What the loads are: "offered_kpps", thousands of packets per second, or "load_percent",
    shares of the highest load that each boot forwards without the competitor (`knee`)."""
    loads: tuple[float, ...]
    """Those loads."""
    knee: Mean | None
    """Packets per second of 100 %; None where the loads are not shares."""
    capacity_alone: Mean | None
    """Highest throughput over the loads, packets per second."""
    capacity_beside: Mean | None
    capacity: Mean | None
    """The latter over the former."""
    lost: Mean | None
    """Share lost with the competitor less that without it, percentage points, mean of the loads."""
    delay: Mean | None
    """Mean round-trip time with the competitor over that without it, over the loads."""
    speed: Mean | None
    """What the competitor keeps of its own speed, %, mean of the loads."""
    slowest: Mean | None
    """As `speed`, at the load of each boot where it is lowest."""
    each: tuple[LoadChange, ...]
    against: Against | None = None
    """None for the reference."""
    words: tuple[str, ...] = ()


class Limit(Frozen):
    """The rate up to which a system forwards what a criterion requests (RFC 2544, 26.1)."""

    system: str
    criterion: str
    """"no loss" (the standard's throughput), or "little" (partial-drop rate)."""
    case_text: str
    """What else names the case, such as the length of the frames."""
    passed: Mean | None
    """Highest rate that passed, packets per second."""
    failed: Mean | None
    """Lowest rate that failed."""
    against: Mean | None
    """The former over that of the reference in the same block; None for the reference."""
    words: tuple[str, ...] = ()


class FileCell(Frozen):
    """One client with one server over one link (tolly2007, appendix B)."""

    system: str
    client: str
    server: str
    """How each end behaves."""
    time: Mean
    """From the first packet to the last, s."""
    throughput: Mean | None
    """Mbit/s."""
    least: float | None
    """What the link needs for it, s; None for a plain cable."""
    trips: Mean | None
    """Round trips one after another."""
    round_trip: float | None
    """Of the empty link, s."""
    waiting: float | None
    """Share of the time that so many round trips of the empty link are, %."""


class Upgrade(Frozen):
    """A system against the reference over one link."""

    system: str
    phase: str
    """What is newer: "client" (phase 1 of tolly2007), "both" (phase 2), "server", or "neither"."""
    faster: Mean
    """Time of the reference over that of this system, in each block; geometric mean."""
    trips: Mean | None
    """Round trips of the reference over those of this system."""
    words: str


class FileTask(Frozen):
    """One task over one link."""

    workload: str
    title: str
    link: str
    case_text: str
    """What else names the case: protocol, state, length and so on."""
    cells: tuple[FileCell, ...]
    upgrades: tuple[Upgrade, ...]


class Derived(Frozen):
    """Every derived figure of a result."""

    code_sizes: tuple[CodeSize, ...] = ()
    optima: tuple[OptimumPiece, ...] = ()
    read_ahead: tuple[ReadAhead, ...] = ()
    regions: tuple[Regions, ...] = ()
    competitions: tuple[Competition, ...] = ()
    limits: tuple[Limit, ...] = ()
    file_tasks: tuple[FileTask, ...] = ()
