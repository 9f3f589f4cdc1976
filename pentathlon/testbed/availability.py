"""What the CPUs of both hosts have left for programs while packets go between them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from pentathlon.protocol.requests.session import Placement
from pentathlon.protocol.requests.works import Soak
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.replies.counters import HostCounters
from pentathlon.testbed.replies.jobs import Stopped

CALIBRATION_S = 0.5
"""How long the CPU hogs run with nothing beside them, before each trial, in seconds."""

CALIBRATIONS = 5
"""How often the CPU hogs are asked at most: by the policy "idle" they may get nothing at first."""

NOTHING_ALONE = "the CPU hog got no time with nothing beside it to be compared with"
NO_WINDOW = "the counters of this host were not read over the flows, so their time is unknown here"

JOB = "soak"


@dataclass
class CpuHogs:
    """What CPU hogs got on both hosts; empty where the study requests none.

    Attributes:
        before: units per second of the time just before, when both CPU hogs ran and nothing else.
        stopped: the `stopped` events of those that ran beside the trial.
    """

    before: list[float] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)

    def percent(self, hosts: Sequence[HostCounters]) -> list[float | str]:
        """Units per second during the flows, of those before, %; a sentence where it is unknown.

        Args:
            hosts: counters of both hosts, which say from when to when (docs/protocol.md).
        """
        found: list[float | str] = []
        for then, stopped, host in zip(self.before, self.stopped, hosts, strict=False):
            if not then:
                found.append(NOTHING_ALONE)
            elif window := host.get("window"):
                now = units_per_second(stopped, window["from_ns"], window["to_ns"])
                found.append(100 * now / then)
            else:
                found.append(NO_WINDOW)
        return found


@contextmanager
def cpu_hogs_on(policy: str, hosts: tuple[Endpoint, Endpoint]) -> Iterator[CpuHogs]:
    """Run a CPU hog on every CPU of both hosts for as long as the context lasts.

    What it yields is whole when the context is left. Hosts on one machine share its CPUs before
    and during the trial, so that the percentages still hold.

    Args:
        policy: "none", or how the CPU hog is scheduled: "idle" (sched(7)) takes what nobody wants,
            "other" is an ordinary program that competes with what it measures.
    """
    found = CpuHogs()
    if policy == "none":
        yield found
        return
    for _ in range(CALIBRATIONS):
        found.before = [units_per_second(one) for one in _soak(policy, hosts, CALIBRATION_S)]
        if all(found.before):
            break
    _start(policy, hosts)
    try:
        yield found
    finally:
        found.stopped = [host.finish_job(JOB) for host in hosts]


def units_per_second(
    stopped: Stopped, from_ns: float | None = None, to_ns: float | None = None
) -> float:
    """Of all threads of a CPU hog together, between two times of its host's timer.

    Between two notes of a thread's progress its speed counts as constant. A thread did nothing
    before its first note and after its last one. Where a time is left out the notes' own end it.
    """
    return sum(_rate(one["progress"], 1, from_ns, to_ns) or 0.0 for one in stopped["yields"])


def _rate(
    notes: list[list[float]], column: int, from_ns: float | None, to_ns: float | None
) -> float | None:
    """How fast a column of [time, units, CPU time] grew, 1/s; None: no time is between."""
    begin = notes[0][0] if from_ns is None else from_ns
    end = notes[-1][0] if to_ns is None else to_ns
    if end <= begin:
        return None
    times, counts = [note[0] for note in notes], [note[column] for note in notes]
    first, last = np.interp([begin, end], times, counts)
    return float((last - first) / ((end - begin) * 1e-9))


def cpu_hog(policy: str) -> Soak:
    """The work of a CPU hog on every CPU of a host."""
    return Soak(placement=Placement(policy=None if policy == "other" else policy))


def _start(policy: str, hosts: tuple[Endpoint, Endpoint]) -> None:
    for host in hosts:
        host.start(JOB, cpu_hog(policy))


def _soak(policy: str, hosts: tuple[Endpoint, Endpoint], seconds: float) -> list[Stopped]:
    _start(policy, hosts)
    time.sleep(seconds)
    return [host.finish_job(JOB) for host in hosts]
