"""Distributions: merged buckets beside the values themselves, and beside the library's own sums."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.evaluate.diagnostics.latency import corrected, empty, find_latencies
from pentathlon.store import schema
from pentathlon.study.catalog import Catalog, parse_catalog

pytestmark = pytest.mark.slow


def catalog(loop: str | None = None) -> Catalog:
    histogram = {"id": "latency", "title": "Wake-up latency", "unit": "ns", "direction": "lower"}
    if loop is not None:
        histogram["closed_loop_interval"] = loop
    return parse_catalog(
        {
            "protocol": 2,
            "catalog_version": 1,
            "agent": {"version": "0", "build": "b"},
            "workloads": [
                {"id": "w.one", "area": "w", "title": "One", "metrics": [],
                 "histograms": [histogram]}
            ],
        }
    )  # fmt: skip


def buckets(values):
    """Values in buckets as docs/protocol.md describes them, written without the library."""
    found: dict[int, int] = {}
    for value in values:
        width = 1 if value < 2048 else 2 ** (int(math.log2(value)) - 10)
        upper = value // width * width + width - 1
        found[upper] = found.get(upper, 0) + 1
    return sorted(found.items())


def row(system, block, values, iteration=0, **more):
    counted = buckets(values)
    return {
        "system": system, "block": block, "boot": f"{block}.{system}.0", "workload": "w.one",
        "key": "w.one.latency", "case": "", "case_json": "", "unit": "ns", "direction": "lower",
        "phase": "measure", "counted": True, "iteration": iteration, "histogram": "latency",
        "count": len(values), "lowest": min(values), "highest": max(values),
        "significant_digits": 3, "bucket_upper": [upper for upper, _ in counted],
        "bucket_count": [count for _, count in counted], **more,
    }  # fmt: skip


def table(rows):
    columns = {name: [one.get(name) for one in rows] for name in schema.HISTOGRAMS}
    return pl.DataFrame(columns, schema=schema.HISTOGRAMS)


def draw(seed, count=40_000, scale=1.0):
    generator = np.random.default_rng(seed)
    return (generator.lognormal(8, 1, count) * scale).astype(int) + 1


def test_percentiles_of_the_merged_histograms_are_those_of_all_values():
    parts = {(block, k): draw(10 * block + k, 20_000) for block in range(4) for k in range(2)}
    rows = [row("a", block, values, k) for (block, k), values in parts.items()]
    [found] = find_latencies(table(rows), catalog(), ["a"], 0.05)
    every = np.sort(np.concatenate(list(parts.values())))
    assert (found.count, found.lowest, found.highest) == (160_000, every[0], every[-1])
    for one in found.percentiles:
        exact = every[math.ceil(one.percent / 100 * len(every)) - 1]
        assert exact <= one.merged <= exact * 1.002
    assert [one.percent for one in found.percentiles] == [50, 90, 99, 99.9, 99.99]


def test_merging_is_not_averaging():
    """Nine quiet boots and one with a slow tenth: the mean of percentiles would hide it."""
    rows = [row("a", block, [1000] * 10_000) for block in range(9)]
    rows.append(row("a", 9, [1000] * 9_000 + [90_000] * 1_000))
    [found] = find_latencies(table(rows), catalog(), ["a"], 0.05)
    by = {one.percent: one for one in found.percentiles}
    assert by[99.9].merged == pytest.approx(90_000, rel=0.001)
    assert by[99.9].boot < 2000
    assert by[99.9].low < by[99.9].boot < by[99.9].high


def test_intervals_come_from_the_boots():
    rows = [row("a", block, draw(block)) for block in range(5)]
    [found] = find_latencies(table(rows), catalog(), ["a"], 0.05)
    median = found.percentiles[0]
    logs = np.log([np.sort(draw(block))[19_999] for block in range(5)])
    half = 2.776445 * logs.std(ddof=1) / math.sqrt(5)
    assert median.boot == pytest.approx(math.exp(logs.mean()), rel=0.002)
    assert median.low == pytest.approx(math.exp(logs.mean() - half), rel=0.002)
    assert median.high == pytest.approx(math.exp(logs.mean() + half), rel=0.002)
    assert found.percentiles[4].boot is None, "4 values beyond 99.99 % are an accident"


def test_a_planted_tail_is_found_against_the_reference():
    rows = [row("a", block, draw(block)) for block in range(6)]
    rows += [row("b", block, draw(50 + block, scale=1.5)) for block in range(6)]
    first, second = find_latencies(table(rows), catalog(), ["a", "b"], 0.05)
    assert first.ratios == ()
    for one in second.ratios:
        assert one.low_percent < (1 / 1.5 - 1) * 100 < one.high_percent
        assert one.high_percent < 0


def test_uncounted_and_warm_up_rounds_do_not_count():
    rows = [row("a", 0, [1000] * 100), row("a", 0, [9] * 100, counted=False),
            row("a", 0, [9] * 100, phase="warmup")]  # fmt: skip
    [found] = find_latencies(table(rows), catalog(), ["a"], 0.05)
    assert (found.count, found.lowest) == (100, 1000)
    assert found.percentiles[3].merged is None


def test_coordinated_omission_is_corrected_only_where_a_loop_has_a_schedule():
    # Every 1000 ns a request, and ten times the system stands still for 100 µs.
    values = [1000] * 99_000 + [100_000] * 10
    case = {"case": "interval_ns=1000", "case_json": json.dumps({"interval_ns": 1000})}
    rows = table([row("a", 0, values, **case)])
    [plain] = find_latencies(rows, catalog(), ["a"], 0.05)
    [fixed] = find_latencies(rows, catalog("interval_ns"), ["a"], 0.05)
    assert plain.count == 99_010
    assert plain.corrected_for is None
    assert "not corrected" in plain.words
    # 100,000 brings 99,000, 98,000, … 1,000: 99 requests that were never sent.
    assert fixed.count == 99_010 + 10 * 99
    assert fixed.corrected_for == 1000
    assert "closed loop" in fixed.words
    assert plain.percentiles[3].merged == 1000
    assert fixed.percentiles[3].merged == pytest.approx(90_000, rel=0.02)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=60), st.integers(1, 10**6).map(float))
@settings(max_examples=15)
def test_correction_is_that_of_the_library(values, interval):
    step = max(int(interval), max(values) // 200 or 1)
    mine, other = empty(), HdrHistogram(1, 1 << 62, 3)
    mine.take(row("a", 0, values))
    for value in values:
        other.record_value(value)
    theirs = HdrHistogram(1, 1 << 62, 3)
    for value in values:
        theirs.record_corrected_value(value, step)
    found = corrected(mine, step)
    assert found.count == pytest.approx(theirs.get_total_count(), abs=2 * len(values))
    assert mine.histogram.get_total_count() == other.get_total_count()
    # One may have a request more than the other: both round to three digits.
    for percent in (50, 90):
        assert found.percentile(percent) == pytest.approx(
            min(theirs.get_value_at_percentile(percent), max(values)), rel=0.15, abs=1.01 * step
        )
