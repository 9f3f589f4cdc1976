"""What a host's counters say of a trial: shares of CPU time, rates of interrupts, lost packets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pentathlon.testbed.replies.counters import HostCounters, Reading, Rows

RECEIVE = "NET_RX"
"""The soft interrupt in which received packets are handled (/proc/softirqs)."""


def middle(readings: Sequence[Reading], most: int = 3) -> list[Reading]:
    """The readings of the steady part: without the first, and no more than `most`."""
    return list(readings[1 : 1 + most])


def within(readings: Sequence[Reading], begin: float, end: float) -> list[Reading]:
    """The readings that lie whole between two times, ns."""
    return [one for one in readings if begin <= one["from_ns"] and one["to_ns"] <= end]


def together(hosts: Sequence[HostCounters]) -> HostCounters:
    """The CPU times of several readings as those of one: short ones may hold no tick at all."""
    rows: dict[str, list[int]] = {}
    for host in hosts:
        for name, ticks in (host.get("cpus") or {}).items():
            old = rows.get(name, [0] * len(ticks))
            rows[name] = [one + other for one, other in zip(old, ticks, strict=True)]
    return {"cpus": rows}


def idle_percent(host: HostCounters, cpus: Iterable[int] | None) -> float | None:
    """Mean idle share of the CPUs, %, as sar(1) prints %idle; None: they were not read.

    Args:
        host: differences of a reading (`host` of an endpoint's events).
        cpus: the CPUs; None: all together.
    """
    rows = host.get("cpus") or {}
    names = ["cpu"] if cpus is None else [f"cpu{cpu}" for cpu in cpus]
    shares = []
    for name in names:
        ticks = rows.get(name)
        if not ticks or not sum(ticks[:8]):
            return None
        shares.append(100 * ticks[3] / sum(ticks[:8]))
    return sum(shares) / len(shares) if shares else None


def count_of(rows: Rows | None, name: str, cpus: Iterable[int] | None) -> int | None:
    """Events of one row on these CPUs (None: on all); None: the system has no such table.

    Rows that did not change are left out by the endpoint, so a missing row is 0.
    """
    if rows is None:
        return None
    numbers = rows.get(name, [])
    if cpus is None:
        return int(sum(numbers))
    return int(sum(numbers[cpu] for cpu in cpus if cpu < len(numbers)))


def rate(
    readings: Sequence[Reading], table: Sequence[str], name: str, cpus: Iterable[int] | None
) -> float | None:
    """Events per second over some readings; None: the system does not count them.

    Args:
        table: where the table lies in a reading, such as ("host", "softirqs").
        name: the row.
        cpus: the CPUs; None: all.
    """
    chosen = None if cpus is None else list(cpus)
    total, seconds = 0, 0.0
    for reading in readings:
        rows: Any = reading
        for key in table:
            rows = rows.get(key) if rows is not None else None
        found = count_of(rows, name, chosen)
        if found is None:
            return None
        total += found
        seconds += (reading["to_ns"] - reading["from_ns"]) * 1e-9
    return total / seconds if seconds else None


def receiver_losses(whole: Reading, cpus: Iterable[int]) -> int:
    """Packets that came through and were lost at the receiver: its socket's and its CPUs' queues.

    `RcvbufErrors` (RFC 4113, by netstat(8)), and the second column of `softnet_stat`, which is
    counted by CPU.
    """
    protocols = whole.get("protocols") or {}
    lost = sum(sum(protocols.get(name, [0])) for name in ("Udp.RcvbufErrors", "Udp6RcvbufErrors"))
    softnet = whole.get("softnet") or {}
    for cpu in cpus:
        row = softnet.get(f"cpu{cpu}", [])
        lost += row[1] if len(row) > 1 else 0
    return int(lost)
