"""Faults planted in a flow come back exactly: loss, tail loss, duplicates, reordering, cut logs."""

import numpy as np
import pytest

from pentathlon.packets import clocks, flow_metrics, join, series
from pentathlon.packets.records import Packets


def packets(sequence: list[int] | np.ndarray, time_ns: np.ndarray, length: int = 100) -> Packets:
    sequence = np.asarray(sequence, np.int64)
    zeros = np.zeros(len(sequence), np.int64)
    return Packets(sequence, np.asarray(time_ns, np.int64), zeros, zeros + length, zeros, 0)


def sent(count: int) -> Packets:
    return packets(np.arange(count), np.arange(count) * 1_000_000)


def received(sequence: list[int] | np.ndarray, delay_ns: int = 5_000_000) -> Packets:
    order = np.asarray(sequence, np.int64)
    times = np.maximum.accumulate(order * 1_000_000) + delay_ns
    return packets(order, times)


def measured(count: int, sequence: list[int] | np.ndarray) -> flow_metrics.FlowMetrics:
    same = clocks.ClockDifference(0, 0.0, 0.0, 10.0, 5)
    return flow_metrics.compute(join.join(sent(count), received(sequence)), same)


def test_a_log_cut_to_60_percent_shows_40_percent_loss() -> None:
    assert measured(1000, np.arange(600)).lost_ratio == pytest.approx(0.4)


def test_loss_in_the_middle_and_at_the_end_count_alike() -> None:
    kept = [n for n in range(1000) if n % 10 != 3 and n < 950]
    found = measured(1000, kept)
    assert found.received == len(kept)
    assert found.lost_ratio == pytest.approx(1 - len(kept) / 1000)


def test_duplicates_are_counted_and_are_no_arrivals() -> None:
    found = measured(100, sorted([*range(100), 7, 7, 50]))
    assert found.duplicate_ratio == pytest.approx(0.03)
    assert (found.received, found.lost_ratio, found.reordered_ratio) == (100, 0.0, 0.0)


def test_reordering_by_rfc_4737() -> None:
    # RFC 4737, section 3.3: a packet is reordered if its sequence is below the next expected one.
    assert measured(6, [0, 1, 4, 2, 3, 5]).reordered_ratio == pytest.approx(2 / 6)
    assert measured(4, [0, 1, 2, 2, 3]).reordered_ratio == 0.0


def test_delay_and_its_variation() -> None:
    found = measured(1000, np.arange(1000))
    assert found.delay is not None
    assert found.delay.mean == pytest.approx(5e-3)
    assert found.ipdv_mean_abs == pytest.approx(0.0, abs=1e-12)
    assert found.throughput == pytest.approx(100 * 8 * 1000)


def test_rfc_3550_jitter_is_the_papers_recursion() -> None:
    random = np.random.default_rng(3)
    delay = random.normal(0.01, 0.002, 500)
    expected, last = [], 0.0
    for step in np.abs(np.diff(delay)):
        last += (step - last) / 16
        expected.append(last)
    assert series.smoothed(np.abs(np.diff(delay))) == pytest.approx(np.array(expected))


def test_arrivals_that_nobody_sent_are_told() -> None:
    assert join.join(sent(10), received([0, 1, 2, 25])).unsent == 1


def test_nothing_received_is_all_lost_and_has_no_delay() -> None:
    found = measured(10, [])
    assert found.lost_ratio == 1.0
    assert found.delay is None
    assert found.throughput is None
