"""The headers of a packet, made again from the records of both ends.

What the records hold is exact: time, length, ports of the receiver, sequence. The rest of each
packet is made again from them: an IP and a UDP or TCP header, and the header that every packet of
ours begins with. The session's id and the sender's port are not written down and stand as zero,
checksums of UDP and TCP too; the payload after the header is left out, as a short snapshot length
does.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

from pentathlon.exchange.pcapng import Frame
from pentathlon.study import distributions

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


def frame(packet: Packet) -> Frame:
    """The packet from its IP header to the end of our header, with the length of all of it."""
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
    return Frame(packet.time_ns, network + transport + ours, len(network) + behind)


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
