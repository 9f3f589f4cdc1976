"""The kernel's times of a flow's packets, beside those of the programs (docs/network.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pentathlon.packets import flow_metrics
from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.join import Joined
from pentathlon.packets.records import Integers, Packets

UNKNOWN = -1


@dataclass(frozen=True)
class Stamps:
    """By sequence; UNKNOWN where the kernel did not tell.

    Attributes:
        left_ns: handed to the device, sender's timer.
        heard_ns: came to the stack, receiver's timer.
    """

    left_ns: Integers
    heard_ns: Integers


def stamps(both: Joined, left: Packets | None, heard: Packets | None) -> Stamps:
    """The times of the kernels, by sequence of the packets that were sent.

    Where the sender's system refused a packet its numbers of packets are not ours any more, and
    its times are left out.
    """
    count = len(both.sent_ns)
    found = Stamps(np.full(count, UNKNOWN, np.int64), np.full(count, UNKNOWN, np.int64))
    for one, times in ((left, found.left_ns), (heard, found.heard_ns)):
        if one is None or (one is left and both.refused.any()):
            continue
        own = (one.sequence >= 0) & (one.sequence < count)
        # Of a packet that came twice the first time holds.
        times[one.sequence[own][::-1]] = one.time_ns[own][::-1]
    return found


def with_columns(table: pl.DataFrame, found: Stamps | None) -> pl.DataFrame:
    """A table of packets with the columns `left_ns` (sender's timer) and `heard_ns` (receiver's).

    The kernel's times are of the packets themselves: a further copy has none.
    """
    columns = []
    for name in ("left_ns", "heard_ns"):
        column = pl.Series(name, [None] * len(table), dtype=pl.Int64)
        if found is not None:
            times = getattr(found, name)[table["sequence"].to_numpy()]
            known = (times != UNKNOWN) & (table["copy"].to_numpy() == 0)
            frame = pl.DataFrame({"time": times, "known": known})
            column = frame.select(pl.when("known").then("time").alias(name))[name]
        columns.append(column)
    return table.with_columns(columns)


def values(both: Joined, found: Stamps, clocks: ClockDifference | None) -> dict[str, float]:
    """Metrics in ms; what is unknown is left out."""
    arrived = both.arrived
    arrival = np.where(arrived, both.arrival_ns[np.where(arrived, both.first_arrival, 0)], 0) \
        if arrived.any() else np.zeros(len(arrived), np.int64)  # fmt: skip
    left, heard = found.left_ns != UNKNOWN, found.heard_ns != UNKNOWN
    series: dict[str, NDArray[np.float64]] = {
        "send_wait": (found.left_ns - both.sent_ns)[left].astype(float),
        "receive_wait": (arrival - found.heard_ns)[heard & arrived].astype(float),
    }
    if clocks is not None:
        known = left & heard
        series["kernel_delay"] = (found.heard_ns - found.left_ns)[known] - clocks.at(
            found.left_ns[known]
        )
    entries: dict[str, float] = {}
    for name, nanoseconds in series.items():
        spread = flow_metrics.delays(nanoseconds * 1e-9)
        if spread is not None:
            entries[name] = spread.mean * 1e3
            entries |= {
                f"{name}_{key}": value * 1e3
                for key, value in spread.quantiles.items()
                if key in ("p50", "p99")
            }
    return entries
