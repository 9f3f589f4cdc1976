"""Emulated links: from events of known figures to what a report tells of them."""

from __future__ import annotations

import pytest

from pentathlon.evaluate.diagnostics.links import find_links
from pentathlon.store.schema import TABLES
from tests.fakes import synthetic_links as planted


def test_the_figures_are_the_median_and_the_worst_of_the_boots() -> None:
    (link,) = find_links(
        planted.table(
            [planted.calibration(9990, 25.0, cpu=2.0), planted.trial(50_000, 20_000_000)],
            [planted.calibration(10_004, 24.9, cpu=6.0), planted.trial(900_000, 70_000_000)],
            [planted.calibration(10_001, 25.1, cpu=3.0, lost=1), planted.trial(1000, 30_000_000)],
        )
    )
    assert (link.profile, link.engine) == ("wan-10m-50ms", "agent")
    assert (link.calibrations, link.refused, link.trials) == (3, 0, 3)
    up, down = link.ways
    assert up.rate_kbit and up.delay_ms and up.loss_percent and down.rate_kbit
    # Below and above count alike: 9990 is further from 10,000 than 10,004.
    assert (up.rate_kbit.requested, up.rate_kbit.median, up.rate_kbit.worst) == (
        10_000,
        10_001,
        9990,
    )
    assert (up.delay_ms.requested, up.delay_ms.median) == (25, 25)
    assert up.delay_ms.worst == pytest.approx(25.1) or up.delay_ms.worst == pytest.approx(24.9)
    assert (up.loss_percent.median, up.loss_percent.worst) == (0, 0.5)
    assert (down.rate_kbit.median, down.rate_kbit.worst) == (10_000, 10_000)
    cost, during = link.calibration_cpu_percent, link.trial_cpu_percent
    assert cost and during and up.late_p50_us and up.late_p99_us
    assert (cost.median, cost.worst) == (3, 6)
    assert (during.median, during.worst) == (3, 7)
    # Two frames of 100 came later than 1 µs, so the 99 % point is theirs.
    assert (up.late_p50_us.median, up.late_p50_us.worst) == (1, 1)
    assert (up.late_p99_us.median, up.late_p99_us.worst) == (50, 900)


def test_a_refused_calibration_counts_and_its_figures_do_not() -> None:
    bad = planted.calibration(7000, 29.0, faults="up: the rate is 7000 kbit/s")
    (link,) = find_links(planted.table([bad, planted.calibration(9999, 25.0)]))
    assert (link.calibrations, link.refused, link.trials) == (2, 1, 0)
    (up, _) = link.ways
    assert up.rate_kbit and up.rate_kbit.worst == 9999
    # Without a trial the calibration reports how late frames were.
    assert up.late_p99_us and up.late_p99_us.worst == 100
    # Where none passed, a reader sees why.
    (link,) = find_links(planted.table([bad]))
    assert link.refused == 1
    assert link.ways[0].rate_kbit and link.ways[0].rate_kbit.worst == 7000


def test_a_link_without_figures_and_an_engine_that_counts_less() -> None:
    silent = planted.calibration(1, 1, faults="up: too few probes came", cpu=None)
    silent["calibration"]["ways"] = {}
    (link,) = find_links(planted.table([silent]))
    assert link.refused == 1 and link.calibration_cpu_percent is None
    assert all(way.rate_kbit is way.delay_ms is way.late_p50_us is None for way in link.ways)
    first, second = find_links(
        planted.table(
            [planted.calibration(9999, 25, engine="netem of Linux 6.1", cpu=None),
             planted.trial(None, None)],
            [planted.calibration(9999, 25), planted.trial(2000, 10**7, unable=3)],
        )
    )  # fmt: skip
    assert (first.engine, second.engine) == ("netem of Linux 6.1", "agent")
    assert first.trials == second.trials == 1
    assert first.trial_cpu_percent is None and first.ways[0].late_p99_us is None
    # What the queue drops belongs to the link, what the ring drops does not.
    assert [way.unable for way in (*first.ways, *second.ways)] == [None, None, 3, 0]


def test_a_row_has_what_the_schema_says() -> None:
    rows = planted.table([planted.calibration(9999, 25), planted.trial(2000, 10**7)])
    assert dict(rows.schema) == TABLES["links"]
    used = rows.filter(stage="use").row(0, named=True)
    assert (used["workload"], used["case"]) == ("files.copy", "link=wan-10m-50ms,protocol=smb")
    assert (used["frames"], used["bytes"], used["boot"]) == (100, 150_000, "0.a.0")
