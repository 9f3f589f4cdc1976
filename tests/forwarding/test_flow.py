"""What a flow's records say, with planted losses and a planted generator that is late."""

import numpy as np
import pytest

from pentathlon.target.forwarding.flow import InvalidTrial, judge
from pentathlon.traffic import join
from pentathlon.traffic.records import Packets

RATE, COUNT, STEP = 1000, 2000, 1_000_000


def flow(came: list[int], late_ns: int = 0, sent: int = COUNT) -> join.Joined:
    sequence = np.arange(sent)
    none = np.zeros(sent, np.int64)
    went = Packets(sequence, sequence * STEP, none + late_ns, none + 32, none, 0)
    order = np.asarray(came, np.int64)
    back = np.zeros(len(order), np.int64)
    times = order * STEP + late_ns + 250_000
    return join.join(went, Packets(order, times, back, back + 32, back, 0))


def test_loss_throughput_and_round_trips() -> None:
    found = judge(flow([n for n in range(COUNT) if n % 4]), 0, RATE, 2.0, 10)
    assert found.lost_ratio == pytest.approx(0.25)
    assert found.throughput == pytest.approx(750)
    assert found.sending_rate == pytest.approx(1000)
    assert found.trips is not None
    assert found.trips.mean == pytest.approx(250e-6)


def test_what_the_receiver_lost_is_not_the_forwarders() -> None:
    found = judge(flow(list(range(COUNT - 10))), 10, RATE, 2.0, 10)
    assert (found.lost_ratio, found.forwarded) == (0.0, COUNT)
    with pytest.raises(InvalidTrial, match="the receiver lost 100 of 2000"):
        judge(flow(list(range(COUNT - 100))), 100, RATE, 2.0, 10)


def test_a_generator_behind_its_schedule_is_told_by_how_much() -> None:
    with pytest.raises(InvalidTrial, match=r"sent 1800 of 2000 packets \(90 %\)"):
        judge(flow(list(range(1800)), sent=1800), 0, RATE, 2.0, 10)
    with pytest.raises(InvalidTrial, match="25 ms late, and 10 ms are allowed"):
        judge(flow(list(range(COUNT)), late_ns=25_000_000), 0, RATE, 2.0, 10)


def test_nothing_that_comes_back_is_total_loss_and_no_delay() -> None:
    found = judge(flow([]), 0, RATE, 2.0, 10)
    assert (found.lost_ratio, found.throughput, found.trips) == (1.0, 0.0, None)
