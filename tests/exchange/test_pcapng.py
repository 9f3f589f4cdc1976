"""What is written as pcapng is read again, and blocks too short for their kind are refused."""

from __future__ import annotations

import struct

import pytest

from pentathlon.exchange import pcapng
from pentathlon.exchange.pcapng import CaptureError, Frame

FRAMES = [
    (0, Frame(2**33 + 5, b"x" * 61, 61)),
    (1, Frame(2**33 + 4, b"", 9)),
    (0, Frame(2**63, b"yz", 1514)),
]


def written(link: int) -> bytes:
    return b"".join(pcapng.write(link, ("sender", "an end"), FRAMES, "a comment"))


def test_what_is_written_is_read_again() -> None:
    read = pcapng.read(written(pcapng.ETHERNET))
    assert read.frames == [frame for _, frame in FRAMES]
    assert read.dropped is None


def test_frames_of_another_link_are_refused() -> None:
    with pytest.raises(CaptureError, match="link type 101, and 1"):
        pcapng.read(written(pcapng.RAW_IP))


@pytest.mark.parametrize(("order", "kind"), pcapng.FIXED)
def test_a_block_that_is_too_short_for_its_kind_is_refused(order: str, kind: int) -> None:
    whole = pcapng.FIXED[order, pcapng.SECTION].pack(pcapng.ORDER_MAGIC, 1, 0, -1)
    body = whole if kind == pcapng.SECTION else bytes(pcapng.FIXED[order, kind].size)

    def block(kind: int, body: bytes) -> bytes:
        total = struct.pack(order + "I", 12 + len(body))
        return struct.pack(order + "I", kind) + total + body + total

    with pytest.raises(CaptureError, match="shorter than its kind allows"):
        pcapng.read(block(pcapng.SECTION, whole) + block(kind, body[:-4]))
