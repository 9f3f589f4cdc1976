"""The series of RFC 3550, section 6.4.1, against its own words, and bursts where they were."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.packets import jitter, join, series
from pentathlon.packets import table as packets
from pentathlon.packets.records import Packets

GAP_NS = 20_000_000


def flow(delays_s: list[float], copies: tuple[int, ...] = (), lost: tuple[int, ...] = ()):
    """Packets 20 ms apart with these delays; the numbers in `copies` come once more at the end."""
    count = len(delays_s)
    sequence = np.arange(count)
    sent_ns = sequence * GAP_NS
    came = np.setdiff1d(sequence, lost)
    order = came[np.argsort(sent_ns[came] + np.asarray(delays_s)[came] * 1e9, kind="stable")]
    arrivals = (sent_ns + np.round(np.asarray(delays_s) * 1e9).astype(np.int64))[order]
    again = np.full(len(copies), int(arrivals.max()) + 1)
    return join.join(
        made(sequence, sent_ns),
        made(np.concatenate([order, np.asarray(copies, np.int64)]), np.append(arrivals, again)),
    )


def made(sequence, time_ns) -> Packets:
    zeros = np.zeros(len(sequence), np.int64)
    length = np.full(len(sequence), 100)
    return Packets(np.asarray(sequence), np.asarray(time_ns), zeros, length, zeros, 0)


def by_the_words(transits: list[float]) -> list[float]:
    """J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16, with R - S as the transit."""
    found = [0.0]
    for before, after in pairwise(transits):
        found.append(found[-1] + (abs(after - before) - found[-1]) / 16)
    return found


def points(both: join.Joined, count: int = jitter.POINTS) -> list[tuple[float, float, float]]:
    return jitter.series(both, series.arrivals(both, None), count)


def test_the_standards_recursion_by_hand() -> None:
    # Transits 10, 26, 26, 10 ms: D = 16, 0, 16 ms; J = 1, 15/16, 15/16 + (16 - 15/16)/16 ms.
    found = points(flow([0.010, 0.026, 0.026, 0.010]), 30)
    expected = [0, 1e-3, 0.9375e-3, 1.87890625e-3]
    assert [last for _, last, _ in found] == pytest.approx(expected)
    assert [time for time, _, _ in found] == pytest.approx([0, 0.036, 0.056, 0.060])


@given(
    st.lists(st.floats(0.001, 0.019), min_size=2, max_size=300),
    st.integers(2, 60),
)
@settings(max_examples=60, deadline=None)
def test_every_point_is_the_recursions_value(delays: list[float], count: int) -> None:
    # Delays below the gap keep the order, so arrivals are the packets in their sequence.
    both = flow(delays)
    expected = np.asarray(by_the_words([round(one * 1e9) * 1e-9 for one in delays]))
    times = both.arrivals(0, len(delays))[1]
    since = (times - times[0]) * 1e-9
    found = points(both, count)
    assert 0 < len(found) <= count
    for time, last, _ in found:
        place = int(np.argmin(np.abs(since - time)))
        assert last == pytest.approx(expected[place], abs=1e-12)
    assert max(peak for _, _, peak in found) == pytest.approx(expected.max(), abs=1e-12)
    assert found[-1][1] == pytest.approx(expected[-1], abs=1e-12)


def test_a_burst_is_where_it_was() -> None:
    # 10 s at 50 packets/s; from 4 s to 5 s every other packet is 8 ms later.
    delays = [0.005 + (0.008 if 200 <= n < 250 and n % 2 else 0) for n in range(500)]
    found = points(flow(delays))
    inside = [peak for time, _, peak in found if 4.1 <= time <= 5]
    before = [peak for time, _, peak in found if time < 3.9]
    after = [peak for time, _, peak in found if time > 7]
    assert max(before) == pytest.approx(0, abs=1e-12)
    assert 0.9 * 8e-3 < max(inside) < 8e-3
    assert max(after) < 0.02 * 8e-3


def test_stretches_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    both = flow(list(random.uniform(0.001, 0.019, 1000)), copies=(3, 500), lost=(7, 8, 900))
    whole = points(both)
    monkeypatch.setattr(jitter, "STRETCH", 37)
    assert np.asarray(points(both)) == pytest.approx(np.asarray(whole))


def test_the_table_has_the_same_values() -> None:
    random = np.random.default_rng(2)
    # Delays beyond the gap: packets overtake each other.
    both = flow(list(random.uniform(0.001, 0.1, 200)), copies=(5,), lost=(9,))
    table = packets.table(0, both, None, None)
    first = table.filter(table["copy"] == 0).drop_nulls("arrival_ns").sort("arrival_order")
    transits = ((first["arrival_ns"] - first["sent_ns"]).to_numpy() * 1e-9).tolist()
    expected = by_the_words(transits)
    assert (first["jitter_ns"].to_numpy() * 1e-9).tolist() == pytest.approx(expected)
    rest = table.filter((table["copy"] == 1) | table["arrival_ns"].is_null())
    assert rest["jitter_ns"].null_count() == len(rest) == 2
    assert max(peak for _, _, peak in points(both)) == pytest.approx(max(expected))


def test_too_few_packets_have_no_series() -> None:
    assert points(flow([0.01])) == []


def test_bars_stand_for_the_highest_of_their_part() -> None:
    assert jitter.line([]) == ""
    assert jitter.line([0, 0]) == "▁▁"
    assert jitter.line([1, 0, 8, 0], 2) == "▁█"
    assert len(jitter.line(range(100))) == 16
