"""The metrics of one flow, each by the standard that defines it.

Times are in seconds, rates per second. Where an end is missing or its records are not whole, the
metrics that need it are None: unknown, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pentathlon.traffic.clocks import ClockDifference
from pentathlon.traffic.join import Joined
from pentathlon.traffic.records import Packets

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
        offered_rate: packets/s that the schedule asked for.
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


def flow_metrics(flow: Joined, clocks: ClockDifference | None) -> FlowMetrics:
    """Compute every metric of a joined flow.

    Args:
        flow: both ends, joined.
        clocks: how the receiver's timer differs from the sender's; without it (None) one-way
            delay is unknown, while variations of delay still hold but for the clocks' drift.
    """
    sent = flow.length > 0
    count = int(sent.sum())
    arrived = flow.arrived & sent
    received = int(arrived.sum())
    late = seconds_of((flow.sent_ns - flow.intended_ns)[sent])
    arrivals = flow.arrival_ns[flow.first_arrival[arrived]]
    raw = (arrivals - flow.sent_ns[arrived]).astype(float)
    one_way = raw - clocks.at(flow.sent_ns[arrived]) if clocks else raw
    seconds = one_way * 1e-9
    sequence = np.flatnonzero(arrived)
    adjacent = np.diff(sequence) == 1
    in_order = np.argsort(flow.first_arrival[arrived], kind="stable")
    series = smoothed_jitter(seconds[in_order])
    steps = np.abs(np.diff(seconds[in_order]))
    return FlowMetrics(
        sent=count,
        received=received,
        offered_rate=_rate(flow.intended_ns[sent]),
        sending_rate=_rate(flow.sent_ns[sent]),
        throughput=_throughput(flow, arrived, arrivals),
        lost_ratio=1 - received / count if count else None,
        duplicate_ratio=flow.duplicates / count if count else None,
        reordered_ratio=reordered(flow.arrival_sequence),
        delay=delays(seconds) if clocks else None,
        delay_bound=clocks.bound_ns * 1e-9 if clocks else None,
        ipdv_mean_abs=_mean(np.abs(np.diff(seconds)[adjacent])),
        pdv_p999=_quantile(seconds - seconds.min(), 0.999) if received else None,
        jitter=float(series[-1]) if len(series) else None,
        jitter_mean=_mean(series),
        ditg_jitter=_mean(steps),
        lateness_p99=_quantile(late, 0.99),
        lateness_max=float(late.max()) if count else None,
    )


def sender_only(sent: Packets) -> FlowMetrics:
    """What the sender's records alone tell; everything that needs the receiver is unknown."""
    late = seconds_of(sent.late_ns)
    nothing: dict[str, Any] = dict.fromkeys((field.name for field in fields(FlowMetrics)), None)
    known = {
        "sent": len(sent),
        "offered_rate": _rate(sent.time_ns),
        "sending_rate": _rate(sent.time_ns + sent.late_ns),
        "lateness_p99": _quantile(late, 0.99),
        "lateness_max": float(late.max()) if len(late) else None,
    }
    return FlowMetrics(**(nothing | known))


def seconds_of(nanoseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Integers of ns as seconds."""
    return np.asarray(nanoseconds, np.float64) * 1e-9


def delays(seconds: NDArray[np.float64]) -> Delay | None:
    """Mean, extremes and quantiles of a series; None if it is empty."""
    if not len(seconds):
        return None
    found = {name: _quantile(seconds, share) for name, share in QUANTILES.items()}
    return Delay(
        mean=float(seconds.mean()),
        minimum=float(seconds.min()),
        maximum=float(seconds.max()),
        quantiles={name: value for name, value in found.items() if value is not None},
    )


def smoothed_jitter(delay: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series J += (|D| − J) / 16 of RFC 3550, section 6.4.1, over arrivals in their order."""
    from scipy.signal import lfilter  # noqa: PLC0415  (0.2 s to load, for one filter)

    steps = np.abs(np.diff(delay))
    return np.asarray(lfilter([1 / 16], [1, -15 / 16], steps), float)


def reordered(sequence: NDArray[np.int64]) -> float | None:
    """Share of reordered arrivals (RFC 4737, section 3): a sequence below one already seen.

    Second copies do not count as reordered (section 3.3 leaves them out).
    """
    if not len(sequence):
        return None
    _, first = np.unique(sequence, return_index=True)
    singles = sequence[np.sort(first)]
    before = np.maximum.accumulate(singles)
    return float((singles[1:] < before[:-1]).sum() / len(singles))


def _rate(times_ns: NDArray[np.int64]) -> float | None:
    if len(times_ns) < 2 or times_ns[-1] <= times_ns[0]:
        return None
    return (len(times_ns) - 1) / (float(times_ns[-1] - times_ns[0]) * 1e-9)


def _throughput(
    flow: Joined, arrived: NDArray[np.bool_], arrivals: NDArray[np.int64]
) -> float | None:
    """Bits after the first arrival over the time since then: the first only starts the clock."""
    if len(arrivals) < 2:
        return None
    first, last = int(arrivals.min()), int(arrivals.max())
    if last <= first:
        return None
    lengths = flow.length[arrived]
    bits = 8 * (int(lengths.sum()) - int(lengths[int(arrivals.argmin())]))
    return bits / ((last - first) * 1e-9)


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    """Nearest rank (RFC 7679, section 5.1); None if fewer than one value lies beyond it."""
    if len(values) * (1 - share) < 1 and share > 0.5:
        return None
    if not len(values):
        return None
    rank = min(len(values) - 1, int(np.ceil(share * len(values))) - 1)
    return float(np.partition(values, rank)[rank])


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
