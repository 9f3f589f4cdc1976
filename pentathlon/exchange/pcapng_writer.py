"""Writes packets as a pcapng file (draft-ietf-opsawg-pcapng), from records of both ends.

Two interfaces: 0 is the sender, 1 the receiver, both on the sender's timer. What the records hold
is exact: time, length, ports of the receiver, sequence. The rest of each packet is made again from
them: an IP and a UDP or TCP header, and the header that every packet of ours begins with. The
session's id and the sender's port are not written down and stand as zero, checksums of UDP and TCP
too; the payload after the header is left out, as a short snapshot length does.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.study import distributions

LINKTYPE_RAW: Final = 101
"""Packets begin with the IP header."""

UDP, TCP, ICMP, ICMP6, SCTP, DCCP = 17, 6, 1, 58, 132, 33


@dataclass(frozen=True)
class Packet:
    """One packet at one end.

    Attributes:
        time_ns: on the sender's timer.
        received: at the receiver, else at the sender.
        source, target: addresses, both of one version.
        port: of the receiver.
        length: bytes of payload.
    """

    time_ns: int
    received: bool
    protocol: str
    source: str
    target: str
    port: int
    flow: int
    sequence: int
    intended_ns: int
    late_ns: int
    length: int


def write(packets: Iterable[Packet], comment: str) -> Iterator[bytes]:
    """The file's bytes, block by block. Packets are taken in their order.

    Args:
        comment: stands in the file's section header.
    """
    yield _block(
        0x0A0D0D0A,
        struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(1, comment.encode()) + _END,
    )
    for name in (b"sender", b"receiver"):
        options = _option(2, name) + _option(9, b"\x09") + _END
        yield _block(1, struct.pack("<HHI", LINKTYPE_RAW, 0, 0) + options)
    for packet in packets:
        bytes_kept, whole = frame(packet)
        head = struct.pack(
            "<IIIII",
            int(packet.received),
            (packet.time_ns >> 32) & 0xFFFFFFFF,
            packet.time_ns & 0xFFFFFFFF,
            len(bytes_kept),
            whole,
        )
        yield _block(6, head + _padded(bytes_kept))


def frame(packet: Packet) -> tuple[bytes, int]:
    """The packet from its IP header to the end of our header, and the length of all of it."""
    ours = _header(packet)
    number, transport = _transport(packet)
    behind = len(transport) + packet.length
    source = ipaddress.ip_address(packet.source)
    target = ipaddress.ip_address(packet.target)
    if source.version == 4:
        network = _ipv4(number, min(20 + behind, 0xFFFF), source.packed, target.packed)
    else:
        network = struct.pack(">IHBB", 6 << 28, min(behind, 0xFFFF), number, 64)
        network += source.packed + target.packed
    return network + transport + ours, len(network) + behind


def _header(packet: Packet) -> bytes:
    """Ours, as the packet's length allows (docs/network.md)."""
    if packet.length < distributions.HEADER:
        left_ns = (packet.intended_ns + packet.late_ns) % (1 << 48)
        ours = struct.pack(
            ">QQB",
            packet.sequence % (1 << 40),
            (packet.flow & 0xFFFF) << 48 | left_ns,
            0x80 | max(packet.length - distributions.COMPACT, 0),
        )
    else:
        ours = struct.pack(
            ">QQQIHB",
            packet.flow & 0xFFFFFF,
            packet.sequence,
            packet.intended_ns,
            min(packet.late_ns, 0xFFFFFFFF),
            packet.length & 0xFFFF,
            0,
        )
    check = 0xA5
    for byte in ours:
        check ^= byte
    return ours + bytes([check])


def _transport(packet: Packet) -> tuple[int, bytes]:
    """The protocol's number and its header; what nobody wrote down is zero."""
    if packet.protocol == "tcp":
        return TCP, struct.pack(">HHIIBBHHH", 0, packet.port, 0, 0, 5 << 4, 0x18, 0, 0, 0)
    if packet.protocol == "icmp":
        sequence = packet.sequence & 0xFFFF
        six = ":" in packet.source
        return (ICMP6 if six else ICMP), struct.pack(
            ">BBHHH", 128 if six else 8, 0, 0, packet.flow & 0xFFFF, sequence
        )
    if packet.protocol == "sctp":
        # The common header and that of one whole DATA chunk (RFC 9260, sections 3.1 and 3.3.1).
        chunk = struct.pack(">BBHIHHI", 0, 3, min(16 + packet.length, 0xFFFF), 0, 0, 0, 0)
        return SCTP, struct.pack(">HHII", 0, packet.port, 0, 0) + chunk
    if packet.protocol == "dccp":
        # DCCP-Data with short sequence numbers (RFC 4340, section 5.1).
        low = packet.sequence & 0xFFFFFF
        return DCCP, struct.pack(
            ">HHBBHBBH", 0, packet.port, 3, 0, 0, 2 << 1, low >> 16, low & 0xFFFF
        )
    return UDP, struct.pack(">HHHH", 0, packet.port, min(8 + packet.length, 0xFFFF), 0)


def _ipv4(protocol: int, length: int, source: bytes, target: bytes) -> bytes:
    def header(check: int) -> bytes:
        fields = (0x45, 0, length, 0, 0, 64, protocol, check)
        return struct.pack(">BBHHHBBH", *fields) + source + target

    total = sum(struct.unpack(">10H", header(0)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return header(~total & 0xFFFF)


_END = struct.pack("<HH", 0, 0)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total
