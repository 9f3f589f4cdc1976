"""The metrics of `network.traffic` from the metrics of a flow and the counters of both hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pentathlon.packets.flow_metrics import Delay, FlowMetrics
from pentathlon.packets.reordering import Reordering

NETWORK_SOFTIRQS = ("NET_RX", "NET_TX")


def of_flow(found: FlowMetrics, trips: Delay | None) -> dict[str, float]:
    """The metrics of one flow; what is unknown is left out. Zero is a value."""
    values = {
        "throughput": _times(found.throughput, 1e-3),
        "packet_rate": found.sending_rate,
        "delivered": None if found.lost_ratio is None else 100 * (1 - found.lost_ratio),
        "lost": _times(found.lost_ratio, 100),
        "duplicated": _times(found.duplicate_ratio, 100),
        "reordered": _times(found.reordered_ratio, 100),
        "delay_bound": _times(found.delay_bound, 1e3),
        **_delays("delay", found.delay),
        **_delays("round_trip", trips),
        "ipdv": _times(found.ipdv_mean_abs, 1e3),
        "pdv_p999": _times(found.pdv_p999, 1e3),
        "jitter": _times(found.jitter_mean, 1e3),
        "ditg_jitter": _times(found.ditg_jitter, 1e3),
    }
    return {name: float(value) for name, value in values.items() if value is not None}


def of_tcp(
    sent: Mapping[str, Any], host: Mapping[str, Any], trips: Delay | None
) -> dict[str, float]:
    """The metrics of RFC 6349, which is about TCP alone; what is unknown is left out.

    Args:
        sent: what the sender of the flow counted.
        host: counters of the sender's host.
        trips: round-trip times of the flow's echoes.
    """
    efficiency = stream_efficiency(sent)
    values = {
        "tcp_efficiency": tcp_efficiency(host) if efficiency is None else efficiency,
        "buffer_delay": buffer_delay(trips),
    }
    return {name: value for name, value in values.items() if value is not None}


def window_s(host: Mapping[str, Any]) -> float:
    """Time between the two readings of a host's counters; 0: they were not read.

    The window holds both readings whole, and `unknown_ns` is what these took together: the time
    between them is shorter by some part of that, of which half is taken.
    """
    window = host.get("window")
    if not window:
        return 0.0
    length_ns = window["to_ns"] - window["from_ns"] - window.get("unknown_ns", 0) / 2
    return float(length_ns * 1e-9)


def of_host(host: Mapping[str, Any], end: str, packets: int) -> dict[str, float]:
    """What a trial cost one host: `end` is "sender" or "receiver".

    Args:
        host: the endpoint's counters over the flows (docs/protocol.md).
        packets: packets that were sent.
    """
    own = host.get("agent_cpu_ns")
    seconds = window_s(host)
    softirqs = host.get("softirqs")
    values = {
        f"cpu_{end}": busy_percent(host),
        **{f"cpu_{name}_{end}": share_percent(host, name) for name in ("irq", "softirq", "steal")},
        f"packet_cpu_{end}": own / 1e3 / packets if own is not None and packets else None,
        f"packet_busy_{end}": _busy_us(host, packets),
        f"interrupts_{end}": _per_second(host.get("interrupts"), seconds),
        f"softirqs_{end}": _per_second(
            softirqs and {name: softirqs.get(name, []) for name in NETWORK_SOFTIRQS}, seconds
        ),
    }
    return {name: float(value) for name, value in values.items() if value is not None}


def spoilt_by_cpu_hog(end: str) -> tuple[str, ...]:
    """Metrics that a CPU hog, which takes all the time that is left, states nothing of."""
    return (f"cpu_{end}", f"packet_cpu_{end}", f"packet_busy_{end}")


def share_percent(host: Mapping[str, Any], name: str) -> float | None:
    """Share of one kind of time (proc(5), /proc/stat) in that of all CPUs, %."""
    ticks = (host.get("cpus") or {}).get("cpu")
    fields = host.get("cpu_fields") or []
    # Further fields are parts of the first ones.
    if not ticks or name not in fields or not sum(ticks[:8]):
        return None
    return float(100 * ticks[fields.index(name)] / sum(ticks[:8]))


def reordering_of(found: Reordering | None) -> dict[str, float]:
    """The metrics of RFC 4737 beyond the share of reordered packets."""
    if found is None:
        return {}
    extent = {} if found.extent is None else {"reordering_extent": found.extent}
    return extent | {"reordered_3": 100 * found.three}


def stream_efficiency(sent: Mapping[str, Any]) -> float | None:
    """Share of the flow's bytes that were not sent again, % (RFC 6349, section 3.2).

    Args:
        sent: what the sender counted, with `wire_bytes` and `wire_bytes_again` of TCP_INFO.
    """
    all_bytes, again = sent.get("wire_bytes"), sent.get("wire_bytes_again")
    if not all_bytes or again is None:
        return None
    return float(100 * (1 - again / all_bytes))


def tcp_efficiency(host: Mapping[str, Any]) -> float | None:
    """Share of segments that were not sent again, % (RFC 6349, section 3.2, in segments)."""
    tcp = host.get("tcp")
    if not tcp or not tcp["segments"]:
        return None
    return float(100 * (1 - tcp["retransmitted"] / tcp["segments"]))


def buffer_delay(trips: Delay | None) -> float | None:
    """How much the mean round trip exceeds the shortest, % (RFC 6349, section 3.3).

    The shortest round trip of the run stands for the baseline.
    """
    if trips is None or trips.minimum <= 0:
        return None
    return 100 * (trips.mean - trips.minimum) / trips.minimum


def busy_percent(host: Mapping[str, Any]) -> float | None:
    """Busy share of all CPUs, %: all but idle and iowait (proc(5), /proc/stat)."""
    ticks = (host.get("cpus") or {}).get("cpu")
    if not ticks or not sum(ticks[:8]):
        return None
    return float(100 * _busy(ticks) / sum(ticks[:8]))


def _busy_us(host: Mapping[str, Any], packets: int) -> float | None:
    """What all CPUs were busy with, but for what the hypervisor took, per packet, us."""
    ticks, tick_ns = (host.get("cpus") or {}).get("cpu"), host.get("tick_ns")
    if not ticks or not tick_ns or not packets:
        return None
    return float((_busy(ticks) - ticks[7]) * tick_ns * 1e-3 / packets)


def _busy(ticks: list[int]) -> int:
    user, nice, system, _, _, irq, softirq, steal = ticks[:8]
    return user + nice + system + irq + softirq + steal


def _per_second(rows: dict[str, list[int]] | None, seconds: float) -> float | None:
    if rows is None or seconds <= 0:
        return None
    return sum(sum(row) for row in rows.values()) / seconds


def _delays(name: str, series: Delay | None) -> dict[str, float | None]:
    if series is None:
        return {}
    quantiles = {f"{name}_{key}": value * 1e3 for key, value in series.quantiles.items()}
    return {name: series.mean * 1e3, **quantiles}


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
