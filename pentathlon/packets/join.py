"""The two ends of one flow, joined by sequence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pentathlon.packets.records import Integers, Numbers, Packets, Records

Source: TypeAlias = Packets | Records
"""What one end wrote down: decoded, or a file that is decoded while it is joined."""


@dataclass(frozen=True)
class Joined:
    """One flow as both ends saw it.

    The columns by sequence and by arrival take 31 bytes a packet and are made when they are asked
    for; `departures` and `arrivals` decode a stretch of them from the ends' records.

    Attributes:
        sent, received: what both ends wrote down.
        first_arrival: place in `arrival_*` of the first copy by sequence; -1: it never came.
        copies: places in `arrival_*` of the arrivals beyond the first of a sequence, ascending.
        reordered: first copies that came behind a later sequence (RFC 4737, section 3.3).
        unsent: arrivals of sequences that the sender did not write down; they are left out.
    """

    sent: Source
    received: Source
    first_arrival: NDArray[np.signedinteger[Any]]
    copies: Integers
    reordered: int
    unsent: int

    @property
    def duplicates(self) -> int:
        """Arrivals beyond the first of a sequence."""
        return len(self.copies)

    @property
    def sent_ns(self) -> Integers:
        """Actual time of sending by sequence, sender's timer."""
        return self._departures[0]

    @property
    def late_ns(self) -> NDArray[np.uint32]:
        """How much later than intended that was, by sequence."""
        return self._departures[1]

    @property
    def length(self) -> NDArray[np.uint16]:
        """Bytes of payload by sequence; 0: the sender did not write the packet down."""
        return self._departures[2]

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Whether the sender's system refused the packet, by sequence."""
        return self._departures[3]

    @property
    def intended_ns(self) -> Integers:
        """Intended time of sending by sequence, sender's timer."""
        return self.sent_ns - self.late_ns

    @property
    def arrival_sequence(self) -> Integers:
        """Sequence of each arrival, in the order of arrival."""
        return self._arrivals[0]

    @property
    def arrival_ns(self) -> Integers:
        """Time of each arrival, receiver's timer."""
        return self._arrivals[1]

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Whether each packet came, by sequence."""
        return self.first_arrival >= 0

    @property
    def arrivals_count(self) -> int:
        """How many arrivals there are, further copies with them."""
        return len(self.received) - self.unsent

    @cached_property
    def is_whole(self) -> bool:
        """Whether the sender wrote down every sequence."""
        return self.sent.is_whole

    def departures(self, start: int, end: int) -> tuple[Integers, Numbers, Numbers]:
        """`sent_ns`, `late_ns` and `length` of the sequences from `start` to `end` - 1."""
        if not self.is_whole:
            times, late, length, _ = self._departures
            return times[start:end], late[start:end], length[start:end]
        rows = self.sent.rows(start, end)
        return np.add(rows.time_ns, rows.late_ns), rows.late_ns, rows.length

    def arrivals(self, start: int, end: int) -> tuple[Integers, Integers]:
        """`arrival_sequence` and `arrival_ns` of the places from `start` to `end` - 1."""
        if self.unsent:
            return self.arrival_sequence[start:end], self.arrival_ns[start:end]
        rows = self.received.rows(start, end)
        return rows.sequence, rows.time_ns

    @cached_property
    def _departures(
        self,
    ) -> tuple[Integers, NDArray[np.uint32], NDArray[np.uint16], NDArray[np.bool_]]:
        count = len(self.first_arrival)
        times = np.zeros(count, np.int64)
        late = np.zeros(count, np.uint32)
        length = np.zeros(count, np.uint16)
        refused = np.zeros(count, bool)
        for piece in self.sent.pieces():
            place = place_of(piece.sequence)
            times[place] = piece.time_ns + piece.late_ns
            late[place] = piece.late_ns
            length[place] = piece.length
            refused[place] = piece.flags != 0
        return times, late, length, refused

    @cached_property
    def _arrivals(self) -> tuple[Integers, Integers]:
        parts = [
            (piece.sequence, piece.time_ns, known_to(piece.sequence, len(self.first_arrival)))
            for piece in self.received.pieces()
        ]
        empty = np.empty(0, np.int64)
        return (
            np.concatenate([empty, *(sequence[known] for sequence, _, known in parts)]),
            np.concatenate([empty, *(times[known] for _, times, known in parts)]),
        )


def join(sent: Source, received: Source) -> Joined:
    """Join the records of a flow's sender and of its receiver (or of its echoes).

    Sequences without a row at the sender (records that were lost) count as not sent. Memory: 4
    bytes for each packet that was sent.

    Raises:
        RecordsError: a file is damaged.
    """
    if isinstance(sent, Records):
        sent.check()
    found = _Arrivals(sent.sequences, len(received))
    for piece in received.pieces():
        found.add(piece.sequence)
    return Joined(sent, received, found.first, found.copies, found.reordered, found.unsent)


def known_to(sequence: Integers, count: int) -> NDArray[np.bool_] | slice:
    """Which of the sequences lie below `count`; a slice if all do."""
    if not len(sequence) or (sequence.min() >= 0 and sequence.max() < count):
        return slice(None)
    return (sequence >= 0) & (sequence < count)


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
        self.kind: type[np.int32 | np.int64] = np.int32 if most < 2**31 else np.int64
        self.first: NDArray[np.signedinteger[Any]] = np.full(sequences, -1, self.kind)
        self.count = self.reordered = self.unsent = 0
        self.highest = -1
        self._copies = [np.empty(0, np.int64)]

    @property
    def copies(self) -> Integers:
        """Places of the arrivals beyond the first of a sequence."""
        return np.concatenate(self._copies)

    def add(self, every: Integers) -> None:
        sequence = every[known_to(every, len(self.first))]
        self.unsent += len(every) - len(sequence)
        if not len(sequence):
            return
        places: NDArray[np.signedinteger[Any]]
        places = np.arange(self.count, self.count + len(sequence)).astype(self.kind)
        place = place_of(sequence)
        if sequence[0] > self.highest and (isinstance(place, slice) or ascends(sequence)):
            self.first[place] = places
            self.highest = int(sequence[-1])
        else:
            self._add_mixed(sequence, places)
        self.count += len(sequence)

    def _add_mixed(self, sequence: Integers, places: NDArray[np.signedinteger[Any]]) -> None:
        """Arrivals of which some are not higher than all before: those are looked at closely."""
        highest = np.maximum.accumulate(sequence)
        np.maximum(highest, self.highest, out=highest)
        behind = 1 + np.flatnonzero(sequence[1:] <= highest[:-1])
        if sequence[0] <= self.highest:
            behind = np.concatenate([[0], behind])
        theirs = sequence[behind]
        before = self.first[theirs]
        # Of several assignments to one place the last one holds, so they are made backwards.
        self.first[sequence[::-1]] = places[::-1]
        known = before >= 0
        self.first[theirs[known]] = before[known]
        further = self.first[theirs] != places[behind]
        self._copies.append(places[behind[further]].astype(np.int64))
        self.reordered += len(behind) - int(further.sum())
        self.highest = int(highest[-1])
