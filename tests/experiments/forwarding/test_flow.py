"""What a flow's records say, with planted losses and a planted generator that is late."""

import numpy as np
import pytest

from pentathlon.experiments.forwarding.flow import judge
from pentathlon.packets import join
from pentathlon.packets.records import Packets
from pentathlon.testbed.trial import InvalidTrial

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


def test_what_was_intended_and_how_late_it_left_is_told() -> None:
    found = judge(flow(list(range(COUNT)), late_ns=2_000_000), 10, RATE, 2.0, 10)
    assert found.generator() == pytest.approx(
        {
            "intended_load": 1000, "offered_load": 1000, "lateness_p99": 2000,
            "lateness_max": 2000, "receiver_lost": 0.5,
        }
    )  # fmt: skip


def test_quantiles_up_to_what_the_packets_support() -> None:
    trips = judge(flow(list(range(COUNT))), 0, RATE, 2.0, 10).round_trips()
    assert list(trips) == [
        "round_trip", "round_trip_median", "round_trip_p90", "round_trip_p99", "round_trip_p999",
    ]  # fmt: skip
    assert list(trips.values()) == pytest.approx([250] * 5)


def test_a_generator_that_keeps_no_times_yields_no_round_trips() -> None:
    found = judge(flow(list(range(COUNT))), 0, RATE, 2.0, 10, timed=False)
    assert (found.forwarded, found.trips, found.round_trips()) == (COUNT, None, {})


def test_the_ramp_counts_for_nothing() -> None:
    # All that is lost or slow lies in the first half second.
    found = judge(flow(list(range(500, COUNT))), 0, RATE, 1.5, 10, ramp_s=0.5)
    assert (found.sent, found.forwarded, found.lost_ratio) == (1500, 1500, 0.0)
    assert found.throughput == pytest.approx(1000)
    # What is lost after it counts against the rest alone.
    found = judge(flow([n for n in range(COUNT) if n < 500 or n % 2]), 0, RATE, 1.5, 10, ramp_s=0.5)
    assert found.lost_ratio == pytest.approx(0.5)
    assert found.throughput == pytest.approx(500)
    # Queues do not say when they lost: of 20 in the whole flow 15 are taken for the rest's.
    came = [n for n in range(COUNT) if n >= 20]
    assert judge(flow(came), 20, RATE, 1.5, 10, ramp_s=0.5).lost_here == 15
    # And a generator that stopped with the ramp sent nothing of what counts.
    with pytest.raises(InvalidTrial, match=r"sent 0 of 1500 packets"):
        judge(flow(list(range(500)), sent=500), 0, RATE, 1.5, 10, ramp_s=0.5)


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
