"""The kernel's times of packets come back as they were planted."""

import numpy as np
import polars as pl
import pytest

from pentathlon.packets import join, stamps
from pentathlon.packets import table as packets
from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.records import Packets

COUNT = 300
SAME = ClockDifference(0, 1000.0, 0.0, 10.0, 5)


def written(sequence: np.ndarray, time_ns: np.ndarray, flags: int = 0) -> Packets:
    zeros = np.zeros(len(sequence), np.int64)
    return Packets(sequence, time_ns, zeros, zeros + 64, zeros + flags, 0)


def planted(flags: int = 0) -> tuple[join.Joined, stamps.Stamps]:
    """Sent at n ms, left 20 us later, heard 300 us later, read 50 us later; the receiver's timer
    is 1 us ahead, and every third packet is lost."""
    every = np.arange(COUNT)
    sent = every * 1_000_000
    came = every[every % 3 != 0]
    heard = sent[came] + 20_000 + 300_000 + 1000
    both = join.join(written(every, sent, flags), written(came, heard + 50_000))
    return both, stamps.stamps(both, written(every, sent + 20_000), written(came, heard))


def test_planted_times_come_back() -> None:
    both, found = planted()
    reported = stamps.values(both, found, SAME)
    assert reported["send_wait"] == pytest.approx(0.02)
    assert reported["kernel_delay"] == pytest.approx(0.3)
    assert reported["receive_wait_p99"] == pytest.approx(0.05)
    assert (found.heard_ns == stamps.UNKNOWN).sum() == COUNT / 3


def test_without_clocks_no_delay_between_kernels() -> None:
    both, found = planted()
    assert "kernel_delay" not in stamps.values(both, found, None)


def test_refused_packets_make_the_numbers_of_the_sender_worthless() -> None:
    both, found = planted(flags=105)
    assert set(stamps.values(both, found, SAME)) == {
        f"receive_wait{tail}" for tail in ("", "_p50", "_p99")
    }


def test_the_columns_of_the_table() -> None:
    both, found = planted()
    table = stamps.with_columns(packets.table(0, both, None, SAME), found)
    assert table["left_ns"].to_list() == found.left_ns.tolist()
    assert table["heard_ns"].null_count() == COUNT / 3
    nobody = stamps.with_columns(packets.table(0, both, None, SAME), None)
    assert nobody.filter(pl.col("left_ns").is_null()).height == COUNT
