"""Reads and writes pcapng files (draft-ietf-opsawg-pcapng).

What is read is what `pentathlon-agent` and Wireshark write of an Ethernet.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
STATISTICS: Final = 5
ENHANCED_PACKET: Final = 6

ORDER_MAGIC: Final = 0x1A2B3C4D
"""Begins the body of a section header, and states the section's byte order."""

FIXED: Final = {
    (order, kind): struct.Struct(order + layout)
    for order in "<>"
    for kind, layout in (
        (SECTION, "IHHq"), (INTERFACE, "HHI"), (STATISTICS, "3I"), (ENHANCED_PACKET, "5I"),
    )
}  # fmt: skip
"""The fixed part of a block's body, in either byte order."""

COMMENT, IF_NAME, IF_TSRESOL, ISB_IFDROP = 1, 2, 9, 5
"""Options, each of its own kind of block."""

ETHERNET: Final = 1
RAW_IP: Final = 101
"""Link types; frames of the second begin with the IP header."""


class CaptureError(Exception):
    """The file is no capture that this version reads; one sentence."""


@dataclass(frozen=True)
class Frame:
    """One frame.

    Attributes:
        time_ns: when the host saw it: of a capture, ns since 1970.
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
        dropped: frames that the kernel dropped for lack of room, or None if the file states
            nothing.
    """

    frames: list[Frame] = field(default_factory=list)
    dropped: int | None = None


def read(data: bytes) -> Capture:
    """The frames of a file.

    Raises:
        CaptureError: it is torn, is no pcapng file, or has frames of another link than Ethernet.
    """
    capture = Capture()
    resolutions: list[int] = []
    for order, kind, body in _blocks(data):
        layout = FIXED.get((order, kind))
        if layout is None:
            continue
        if len(body) < layout.size:
            raise CaptureError("a block of the capture is shorter than its kind allows")
        fixed = layout.unpack_from(body)
        if kind == SECTION:
            resolutions = []
        elif kind == INTERFACE:
            if fixed[0] != ETHERNET:
                raise CaptureError(
                    f"the capture is of link type {fixed[0]}, and 1 (Ethernet) is read"
                )
            resolutions.append(_resolution(_options(body, layout.size, order)))
        elif kind == ENHANCED_PACKET:
            which, high, low, kept, length = fixed
            if which >= len(resolutions) or layout.size + kept > len(body):
                raise CaptureError("a packet of the capture does not fit into its block")
            time = (high << 32 | low) * resolutions[which] // 1_000_000
            capture.frames.append(Frame(time, body[layout.size : layout.size + kept], length))
        else:
            dropped = _options(body, layout.size, order).get(ISB_IFDROP)
            if dropped is not None and len(dropped) == 8:
                count = struct.unpack(order + "Q", dropped)[0]
                capture.dropped = (capture.dropped or 0) + count
    return capture


def write(
    link: int, interfaces: Sequence[str], frames: Iterable[tuple[int, Frame]], comment: str
) -> Iterator[bytes]:
    """The file's bytes, block by block; times are written in ns.

    Args:
        link: its type, of all interfaces.
        interfaces: their names.
        frames: each with the number of its interface, in the order of the file.
        comment: stands in the file's section header.
    """
    # The length of the section is not known beforehand, which -1 states.
    head = (ORDER_MAGIC, 1, 0, -1)
    yield _block(SECTION, head, _option(COMMENT, comment.encode()) + _END)
    for name in interfaces:
        options = _option(IF_NAME, name.encode()) + _option(IF_TSRESOL, b"\x09") + _END
        yield _block(INTERFACE, (link, 0, 0), options)
    for interface, frame in frames:
        high, low = (frame.time_ns >> 32) & 0xFFFFFFFF, frame.time_ns & 0xFFFFFFFF
        fixed = (interface, high, low, len(frame.data), frame.length)
        yield _block(ENHANCED_PACKET, fixed, _padded(frame.data))


def _blocks(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    order, at = "<", 0
    while at < len(data):
        if len(data) - at < 12:
            raise CaptureError("the capture is torn: its last block is not whole")
        if data[at : at + 4] == SECTION.to_bytes(4, "big"):
            magic = data[at + 8 : at + 12]
            orders = [order for order in "<>" if magic == struct.pack(order + "I", ORDER_MAGIC)]
            if not orders:
                raise CaptureError("the file is no pcapng capture")
            order = orders[0]
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
    resolution = int.from_bytes(options.get(IF_TSRESOL, b"\x06")[:1] or b"\x06", "big")
    if resolution & 0x80:
        return 10**15 >> (resolution & 0x7F)
    if resolution > 15:
        raise CaptureError(
            f"the capture's times are in units of 10^-{resolution} s, which is not supported"
        )
    return int(10 ** (15 - resolution))


_END: Final = bytes(4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)


def _block(kind: int, fixed: tuple[int, ...], rest: bytes) -> bytes:
    body = FIXED["<", kind].pack(*fixed) + rest
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total
