"""The endpoints' records: 16 bytes a packet, in checksummed blocks (docs/network.md)."""

from __future__ import annotations

import mmap
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

HEADER = np.dtype(
    [
        ("magic", "S4"), ("flow", "<u4"), ("kind", "u1"), ("zero", "u1", 3), ("count", "<u4"),
        ("base_sequence", "<u8"), ("base_ns", "<u8"), ("lost_before", "<u8"), ("zero2", "<u4"),
        ("crc", "<u4"),
    ]
)  # fmt: skip
RECORD = np.dtype([("time", "<u8"), ("number", "<u4"), ("length", "<u2"), ("flags", "<u2")])

SENT, RECEIVED, ECHOES, EXCHANGE, HEARD, LEFT = range(6)

LATEST_NS = (1 << 62) - 1
"""The latest time of a timer that is taken: differences of two such times fit 64 bits."""

SPARSE = 64
"""Sequences of a sender may be so many times as many as its records, as for the agent's `join`: the
columns of a flow have room for every sequence."""

COLUMNS = ("sequence", "time_ns", "late_ns", "length", "flags")
"""Of packets."""

PIECE = 8
"""Blocks that are decoded together: their columns fit into a processor's own cache."""

THREADS = 2
AHEAD = 8
"""Pieces that are checked and decoded before they are needed."""

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.integer[Any]]
Data: TypeAlias = bytes | memoryview | mmap.mmap


class RecordsError(ValueError):
    """The bytes are no records of ours, or are damaged; one sentence."""


@dataclass(frozen=True)
class Packets:
    """The packets that one end of one flow wrote down, in the order of writing.

    Attributes:
        sequence: number of each packet in its flow, from 0.
        time_ns: sent: the intended time; received and echoes: the time of arrival; both in ns on
            the timer of the endpoint that wrote them.
        late_ns: sent: how much later than intended; else 0.
        length: bytes of payload.
        flags: sent: error number of a refused packet; received: 1 if it was cut short.
        lost_records: packets that were not written down because the writer was behind.
    """

    sequence: Integers
    time_ns: Integers
    late_ns: Integers
    length: Integers
    flags: Integers
    lost_records: int

    def __len__(self) -> int:
        return len(self.sequence)

    @property
    def sequences(self) -> int:
        """The highest sequence and one."""
        return int(self.sequence.max(initial=-1)) + 1

    @property
    def is_whole(self) -> bool:
        """Whether the n-th row is that of sequence n."""
        return bool((self.sequence == np.arange(len(self))).all())

    def pieces(self) -> Iterator[Packets]:
        """The packets in their order; here they are one piece."""
        yield self

    def rows(self, start: int, end: int) -> Packets:
        """The packets from one place to another, without the latter."""
        columns = {name: getattr(self, name)[start:end] for name in COLUMNS}
        return Packets(**columns, lost_records=0)


class Piece:
    """Packets of some blocks that lie together; the attributes are those of `Packets`.

    Args:
        heads: headers of the blocks.
        body: a row of records for each.
        kept: which of all their packets, from and to.
    """

    def __init__(
        self, heads: NDArray[np.void], body: NDArray[np.void], kept: slice = slice(None)
    ) -> None:
        self._heads = heads
        self._body = body
        self._kept = kept
        self._kind = int(heads[0]["kind"])

    def __len__(self) -> int:
        return len(range(self._body.size)[self._kept])

    @cached_property
    def sequence(self) -> Integers:
        base = self._heads["base_sequence"].astype(np.int64)[:, None]
        if self._kind == SENT:
            return np.asarray(base + np.arange(self._body.shape[1]), np.int64).ravel()[self._kept]
        # A packet from before the block's first has a step that wraps around.
        steps = self._body["number"].view("<i4")
        return np.asarray(np.add(base, steps, dtype=np.int64), np.int64).ravel()[self._kept]

    @cached_property
    def time_ns(self) -> Integers:
        base = self._heads["base_ns"].astype(np.int64)[:, None]
        times = np.asarray(np.add(base, self._body["time"].view("<i8")), np.int64).ravel()
        if len(times):
            _check_times(times)
        return times[self._kept]

    @cached_property
    def late_ns(self) -> Numbers:
        if self._kind == SENT:
            return self._body["number"].ravel()[self._kept]
        return np.broadcast_to(np.uint32(0), len(self))

    @cached_property
    def length(self) -> Numbers:
        return self._body["length"].ravel()[self._kept]

    @cached_property
    def flags(self) -> Numbers:
        return self._body["flags"].ravel()[self._kept]


