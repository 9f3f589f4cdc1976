"""The two ends of one flow, joined by sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pentathlon.traffic.records import Integers, Packets, Piece, Records

Source: TypeAlias = Packets | Records
"""What one end wrote down: decoded, or a file that is decoded while it is joined."""


@dataclass(frozen=True)
class Joined:
    """One flow as both ends saw it.

    Attributes:
        sent_ns: actual time of sending by sequence, sender's timer.
        late_ns: how much later than intended that was, by sequence.
        length: bytes of payload by sequence.
        refused: whether the sender's system refused the packet, by sequence.
        first_arrival: place in `arrival_*` of the first copy by sequence; -1: it never came.
        arrival_sequence: sequence of each arrival, in the order of arrival.
        arrival_ns: time of each arrival, receiver's timer.
        duplicates: arrivals beyond the first of a sequence.
        reordered: first copies that came behind a later sequence (RFC 4737, section 3.3).
        unsent: arrivals of sequences that the sender did not write down.
    """

    sent_ns: Integers
    late_ns: NDArray[np.uint32]
    length: NDArray[np.uint16]
    refused: NDArray[np.bool_]
    first_arrival: Integers
    arrival_sequence: Integers
    arrival_ns: Integers
    duplicates: int
    reordered: int
    unsent: int

    @property
    def intended_ns(self) -> Integers:
        """Intended time of sending by sequence, sender's timer."""
        return self.sent_ns - self.late_ns

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Whether each packet came, by sequence."""
        return self.first_arrival >= 0


def join(sent: Source, received: Source) -> Joined:
    """Join the records of a flow's sender and of its receiver (or of its echoes).

    The sender's records are taken to be whole: sequence n is the n-th row. Sequences without a
    row (records that were lost) are marked by `length` 0 and count as not sent. Memory: 31 bytes
    for each packet that was sent, and 16 for each that came.

    Raises:
        RecordsError: a file is damaged.
    """
    count = sent.sequences
    times = np.zeros(count, np.int64)
    late = np.zeros(count, np.uint32)
    length = np.zeros(count, np.uint16)
    refused = np.zeros(count, bool)
    for piece in sent.pieces():
        place = place_of(piece.sequence)
        times[place] = piece.time_ns + piece.late_ns
        late[place] = piece.late_ns
        length[place] = piece.length
        refused[place] = piece.flags != 0
    arrivals = _Arrivals(count, len(received))
    for piece in received.pieces():
        arrivals.add(piece)
    return Joined(
        sent_ns=times,
        late_ns=late,
        length=length,
        refused=refused,
        first_arrival=arrivals.first,
        arrival_sequence=arrivals.sequence[: arrivals.count],
        arrival_ns=arrivals.time_ns[: arrivals.count],
        duplicates=arrivals.duplicates,
        reordered=arrivals.reordered,
        unsent=arrivals.unsent,
    )


def place_of(numbers: Integers) -> slice | Integers:
    """The numbers as an index; a slice, which is faster, if they follow each other."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1 and ascends(numbers):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def ascends(numbers: Integers) -> bool:
    """Whether each number is higher than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


class _Arrivals:
    """Finds first copies, further ones and those out of order, piece by piece."""

    def __init__(self, sequences: int, most: int) -> None:
        self.first = np.full(sequences, -1, np.int64)
        self.sequence = np.empty(most, np.int64)
        self.time_ns = np.empty(most, np.int64)
        self.count = self.duplicates = self.reordered = self.unsent = 0
        self.highest = -1

    def add(self, piece: Packets | Piece) -> None:
        sequence, times = piece.sequence, piece.time_ns
        if not len(sequence):
            return
        if sequence.min() < 0 or sequence.max() >= len(self.first):
            known = (sequence >= 0) & (sequence < len(self.first))
            sequence, times = sequence[known], times[known]
            self.unsent += len(piece) - len(sequence)
            if not len(sequence):
                return
        start, end = self.count, self.count + len(sequence)
        self.sequence[start:end] = sequence
        self.time_ns[start:end] = times
        if sequence[0] > self.highest and ascends(sequence):
            self.first[place_of(sequence)] = np.arange(start, end)
        else:
            self._add_mixed(sequence, start)
        self.highest = max(self.highest, int(sequence.max()))
        self.count = end

    def _add_mixed(self, sequence: Integers, start: int) -> None:
        """Arrivals of which some are not higher than all before: those are looked at closely."""
        before = np.maximum.accumulate(np.concatenate([[self.highest], sequence[:-1]]))
        ahead = sequence > before
        places = np.arange(start, start + len(sequence))
        self.first[sequence[ahead]] = places[ahead]
        behind, their_places = sequence[~ahead], places[~ahead]
        new = self.first[behind] < 0
        # Of several assignments to one place the last one holds, so they are made backwards.
        self.first[behind[new][::-1]] = their_places[new][::-1]
        copies = int((self.first[behind] == their_places).sum())
        self.reordered += copies
        self.duplicates += len(behind) - copies
