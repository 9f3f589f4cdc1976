"""The endpoints' records: 16 bytes a packet, in checksummed blocks (docs/network.md)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TypeAlias

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

SENT, RECEIVED, ECHOES, EXCHANGE = range(4)

Integers: TypeAlias = NDArray[np.int64]


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


def blocks(data: bytes) -> list[tuple[np.void, NDArray[np.void]]]:
    """The blocks of one file: header and records of each.

    Raises:
        RecordsError: a block is torn or damaged; the place is named.
    """
    found = []
    at = 0
    while at < len(data):
        if len(data) - at < HEADER.itemsize:
            raise RecordsError(f"the records are torn: a block's header is cut off at byte {at}")
        head = np.frombuffer(data, HEADER, 1, at)[0]
        end = at + HEADER.itemsize + int(head["count"]) * RECORD.itemsize
        if head["magic"] != b"PTR1":
            raise RecordsError(f"there is no block of records at byte {at}")
        if end > len(data):
            raise RecordsError(f"the records are torn: the block at byte {at} is cut off")
        body = data[at + HEADER.itemsize : end]
        crc = zlib.crc32(body, zlib.crc32(data[at : at + HEADER.itemsize - 4]))
        if crc != int(head["crc"]):
            raise RecordsError(f"the block of records at byte {at} is damaged (CRC-32)")
        found.append((head, np.frombuffer(body, RECORD)))
        at = end
    return found


def packets(data: bytes) -> Packets:
    """Decode the file of one end of one flow.

    Raises:
        RecordsError: it is torn or damaged.
    """
    parts = blocks(data)
    sequences, times = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for head, body in parts:
        base = np.int64(head["base_sequence"])
        steps = (
            np.arange(len(body), dtype=np.int64)
            if head["kind"] == SENT
            # A packet from before the block's first has a step that wraps around.
            else body["number"].astype(np.int32).astype(np.int64)
        )
        sequences.append(base + steps)
        times.append(np.int64(head["base_ns"]) + body["time"].astype(np.int64))
    whole = np.concatenate([body for _, body in parts]) if parts else np.empty(0, RECORD)
    sent = bool(parts) and parts[0][0]["kind"] == SENT
    return Packets(
        sequence=np.concatenate(sequences),
        time_ns=np.concatenate(times),
        late_ns=whole["number"].astype(np.int64) if sent else np.zeros(len(whole), np.int64),
        length=whole["length"].astype(np.int64),
        flags=whole["flags"].astype(np.int64),
        lost_records=int(parts[-1][0]["lost_before"]) if parts else 0,
    )


def exchanges(data: bytes) -> Integers:
    """Decode a file of the clock exchange: rows of t1, t2, t3, t4, in ns.

    Raises:
        RecordsError: it is torn or damaged.
    """
    parts = [body for _, body in blocks(data)]
    if not parts:
        return np.empty((0, 4), np.int64)
    raw = np.concatenate(parts).view("<i8").reshape(-1, 4)
    t1, t4, t2, t3 = raw.T
    return np.stack([t1, t2, t3, t4], axis=1)
