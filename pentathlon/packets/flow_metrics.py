"""The metrics of one flow, each by the standard that defines it.

Times are in seconds, rates per second. Where an end is missing or its records are not whole, the
metrics that need it are None: unknown, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pentathlon.packets import series
from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.join import Joined
from pentathlon.packets.records import Packets

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}


@dataclass(frozen=True)
class Delay:
    """A series of delays, in seconds."""

    mean: float
    minimum: float
    maximum: float
    quantiles: dict[str, float]
    """By nearest rank; those that the number of packets does not support are left out."""


@dataclass(frozen=True)
class FlowMetrics:
    """What one flow yields.

    Attributes:
        sent, received: packets; received counts each sequence once.
        offered_rate: packets/s that the schedule requested.
        sending_rate: packets/s that were sent.
        throughput: bit/s of payload received, from the first to the last arrival.
        lost_ratio: share of packets sent that never came (RFC 7680), the last ones included.
        duplicate_ratio: arrivals beyond the first per packet sent (RFC 5560).
        reordered_ratio: share of arrivals whose sequence is smaller than one that came before
            (RFC 4737, Type-P-Reordered).
        delay: one-way delay (RFC 7679), receiver's arrival minus actual sending.
        delay_bound: the true delays are within ± this of those given (clocks).
        ipdv_mean_abs: mean |difference of the delays of packets that follow each other| (RFC 3393),
            over adjacent sequences that both came.
        pdv_p999: 99.9 % point of the delay above the smallest (RFC 5481, PDV).
        jitter: last value of the smoothed interarrival jitter (RFC 3550, section 6.4.1).
        jitter_mean: mean of that series.
        ditg_jitter: mean |ΔD| over arrivals in their order, as D-ITG defines it.
        lateness_p99, lateness_max: how much later than intended packets were sent.
    """

    sent: int
    received: int | None
    offered_rate: float | None
    sending_rate: float | None
    throughput: float | None
    lost_ratio: float | None
    duplicate_ratio: float | None
    reordered_ratio: float | None
    delay: Delay | None
    delay_bound: float | None
    ipdv_mean_abs: float | None
    pdv_p999: float | None
    jitter: float | None
    jitter_mean: float | None
    ditg_jitter: float | None
    lateness_p99: float | None
    lateness_max: float | None

    def known(self) -> list[str]:
        """The names of the metrics that have a value."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]


def compute(flow: Joined, clocks: ClockDifference | None) -> FlowMetrics:
    """Compute every metric of a joined flow.

    Args:
        flow: both ends, joined.
        clocks: how the receiver's timer differs from the sender's; without it (None) one-way
            delay is unknown, while variations of delay still hold but for the clocks' drift.
    """
    went = series.departures(flow)
    came = series.arrivals(flow, clocks)
    ordered = series.in_sequence(flow, came)
    jitter, jitter_mean = series.jitter(came)
    found = _spread(came)
    above = found.quantiles.get("p999") if found else None
    count = went.packets
    rank = _rank(count, 0.99)
    return FlowMetrics(
        sent=count,
        received=came.packets,
        offered_rate=rate(count, went.ends_ns - went.late_ends_ns),
        sending_rate=rate(count, went.ends_ns),
        throughput=_throughput(flow, came, ordered.bytes),
        lost_ratio=1 - came.packets / count if count else None,
        duplicate_ratio=flow.duplicates / count if count else None,
        reordered_ratio=flow.reordered / came.packets if came.packets else None,
        delay=found if clocks else None,
        delay_bound=clocks.bound_ns * 1e-9 if clocks else None,
        ipdv_mean_abs=ordered.steps.mean,
        pdv_p999=above - found.minimum if found and above is not None else None,
        jitter=jitter,
        jitter_mean=jitter_mean,
        ditg_jitter=came.steps.mean,
        lateness_p99=None if rank is None else went.lateness_ns(rank) * 1e-9,
        lateness_max=went.latest_ns * 1e-9 if count else None,
    )


def sender_only(sent: Packets) -> FlowMetrics:
    """What the sender's records alone tell; everything that needs the receiver is unknown."""
    count, ends = len(sent), [0, -1] if len(sent) else []
    times = sent.time_ns[ends]
    nothing: dict[str, Any] = dict.fromkeys((field.name for field in fields(FlowMetrics)), None)
    known = {
        "sent": count,
        "offered_rate": rate(count, times),
        "sending_rate": rate(count, times + sent.late_ns[ends]),
        "lateness_p99": _nanoseconds(sent.late_ns, 0.99),
        "lateness_max": float(sent.late_ns.max()) * 1e-9 if count else None,
    }
    return FlowMetrics(**(nothing | known))


def seconds_of(nanoseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Integers of ns as seconds."""
    return np.asarray(nanoseconds, np.float64) * 1e-9


def delays(seconds: NDArray[np.float64]) -> Delay | None:
    """Mean, extremes and quantiles of a series; None if it is empty."""
    if not len(seconds):
        return None
    ends = float(seconds.min()), float(seconds.max())
    return Delay(float(seconds.mean()), *ends, _quantiles(seconds.copy(), len(seconds)))


def _spread(came: series.Arrivals) -> Delay | None:
    """As `delays`; puts the arrivals' delays into another order."""
    if not came.packets:
        return None
    return Delay(came.total / came.packets, *came.extremes, _quantiles(came.delay, came.packets))


def _quantiles(values: NDArray[np.float64], count: int) -> dict[str, float]:
    """Of the first `count` values in order; those that are no numbers come last in it.

    Puts the values into another order.
    """
    found, start = {}, 0
    for name, share in QUANTILES.items():
        rank = _rank(count, share)
        if rank is not None:
            # What lies above one quantile holds the next ones.
            values[start:].partition(rank - start)
            found[name] = float(values[rank])
            start = rank
    return found


def _rank(count: int, share: float) -> int | None:
    """Place of a quantile by nearest rank (RFC 7679, section 5.1) in `count` values in order.

    None if fewer than one value lies beyond it.
    """
    if not count or (count * (1 - share) < 1 and share > 0.5):
        return None
    return min(count - 1, math.ceil(share * count) - 1)


def _nanoseconds(values: NDArray[np.integer[Any]], share: float) -> float | None:
    """A quantile of times in ns, in s."""
    rank = _rank(len(values), share)
    return None if rank is None else float(np.partition(values, rank)[rank]) * 1e-9


def rate(count: int, ends_ns: Sequence[int] | NDArray[np.int64] | None) -> float | None:
    """Packets/s from the times of the first and of the last of `count` packets."""
    if count < 2 or ends_ns is None or ends_ns[1] <= ends_ns[0]:
        return None
    return (count - 1) / (float(ends_ns[1] - ends_ns[0]) * 1e-9)


def throughput(bytes_after: int, count: int, ends_ns: tuple[int, int]) -> float | None:
    """Bits after the first of `count` arrivals over the time since then.

    Args:
        bytes_after: payload without that of the first, which only starts the clock.
        ends_ns: times of the earliest and of the latest arrival.
    """
    if count < 2 or ends_ns[1] <= ends_ns[0]:
        return None
    return 8 * bytes_after / ((ends_ns[1] - ends_ns[0]) * 1e-9)


def _throughput(flow: Joined, came: series.Arrivals, whole: int) -> float | None:
    if came.packets < 2:
        return None
    first = flow.departures(came.first_sequence, came.first_sequence + 1)[2]
    return throughput(whole - int(first[0]), came.packets, (came.first_ns, came.last_ns))
