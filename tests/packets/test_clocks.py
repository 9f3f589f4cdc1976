"""Planted offsets and drifts come back within the bound that is stated."""

import numpy as np
import pytest

from pentathlon.packets import clocks


def exchanges(
    offset_ns: float, drift: float, *, count: int = 200, seed: int = 1, asymmetry_ns: float = 0
) -> np.ndarray:
    """Rows of t1 to t4 with random queueing in both directions."""
    random = np.random.default_rng(seed)
    t1 = np.arange(count) * 20_000_000 + 1_000_000_000
    there = 50_000 + asymmetry_ns + random.exponential(30_000, count)
    back = 50_000 + random.exponential(30_000, count)
    t2 = (t1 + there) + offset_ns + drift * (t1 + there)
    t3 = t2 + 5_000
    t4 = t1 + there + 5_000 + back
    return np.stack([t1, t2, t3, t4], axis=1).astype(np.int64)


@pytest.mark.parametrize("offset", [0.0, 5e9, -3e12])
@pytest.mark.parametrize("drift", [0.0, 1e-5, -5e-5])
@pytest.mark.parametrize("asymmetry", [0, 400_000])
def test_the_truth_lies_within_the_bound(offset: float, drift: float, asymmetry: float) -> None:
    rows = exchanges(offset, drift, asymmetry_ns=asymmetry)
    found = clocks.difference(rows)
    assert found is not None
    for time in (rows[0, 0], rows[100, 0], rows[-1, 0]):
        truth = offset + drift * time
        assert abs(found.at(np.array([time]))[0] - truth) <= found.bound_ns + 10
    # Wider than the smallest delay only because the line may turn at the ends of the run.
    assert found.bound_ns < 500_000 + 2 * asymmetry


def of_a_run(seed: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Exchanges as a run has them, rows of quick ones before and after it, and the true difference
    at each. A `share` of every round trip is the way there, the rest the way back."""
    random = np.random.default_rng(seed)
    at = np.concatenate([np.arange(40) * 2e5, np.arange(1, 41) * 2e7, 1e9 + np.arange(40) * 2e5])
    trips = 10 ** random.uniform(4, 6) * (1 + random.exponential(0.2, len(at)))
    offset, drift = random.uniform(-1e9, 1e9), random.uniform(-5e-5, 5e-5)
    t2 = at + share * trips
    t3, t4 = t2 + 2_000, at + trips + 2_000
    receiver = [time + offset + drift * time for time in (t2, t3)]
    return np.stack([at, *receiver, t4], axis=1).astype(np.int64), offset + drift * at


@pytest.mark.parametrize("share", [0.5, 0.99, 0.01])
def test_the_bound_is_tight_and_never_too_small(share: float) -> None:
    """It is half the shortest round trip, which no method without further knowledge undercuts."""
    for seed in range(20):
        rows, truth = of_a_run(seed, share)
        t1, t2, t3, t4 = rows.T
        shortest = ((t4 - t1) - (t3 - t2)).min()
        found = clocks.difference(rows)
        assert found is not None
        assert 0.49 * shortest < found.bound_ns < 0.56 * shortest
        worst = np.abs(found.at(rows[:, 0]) - truth).max()
        # The way there and back are distinguished at a delay's own drift, which is below 50 ppm.
        assert worst <= found.bound_ns + 5e-5 * shortest + 10


def test_too_few_exchanges_tell_nothing() -> None:
    assert clocks.difference(exchanges(0, 0, count=2)) is None


def test_a_clock_that_steps_widens_the_bound() -> None:
    rows = exchanges(0, 0)
    rows[100:, 1:3] += 10_000_000
    steady, stepped = clocks.difference(exchanges(0, 0)), clocks.difference(rows)
    assert steady is not None
    assert stepped is not None
    assert stepped.bound_ns > 10 * steady.bound_ns
    truth = np.where(np.arange(200) < 100, 0, 10_000_000)
    assert np.abs(stepped.at(rows[:, 0]) - truth).max() <= stepped.bound_ns


def test_exchanges_of_one_moment_tell_no_drift() -> None:
    assert clocks.difference(np.repeat(exchanges(0, 0, count=1), 3, axis=0)) is None


def of_one_counter(
    epochs: tuple[int, int], ticks_ns: tuple[float, float], wrong: int = 0
) -> tuple[np.ndarray, clocks.Counter, clocks.Counter]:
    """Exchanges of timers that count one counter of 2 GHz; the receiver states a `wrong` epoch."""
    random = np.random.default_rng(7)
    at = max(epochs) + 10_000_000_000 + np.arange(200) * 40_000_000
    moments = [at]
    for least in (80_000, 4_000, 80_000):
        moments.append(moments[-1] + least + random.integers(0, 60_000, 200))
    hosts = (0, 1, 1, 0)
    times = [
        ((moment - epochs[host]) * ticks_ns[host]).astype(np.int64)
        for moment, host in zip(moments, hosts, strict=True)
    ]
    return (
        np.stack(times, axis=1),
        clocks.Counter("tsc", epochs[0], ticks_ns[0]),
        clocks.Counter("tsc", epochs[1] + wrong, ticks_ns[1]),
    )


@pytest.mark.parametrize("epochs", [(10**15, 10**15 + 123_456_789), (10**15, 10**12)])
@pytest.mark.parametrize("ticks_ns", [(0.5, 0.5), (0.5, 0.50001), (0.499995, 0.5)])
def test_one_counter_tells_the_difference_exactly(
    epochs: tuple[int, int], ticks_ns: tuple[float, float]
) -> None:
    rows, sender, receiver = of_one_counter(epochs, ticks_ns)
    found = clocks.between(rows, sender, receiver)
    assert found is not None
    assert (found.by, found.bound_ns) == ("counter", clocks.COUNTER_NS)
    moment = max(epochs) + 15_000_000_000
    times = [(moment - epoch) * tick for epoch, tick in zip(epochs, ticks_ns, strict=True)]
    reported = found.at(np.array([round(times[0])]))[0]
    assert reported == pytest.approx(times[1] - times[0], abs=2)
    # What the windows alone would tell is far wider.
    estimated = clocks.difference(rows)
    assert estimated is not None
    assert estimated.bound_ns > 100 * found.bound_ns


@pytest.mark.parametrize("wrong", [10**6, -(10**6), 10**12])
def test_a_counter_that_is_not_the_same_is_found_out(wrong: int) -> None:
    rows, sender, receiver = of_one_counter((10**15, 10**15 + 5_000_000), (0.5, 0.5), wrong)
    found = clocks.between(rows, sender, receiver)
    assert found is not None
    assert found.by == "exchange"


def test_counters_of_other_names_are_not_compared() -> None:
    rows, sender, _ = of_one_counter((10**15, 10**15), (0.5, 0.5))
    other = clocks.Counter("QueryPerformanceCounter", 10**15, 0.5)
    for one in (other, None):
        found = clocks.between(rows, sender, one)
        assert found is not None
        assert found.by == "exchange"
