"""Metrics from synthetic records, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pentathlon.experiments.traffic import values
from pentathlon.packets import flow_metrics, join
from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.records import Packets

COUNT = 2000
EXACT = ClockDifference(0, 0.0, 0.0, 0.0, 9)


def made(time_ns: np.ndarray) -> Packets:
    zeros = np.zeros(COUNT, np.int64)
    return Packets(np.arange(COUNT), time_ns, zeros, np.full(COUNT, 100), zeros, 0)


def test_the_tail_of_the_delays_above_the_smallest() -> None:
    """2000 delays of 1.000, 1.001, ... ms: the 1998th of them is 1.997 ms above the smallest."""
    sent = np.arange(COUNT) * 10_000_000
    delays = 1_000_000 + 1_000 * np.random.default_rng(1).permutation(COUNT)
    trips = flow_metrics.delays(np.array([0.010, 0.020, 0.030]))
    found = values.of_flow(
        flow_metrics.compute(join.join(made(sent), made(sent + delays)), EXACT), trips
    )
    assert found["pdv_p999"] == pytest.approx(1.997)
    assert found["delay_p999"] == pytest.approx(2.997)
    assert found["delay"] == pytest.approx(1.9995)
    assert found["lost"] == 0
    # RFC 6349 is about TCP, and this is a flow of any protocol.
    assert found["round_trip"] == pytest.approx(20)
    assert "buffer_delay" not in found


def test_round_trips_above_the_shortest() -> None:
    """RFC 6349, section 3.3: (mean - shortest) / shortest."""
    trips = flow_metrics.delays(np.array([0.010, 0.020, 0.030]))
    assert values.buffer_delay(trips) == pytest.approx(100)
    assert values.buffer_delay(flow_metrics.delays(np.array([0.010, 0.010]))) == 0
    assert values.buffer_delay(None) is None
    assert values.of_tcp({}, {}, trips) == {"buffer_delay": pytest.approx(100)}
    assert values.of_tcp({}, {}, None) == {}


def test_what_tcp_sent_again() -> None:
    """RFC 6349, section 3.2: (sent - sent again) / sent."""
    assert values.stream_efficiency({"wire_bytes": 100_000, "wire_bytes_again": 2_000}) == 98
    assert values.stream_efficiency({"wire_bytes": 100_000, "wire_bytes_again": 0}) == 100
    for unknown in ({}, {"wire_bytes": 100_000}, {"wire_bytes": 0, "wire_bytes_again": 0}):
        assert values.stream_efficiency(unknown) is None
    assert values.tcp_efficiency({"tcp": {"segments": 400, "retransmitted": 1}}) == 99.75
    assert values.tcp_efficiency({"tcp": {"segments": 0, "retransmitted": 0}}) is None
    assert values.tcp_efficiency({}) is None
