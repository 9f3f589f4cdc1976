"""The packets of a trial as one table: what both ends wrote down, joined."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.join import Joined
from pentathlon.packets.series import smoothed

PACKETS: Final[dict[str, pl.DataType]] = {
    "flow": pl.UInt32(),
    "sequence": pl.UInt64(),
    "copy": pl.UInt32(),
    "length": pl.UInt32(),
    "intended_ns": pl.Int64(),
    "sent_ns": pl.Int64(),
    "refused": pl.Boolean(),
    "arrival_ns": pl.Int64(),
    "arrival_order": pl.UInt32(),
    "delay_ns": pl.Float64(),
    "jitter_ns": pl.Float64(),
    "echo_ns": pl.Int64(),
}
"""One row per packet that was sent, and one per further copy of it that came.

flow           number of the flow in the trial
copy           0: the packet itself; 1 and more: duplicates
intended_ns, sent_ns, echo_ns
               when it was due, was sent, and came back; the sender's timer
refused        the sender's system did not take it
arrival_ns     when it came, the receiver's timer; null: it did not come, or it is unknown
arrival_order  its place among the arrivals of the flow
delay_ns       one-way delay with the clocks' difference taken off; null without clocks
jitter_ns      smoothed interarrival jitter after the packet's arrival (RFC 3550, section 6.4.1)
"""


def table(
    flow: int, both: Joined, back: Joined | None, clocks: ClockDifference | None
) -> pl.DataFrame:
    """The packets of one flow, with the columns of PACKETS.

    Args:
        both: sender and receiver, joined.
        back: sender and echoes, joined.
        clocks: receiver's timer against the sender's.
    """
    sequence = np.flatnonzero(both.length > 0)
    again = np.setdiff1d(
        np.arange(len(both.arrival_sequence)), both.first_arrival[both.arrived], True
    )
    numbers = np.concatenate([sequence, both.arrival_sequence[again]])
    place = np.concatenate([both.first_arrival[sequence], again])
    came = place >= 0
    arrival = np.where(came, both.arrival_ns[np.where(came, place, 0)], 0) if came.any() else place
    delay = (arrival - both.sent_ns[numbers]).astype(float)
    if clocks is not None:
        delay -= clocks.at(both.sent_ns[numbers])
    made = pl.DataFrame(
        {
            "flow": np.full(len(numbers), flow),
            "sequence": numbers,
            "copy": _copies(len(sequence), both.arrival_sequence[again]),
            "length": both.length[numbers],
            "intended_ns": both.intended_ns[numbers],
            "sent_ns": both.sent_ns[numbers],
            "refused": both.refused[numbers],
            "arrival_ns": _known(arrival, came),
            "arrival_order": _known(place, came),
            "delay_ns": _known(delay, came & (clocks is not None)),
            "jitter_ns": _jitter(delay, place, came, len(sequence)),
            "echo_ns": _echoes(numbers, len(sequence), back),
        },
        schema_overrides=PACKETS,
    )
    return made.sort("sequence", "copy")


def _jitter(
    delay: NDArray[np.float64], place: NDArray[np.int64], came: NDArray[np.bool_], first: int
) -> pl.Series:
    """The running jitter at each packet's own row; further copies have none."""
    own = came & (np.arange(len(came)) < first)
    rows = np.flatnonzero(own)
    rows = rows[np.argsort(place[rows], kind="stable")]
    jitter = np.zeros(len(delay))
    if len(rows) > 1:
        jitter[rows[1:]] = smoothed(np.abs(np.diff(delay[rows])))
    return _known(jitter, own)


def _copies(first: int, again: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 for packets, and for each further copy its number among those of its sequence."""
    order = np.argsort(again, kind="stable")
    ordered = again[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    numbers = np.empty(len(again), np.int64)
    numbers[order] = np.arange(len(again)) - starts + 1
    return np.concatenate([np.zeros(first, np.int64), numbers])


def _echoes(numbers: NDArray[np.int64], first: int, back: Joined | None) -> pl.Series:
    if back is None or not len(back.arrival_ns):
        return pl.Series([None] * len(numbers), dtype=pl.Int64)
    place = np.where(np.arange(len(numbers)) < first, back.first_arrival[numbers], -1)
    return _known(back.arrival_ns[np.where(place >= 0, place, 0)], place >= 0)


def _known(values: NDArray[np.generic], known: NDArray[np.bool_]) -> pl.Series:
    """The values where they are known, and null elsewhere."""
    frame = pl.DataFrame({"value": values, "known": known})
    return frame.select(pl.when("known").then("value"))["value"]
