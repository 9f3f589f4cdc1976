"""TCP segments (RFC 9293) in the frames of a capture."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
ACK: Final = 16

TCP: Final = 6
UDP: Final = 17

MOST_SCALE: Final = 14
"""A greater window scale is taken for this one (RFC 7323, section 2.3)."""

Connection = tuple[int, int]
"""The client's port and the server's."""


@dataclass(frozen=True)
class Segment:
    """One packet between client and server.

    Attributes:
        time_ns: when it passed the client's side of the link.
        up: from client to server.
        connection: ports of client and server.
        sequence, acknowledged: as in the header, modulo 2^32.
        flags: of the header; 0 for a UDP datagram.
        window: as in the header, not scaled.
        payload: bytes after the header.
        length: of the whole frame on the link, in bytes, without the check sequence.
        scale: the window scale option, None where there is none (RFC 7323).
        stamp, echo: its timestamps option, None where there is none.
    """

    time_ns: int
    up: bool
    connection: Connection
    sequence: int
    acknowledged: int
    flags: int
    window: int
    payload: bytes
    length: int
    scale: int | None = None
    stamp: int | None = None
    echo: int | None = None


def segments(
    frames: Iterable[tuple[int, bytes, int]], client: str, server: str, protocol: int = TCP
) -> list[Segment]:
    """The segments between two addresses, in the order of the frames; others are left out.

    Args:
        frames: time in ns, bytes of an Ethernet frame, and its length on the link.
        protocol: 6 for TCP, 17 for UDP.
    """
    ends = {ipaddress.ip_address(client).packed: True, ipaddress.ip_address(server).packed: False}
    found = []
    for time_ns, data, length in frames:
        place = _transport(data, protocol)
        if place is None:
            continue
        source, target, start, end = place
        up = ends.get(source)
        if up is None or ends.get(target) is not (not up):
            continue
        read = _tcp if protocol == TCP else _udp
        segment = read(_Seen(time_ns, up, length), data[start:end])
        if segment is not None:
            found.append(segment)
    return found


def _transport(data: bytes, protocol: int) -> tuple[bytes, bytes, int, int] | None:
    """Addresses of a packet, and where its transport header begins and its payload ends."""
    if len(data) < 34:
        return None
    kind = data[12:14]
    if kind == b"\x08\x00":
        header = (data[14] & 15) * 4
        total = int.from_bytes(data[16:18], "big")
        # The first fragment only would have a transport header; TCP sends none.
        if data[23] != protocol or int.from_bytes(data[20:22], "big") & 0x3FFF:
            return None
        return data[26:30], data[30:34], 14 + header, min(14 + total, len(data))
    if kind == b"\x86\xdd" and len(data) >= 54 and data[20] == protocol:
        total = int.from_bytes(data[18:20], "big")
        return data[22:38], data[38:54], 54, min(54 + total, len(data))
    return None


@dataclass(frozen=True)
class _Seen:
    """What a frame states before its transport header."""

    time_ns: int
    up: bool
    length: int


def _tcp(seen: _Seen, data: bytes) -> Segment | None:
    if len(data) < 20:
        return None
    source, target, sequence, acknowledged, offset, flags, window = struct.unpack_from(
        ">HHIIBBH", data
    )
    header = (offset >> 4) * 4
    if header < 20 or header > len(data):
        return None
    scale, stamp, echo = _options(data[20:header]) if header > 20 else (None,) * 3
    connection = (source, target) if seen.up else (target, source)
    return Segment(
        seen.time_ns, seen.up, connection, sequence, acknowledged, flags & 63, window,
        data[header:], seen.length, scale, stamp, echo,
    )  # fmt: skip


def _udp(seen: _Seen, data: bytes) -> Segment | None:
    if len(data) < 8:
        return None
    source, target = struct.unpack_from(">HH", data)
    connection = (source, target) if seen.up else (target, source)
    return Segment(seen.time_ns, seen.up, connection, 0, 0, 0, 0, data[8:], seen.length)


def _options(data: bytes) -> tuple[int | None, int | None, int | None]:
    scale = stamp = echo = None
    at = 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        length = data[at + 1] if at + 1 < len(data) else 0
        if length < 2 or at + length > len(data):
            break
        if data[at] == 3 and length == 3:
            scale = min(data[at + 2], MOST_SCALE)
        elif data[at] == 8 and length == 10:
            stamp, echo = struct.unpack_from(">II", data, at + 2)
        at += length
    return scale, stamp, echo
