"""Judging what probes found, on made-up arrivals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pentathlon.study.link_profile import Loss, Way
from pentathlon.testbed.link.judge import Measured, count_bounds, judge, median_jitter_ms
from pentathlon.testbed.link.probes import Delays, TooFew, delays, rate_kbit

WAY = Way(rate_kbit=10_000, delay_ms=25, queue_bytes=65536)


def measured(
    *, rate: float = 10_000, delay: float = 25.0, lost: int = 0, intended: int | None = None,
    other: int = 0, sent: int = 1000,
) -> Measured:  # fmt: skip
    there = Delays(delay, delay, delay, delay, delay, 200)
    return Measured(rate, there, sent, sent - lost, lost if intended is None else intended, other)


def test_a_link_that_is_right_has_no_faults_and_its_figures_are_kept() -> None:
    verdict = judge(WAY, measured(rate=10_050, delay=25.1))
    assert verdict.faults == []
    assert verdict.figures["rate"]["error_percent"] == pytest.approx(0.5)
    assert verdict.figures["delay"]["error_ms"] == pytest.approx(0.1)
    assert verdict.figures["loss"]["lost"] == 0


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (measured(rate=9_890), "-1.10 % off"),
        (measured(rate=10_110), "+1.10 % off"),
        (measured(delay=25.21), "+0.210 ms off"),
        (measured(delay=24.79), "-0.210 ms off"),
        (measured(lost=1), "1 of 1000 probes were lost"),
        (measured(lost=1, intended=0), "both must be alike"),
        (measured(lost=2, intended=2, other=2), "for want of time or room"),
    ],
)
def test_each_figure_that_is_off_is_a_fault_with_its_figure(found: Measured, message: str) -> None:
    faults = judge(WAY, found).faults
    assert len(faults) == 1 and message in faults[0]


def test_lost_copies_may_be_counted_as_losses_by_netem_only() -> None:
    counted = replace(measured(lost=0, intended=3, delay=0), rate_kbit=None)
    assert "both must be alike" in judge(Way(), counted).faults[0]
    assert judge(Way(), replace(counted, with_copies=True)).faults == []
    fewer = replace(counted, came=995, with_copies=True)
    assert "both must be alike" in judge(Way(loss=Loss(0.005)), fewer).faults[0]


def test_losses_are_judged_by_what_chance_allows() -> None:
    way = Way(loss=Loss(0.01))
    low, high = count_bounds(way.loss, 10_000)
    # 100 expected, standard deviation 9.95: 3.29 of them.
    assert (low, high) == (69, 134)
    for lost in (low, 100, high):
        assert judge(way, measured(lost=lost, sent=10_000, delay=0)).faults == []
    for lost in (low - 1, high + 1):
        assert "probes were lost" in judge(way, measured(lost=lost, sent=10_000, delay=0)).faults[0]


def test_bursts_are_allowed_more_and_never_beyond_a_hundredth() -> None:
    way = Way(loss=Loss(chain=(0.02, 0.2, 1.0, 0.0)))
    assert count_bounds(way.loss, 1000)[1] > count_bounds(Loss(way.loss.mean), 1000)[1]
    # 9.1 % expected: 110 of 1000 are within chance, and more than one point off.
    assert judge(way, measured(lost=110, delay=0)).faults


def test_the_chance_bound_holds_for_a_chain() -> None:
    loss = Loss(chain=(0.01, 0.1, 0.7, 0.001))
    p, r, bad, good = loss.chain or (0, 0, 0, 0)
    random = np.random.default_rng(3)
    low, high = count_bounds(loss, 3000)
    outside = 0
    for _ in range(400):
        state = random.random() < p / (p + r)
        lost = 0
        draws = random.random((3000, 2))
        for change, loses in draws:
            lost += loses < (bad if state else good)
            if change < (r if state else p):
                state = not state
        outside += not low <= lost <= high
    # One in a thousand is requested; the approximation and 400 tries allow a few.
    assert outside <= 4


def test_the_rate_is_that_of_the_line_also_with_late_arrivals() -> None:
    gap = 1_211_200  # 1514 bytes at 10 Mbit/s, ns
    rows = [(n, 0, 25_000_000 + n * gap) for n in range(400)]
    assert rate_kbit(rows, 1514) == pytest.approx(10_000)
    late = [
        (n, sent, came + (8_000_000 if 200 <= n < 206 else 0)) for n, sent, came in rows
    ]  # fmt: skip
    assert rate_kbit(late, 1514) == pytest.approx(10_000, rel=0.003)
    with pytest.raises(TooFew, match="at least 20"):
        rate_kbit(rows[:5], 1514)


def test_delays_are_less_the_time_on_the_line() -> None:
    rows = [(n, n * 10**6, n * 10**6 + 26_000_000 + n % 3 * 1000) for n in range(99)]
    found = delays(rows, line_ms=1.0)
    assert found.median == pytest.approx(25.001)
    assert (found.least, found.most) == (pytest.approx(25.0), pytest.approx(25.002))
    with pytest.raises(TooFew, match="at least 10"):
        delays(rows[:3], 1.0)


@pytest.mark.parametrize(
    ("jitter", "median"),
    [
        (None, 0), ("uniform -2 4", 1), ("normal 0.5 3", 0.5), ("table 0 1 5", 1),
        ("table 0 2", 1), ("exponential 2", 1.3863), ("pareto 1 3", 6), ("trace 9 1 5", 5),
        ("trace 9 1 5 6", 5.5), ("weibull 1 2", 1.3863), ("gamma 1 2", 1.3863),
    ],
)  # fmt: skip
def test_the_median_of_a_jitter(jitter: str | None, median: float) -> None:
    assert median_jitter_ms(Way(jitter_ms=jitter)) == pytest.approx(median, abs=1e-3)
