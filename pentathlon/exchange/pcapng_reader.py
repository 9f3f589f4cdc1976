"""Reads a pcapng file (draft-ietf-opsawg-pcapng) as `pentathlon-agent` and Wireshark write it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
STATISTICS: Final = 5
ENHANCED_PACKET: Final = 6

ETHERNET: Final = 1

LEAST: Final = {INTERFACE: 8, STATISTICS: 12, ENHANCED_PACKET: 20}
"""Bytes of the fixed part of a block's body."""


class CaptureError(Exception):
    """The file is no capture that this version reads; one sentence."""


@dataclass(frozen=True)
class Frame:
    """One frame.

    Attributes:
        time_ns: when the client's host saw it, ns since 1970.
        data: its bytes, without the check sequence; fewer than `length` if it was cut.
        length: its bytes on the link.
    """

    time_ns: int
    data: bytes
    length: int


@dataclass
class Capture:
    """A whole file.

    Attributes:
        frames: in the order of the file.
        dropped: frames that the kernel dropped for want of room, or None if the file says nothing.
    """

    frames: list[Frame] = field(default_factory=list)
    dropped: int | None = None


def read(data: bytes) -> Capture:
    """The frames of a file.

    Raises:
        CaptureError: it is torn, is no pcapng file, or has frames of another link than Ethernet.
    """
    capture = Capture()
    order = "<"
    resolutions: list[int] = []
    for order, kind, body in _blocks(data):
        if kind == SECTION:
            resolutions = []
        elif kind in LEAST and len(body) < LEAST[kind]:
            raise CaptureError("a block of the capture is shorter than its kind allows")
        elif kind == INTERFACE:
            link = struct.unpack_from(order + "H", body)[0]
            if link != ETHERNET:
                raise CaptureError(f"the capture is of link type {link}, and 1 (Ethernet) is read")
            resolutions.append(_resolution(_options(body, 8, order)))
        elif kind == ENHANCED_PACKET:
            which, high, low, kept, length = struct.unpack_from(order + "5I", body)
            if which >= len(resolutions) or 20 + kept > len(body):
                raise CaptureError("a packet of the capture does not fit into its block")
            time = (high << 32 | low) * resolutions[which] // 1_000_000
            capture.frames.append(Frame(time, body[20 : 20 + kept], length))
        elif kind == STATISTICS:
            dropped = _options(body, 12, order).get(5)
            if dropped is not None and len(dropped) == 8:
                count = struct.unpack(order + "Q", dropped)[0]
                capture.dropped = (capture.dropped or 0) + count
    return capture


def _blocks(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    order, at = "<", 0
    while at < len(data):
        if len(data) - at < 12:
            raise CaptureError("the capture is torn: its last block is not whole")
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            magic = data[at + 8 : at + 12]
            if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise CaptureError("the file is no pcapng capture")
            order = "<" if magic[0] == 0x4D else ">"
        elif at == 0:
            raise CaptureError("the file is no pcapng capture: it begins with no section header")
        kind, total = struct.unpack_from(order + "2I", data, at)
        if total < 12 or total % 4 or at + total > len(data):
            raise CaptureError("the capture is torn: its last block is not whole")
        yield order, kind, data[at + 8 : at + total - 4]
        at += total


def _options(body: bytes, at: int, order: str) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "2H", body, at)
        if code == 0:
            break
        found[code] = body[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return found


def _resolution(options: dict[int, bytes]) -> int:
    """Femtoseconds of a unit of time (if_tsresol); 1 µs if the file does not say."""
    told = int.from_bytes(options.get(9, b"\x06")[:1] or b"\x06", "big")
    if told & 0x80:
        return 10**15 >> (told & 0x7F)
    if told > 15:
        raise CaptureError(f"the capture's times are in units of 10^-{told} s, which nobody reads")
    return int(10 ** (15 - told))