class Records:
    """A file of records of one end of one flow, decoded piece by piece.

    Args:
        data: the file's bytes; a memory map is read as it is needed.

    Raises:
        RecordsError: it is torn. Damage is found where a piece is read.
    """

    def __init__(self, data: Data) -> None:
        self._data = memoryview(data)
        self._starts, self._heads = _heads(self._data)
        self._before = np.concatenate([[0], np.cumsum(self._heads["count"], dtype=np.int64)])

    def __len__(self) -> int:
        return int(self._before[-1])

    @property
    def sequences(self) -> int:
        """The highest sequence and one, of a sender's records."""
        ends = self._heads["base_sequence"].astype(np.int64) + self._heads["count"]
        return int(ends.max(initial=0))

    @property
    def lost_records(self) -> int:
        """Packets that were not written down because the writer was behind."""
        return int(self._heads[-1]["lost_before"]) if len(self._heads) else 0

    @property
    def is_whole(self) -> bool:
        """Whether the n-th row is that of sequence n, in a sender's records."""
        return bool((self._heads["base_sequence"] == self._before[:-1]).all())

    def check(self) -> None:
        """Compare every block with its checksum.

        Raises:
            RecordsError: a block is damaged; the place is named.
        """
        with ThreadPoolExecutor(THREADS) as pool:
            for _ in pool.map(_check, repeat(self._data), self._starts, self._heads):
                pass

    def rows(self, start: int, end: int) -> Packets | Piece:
        """The packets from one place to another, without the latter; blocks are not checked."""
        first = int(np.searchsorted(self._before, start, "right")) - 1
        last = int(np.searchsorted(self._before, end, "left"))
        counts = self._heads["count"][first:last]
        kept = slice(start - int(self._before[first]), end - int(self._before[first]))
        if (counts == counts[0]).all():
            return self._piece(first, last, kept)
        parts = [self._piece(block, block + 1) for block in range(first, last)]
        return _together(parts, 0).rows(kept.start, kept.stop)

    def pieces(self) -> Iterator[Piece]:
        """The packets in their order; threads check and decode what comes next.

        Raises:
            RecordsError: a block is damaged; the place is named.
        """
        with ThreadPoolExecutor(THREADS) as pool:
            waiting: deque[Future[Piece]] = deque()
            for first, last in self._runs():
                waiting.append(pool.submit(self._decoded, first, last))
                if len(waiting) > AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Blocks, from and to, that are equally long."""
        counts = self._heads["count"].tolist()
        first = 0
        for last in range(1, len(counts) + 1):
            if last == len(counts) or last - first == PIECE or counts[last] != counts[first]:
                yield first, last
                first = last

    def _decoded(self, first: int, last: int) -> Piece:
        for at, head in zip(self._starts[first:last], self._heads[first:last], strict=True):
            _check(self._data, at, head)
        piece = self._piece(first, last)
        # What every user needs is made here, beside those who use the pieces before.
        _ = piece.sequence
        return piece

    def _piece(self, first: int, last: int, kept: slice = slice(None)) -> Piece:
        """Blocks `first` to `last` - 1, which must be equally long; they are not checked."""
        count = int(self._heads[first]["count"])
        at = self._starts[first] + HEADER.itemsize
        stride = HEADER.itemsize + count * RECORD.itemsize
        shape = (last - first, count)
        body: NDArray[np.void] = np.ndarray(
            shape, RECORD, self._data, at, (stride, RECORD.itemsize)
        )
        return Piece(self._heads[first:last], body, kept)


def _heads(data: memoryview) -> tuple[list[int], NDArray[np.void]]:
    """Where each block begins, and its header."""
    starts, at = [], 0
    while at < len(data):
        if len(data) - at < HEADER.itemsize:
            raise RecordsError(f"the records are torn: a block's header is cut off at byte {at}")
        if bytes(data[at : at + 4]) != b"PTR1":
            raise RecordsError(f"there is no block of records at byte {at}")
        starts.append(at)
        count = int.from_bytes(data[at + 12 : at + 16], "little")
        end = at + HEADER.itemsize + count * RECORD.itemsize
        if end > len(data):
            raise RecordsError(f"the records are torn: the block at byte {at} is cut off")
        at = end
    joined = b"".join(bytes(data[at : at + HEADER.itemsize]) for at in starts)
    heads = np.frombuffer(joined, HEADER)
    if len(heads):
        _check_heads(heads)
    return starts, heads


def _check_heads(heads: NDArray[np.void]) -> None:
    """That the blocks belong together, and that their numbers can be those of packets."""
    for name in ("flow", "kind"):
        if (heads[name] != heads[name][0]).any():
            raise RecordsError(f"the blocks of records are not all of one {name}")
    for name, what in (
        ("base_sequence", "sequence"), ("base_ns", "time"), ("lost_before", "number of losses"),
    ):  # fmt: skip
        if (most := int(heads[name].max())) > LATEST_NS:
            raise RecordsError(f"a block of records has the {what} {most}, which cannot be")
    if int(heads[0]["kind"]) != SENT:
        return
    first = heads["base_sequence"].astype(np.int64)
    ends = first + heads["count"]
    if (first[1:] < ends[:-1]).any():
        raise RecordsError("the sender's blocks of records are not in the order of their sequences")
    rows, most = int(heads["count"].sum(dtype=np.int64)), int(ends.max())
    if most > SPARSE * rows:
        raise RecordsError(
            f"the sender's records are of {rows} packets and reach up to the sequence {most - 1}"
        )


def _check_times(times: Integers) -> None:
    if times.min() < 0 or times.max() > LATEST_NS:
        raise RecordsError("a record has a time that is no timer's")


def check_origin(data: Data, flow: int, kind: int) -> None:
    """See that a file's blocks are of this flow and this kind, and that their headers can be.

    Raises:
        RecordsError: they are not, or the file is torn.
    """
    _, heads = _heads(memoryview(data))
    for name, wanted in (("flow", flow), ("kind", kind)):
        if len(heads) and (found := int(heads[0][name])) != wanted:
            raise RecordsError(f"the blocks of records have the {name} {found}, not {wanted}")


def _check(data: memoryview, at: int, head: np.void) -> None:
    end = at + HEADER.itemsize + int(head["count"]) * RECORD.itemsize
    crc = zlib.crc32(data[at + HEADER.itemsize : end], zlib.crc32(data[at : at + 44]))
    if crc != int(head["crc"]):
        raise RecordsError(f"the block of records at byte {at} is damaged (CRC-32)")


def blocks(data: Data) -> list[tuple[np.void, NDArray[np.void]]]:
    """The blocks of one file: header and records of each.

    Raises:
        RecordsError: a block is torn or damaged; the place is named.
    """
    view = memoryview(data)
    found = []
    for at, head in zip(*_heads(view), strict=True):
        _check(view, at, head)
        found.append((head, np.frombuffer(view, RECORD, int(head["count"]), at + HEADER.itemsize)))
    return found


def packets(data: Data) -> Packets:
    """Decode the file of one end of one flow.

    Raises:
        RecordsError: it is torn or damaged.
    """
    file = Records(data)
    return _together(list(file.pieces()), file.lost_records)


def _together(pieces: list[Piece], lost_records: int) -> Packets:
    def column(name: str) -> Integers:
        parts = [getattr(piece, name) for piece in pieces]
        return np.concatenate([np.empty(0, np.int64), *parts], dtype=np.int64)

    return Packets(**{name: column(name) for name in COLUMNS}, lost_records=lost_records)


def exchanges(data: Data) -> Integers:
    """Decode a file of the clock exchange: rows of t1, t2, t3, t4, in ns.

    Raises:
        RecordsError: it is torn or damaged.
    """
    parts = [body for _, body in blocks(data)]
    if not parts:
        return np.empty((0, 4), np.int64)
    whole = np.concatenate(parts)
    if len(whole) % 2:
        raise RecordsError("the last exchange of the clocks' records is cut off")
    raw = whole.view("<i8").reshape(-1, 4)
    if len(raw):
        _check_times(raw)
    t1, t4, t2, t3 = raw.T
    return np.stack([t1, t2, t3, t4], axis=1)
