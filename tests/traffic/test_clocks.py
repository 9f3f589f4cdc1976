"""Planted offsets and drifts come back within the bound that is stated."""

import numpy as np
import pytest

from pentathlon.traffic import clocks


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


def test_too_few_exchanges_tell_nothing() -> None:
    assert clocks.difference(exchanges(0, 0, count=2)) is None


def test_a_clock_that_steps_widens_the_bound() -> None:
    rows = exchanges(0, 0)
    rows[100:, 1:3] += 10_000_000
    steady, stepped = clocks.difference(exchanges(0, 0)), clocks.difference(rows)
    assert steady is not None
    assert stepped is not None
    assert stepped.bound_ns > 10 * steady.bound_ns
