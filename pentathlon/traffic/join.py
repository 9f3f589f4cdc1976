"""The two ends of one flow, joined by sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pentathlon.traffic.records import Integers, Packets


@dataclass(frozen=True)
class Joined:
    """One flow as both ends saw it.

    Attributes:
        sent_ns: actual time of sending by sequence, sender's timer.
        intended_ns: intended time of sending by sequence.
        length: bytes of payload by sequence.
        refused: whether the sender's system refused the packet, by sequence.
        first_arrival: place in `arrival_*` of the first copy by sequence; -1: it never came.
        arrival_sequence: sequence of each arrival, in the order of arrival.
        arrival_ns: time of each arrival, receiver's timer.
        duplicates: arrivals beyond the first of a sequence.
        unsent: arrivals of sequences that the sender did not write down.
    """

    sent_ns: Integers
    intended_ns: Integers
    length: Integers
    refused: NDArray[np.bool_]
    first_arrival: Integers
    arrival_sequence: Integers
    arrival_ns: Integers
    duplicates: int
    unsent: int

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Whether each packet came, by sequence."""
        return self.first_arrival >= 0


def join(sent: Packets, received: Packets) -> Joined:
    """Join the records of a flow's sender and of its receiver (or of its echoes).

    The sender's records are taken to be whole: sequence n is the n-th row. Sequences without a
    row (records that were lost) are marked by `length` 0 and count as not sent.
    """
    count = int(sent.sequence.max(initial=-1)) + 1
    times, intended, length = (np.zeros(count, np.int64) for _ in range(3))
    refused = np.zeros(count, bool)
    intended[sent.sequence] = sent.time_ns
    times[sent.sequence] = sent.time_ns + sent.late_ns
    length[sent.sequence] = sent.length
    refused[sent.sequence] = sent.flags != 0
    known = (received.sequence >= 0) & (received.sequence < count)
    sequence, arrival = received.sequence[known], received.time_ns[known]
    first = np.full(count, -1, np.int64)
    # Of several assignments to one place the last one holds, so they are made backwards.
    first[sequence[::-1]] = np.arange(len(sequence))[::-1]
    return Joined(
        sent_ns=times,
        intended_ns=intended,
        length=length,
        refused=refused,
        first_arrival=first,
        arrival_sequence=sequence,
        arrival_ns=arrival,
        duplicates=len(sequence) - int((first >= 0).sum()),
        unsent=int((~known).sum()),
    )
