"""Frames of a planted TCP connection, whose every property is known."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field

CLIENT, SERVER = "198.18.0.1", "198.18.0.2"
PORTS = (40000, 4450)
SYN, ACK, FIN, RST = 2, 16, 1, 4
MS = 1_000_000


def frame(  # noqa: PLR0917
    up: bool, sequence: int, acknowledged: int, flags: int, window: int, payload: bytes = b"",
    options: bytes = b"", ports: tuple[int, int] = PORTS,
) -> bytes:  # fmt: skip
    """An Ethernet frame of TCP over IPv4; checksums are left zero, as before offloading."""
    assert len(options) % 4 == 0
    source, target = (ports[0], ports[1]) if up else (ports[1], ports[0])
    addresses = (CLIENT, SERVER) if up else (SERVER, CLIENT)
    offset = (20 + len(options)) // 4 << 4
    tcp = struct.pack(
        ">HHIIBBHHH", source, target, sequence % 2**32, acknowledged % 2**32, offset, flags,
        window, 0, 0,
    ) + options + payload  # fmt: skip
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0,
        *map(socket.inet_aton, addresses),
    )  # fmt: skip
    return b"\2" * 6 + b"\4" * 6 + b"\x08\x00" + ip + tcp


@dataclass
class Line:
    """Frames of one connection, in the order in which the client's side sees them."""

    frames: list[tuple[int, bytes, int]] = field(default_factory=list)

    def put(self, ms: float, up: bool, *what: object, **more: object) -> None:
        """A frame at a time in ms; the rest as for `frame`."""
        data = frame(up, *what, **more)  # type: ignore[arg-type]
        self.frames.append((int(ms * MS), data, len(data)))

    def handshake(self, round_trip_ms: float = 50, window: int = 65535) -> None:
        """SYN at 0 ms, its answer a round trip later; both ends begin with sequence 1000."""
        self.put(0, True, 1000, 0, SYN, window)
        self.put(round_trip_ms, False, 1000, 1001, SYN | ACK, window)
        self.put(round_trip_ms, True, 1001, 1001, ACK, window)


def pcapng(frames: list[tuple[int, bytes, int]], order: str = "<", dropped: int = 0) -> bytes:
    """A file of the frames, written after the draft and not by the code that is tested."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        total = struct.pack(order + "I", 12 + len(body))
        return struct.pack(order + "I", kind) + total + body + total

    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    resolution = struct.pack(order + "HHB3x", 9, 1, 9) + bytes(4)
    out += block(1, struct.pack(order + "HHI", 1, 0, 0) + resolution)
    for time, data, length in frames:
        head = struct.pack(order + "5I", 0, time >> 32, time & 0xFFFFFFFF, len(data), length)
        out += block(6, head + data)
    counted = struct.pack(order + "HHQ", 5, 8, dropped) + bytes(4)
    return out + block(5, struct.pack(order + "3I", 0, 0, 0) + counted)
