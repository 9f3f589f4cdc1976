"""Histograms: quantiles against an independent implementation, and the way into the tables."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.procedure.records import RunStart
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol import events
from pentathlon.protocol.events import WrongEvent
from pentathlon.store.directory import fill_directory, make_directory
from pentathlon.store.histograms import derived, quantile
from pentathlon.store.journal import JournalWriter
from pentathlon.store.query import load_result
from pentathlon.store.schema import TABLES
from pentathlon.study.catalog import Catalog, Histogram
from pentathlon.study.load import LoadedStudy, parse_study
from pentathlon.study.plan import Plan, make_plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget

QUANTILES = {"median": 0.5, "p99": 0.99, "p999": 0.999, "maximum": 1.0}
SHARES = tuple(QUANTILES.values())


def counted(values: list[int]) -> dict[str, Any]:
    """The values as the agent counts them, by the rule of docs/protocol.md."""
    uppers = []
    for value in values:
        width = 1 if value < 2048 else 1 << (value.bit_length() - 11)
        uppers.append(value // width * width + width - 1)
    return {
        "count": len(values),
        "lowest": min(values),
        "highest": max(values),
        "significant_digits": 3,
        "buckets": [[upper, number] for upper, number in sorted(Counter(uppers).items())],
    }


def histogram(values: list[int], **more: Any) -> events.Histogram:
    """The event of a round with these values."""
    event, _ = events.read(
        {"event": "histogram", "workload": "w", "index": 0, "metric": "latency", "case": {},
         "unit": "ns", "direction": "lower", "phase": "measure", "process": 0, "iteration": 0,
         **counted(values), "elapsed_ns": 1, "checksum": None, "counters": {}, "t_ns": 1, **more}
    )  # fmt: skip
    assert isinstance(event, events.Histogram)
    return event


@given(st.lists(st.integers(1, 1 << 41), min_size=1, max_size=300), st.sampled_from(SHARES))
def test_a_quantile_is_a_value_to_a_thousandth(values: list[int], share: float) -> None:
    found = quantile(histogram(values), share)
    rank = min(math.ceil(round(share * len(values), 9)), len(values))
    true = sorted(values)[rank - 1]
    assert true <= found <= true * 1.001
    if share == 1.0:
        assert found == max(values)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 3_600_000_000_000), min_size=1, max_size=200))
def test_the_buckets_are_those_of_hdrhistogram(values: list[int]) -> None:
    peer = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values:
        peer.record_value(value)
    event = histogram(values)
    theirs = Counter(peer.get_highest_equivalent_value(value) for value in values)
    assert dict(event.buckets) == theirs


def test_counts_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(WrongEvent, match="4 values are announced and 3 are in the buckets"):
        histogram([5, 6, 7], count=4)


def test_what_is_derived_is_what_the_catalog_says() -> None:
    entry = Histogram(
        id="latency", title="", unit="ns", direction="lower", quantiles={"median": 0.5}
    )
    assert list(derived(histogram([1, 2, 9]), entry)) == [("median", 2.0)]


def catalog() -> Catalog:
    """The scripted catalog, whose workloads send a histogram and no sample."""
    document = scripted.catalog().model_dump(mode="json")
    for workload in document["workloads"]:
        workload["metrics"] = [
            {"id": name, "title": name, "unit": "ns", "direction": "lower"} for name in QUANTILES
        ]
        workload["histograms"] = [
            {
                "id": "latency",
                "title": "Latency",
                "unit": "ns",
                "direction": "lower",
                "quantiles": QUANTILES,
            }
        ]
    return Catalog.model_validate(document)


def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
    yield scripted.inventory(request)
    generator = random.Random(request["seed"])
    for index, task in enumerate(request["workloads"]):
        yield from scripted.started(task, index)
        for number in range(task["warmup"] + task["iterations"]):
            event = scripted.sample(task, index, 0, 1, number)
            del event["value"], event["batch"]
            values = [generator.randrange(1, 100_000) for _ in range(1000)]
            yield {**event, "event": "histogram", "metric": "latency", **counted(values)}
        yield scripted.ended(task, index)
    yield {"event": "done", "samples": 0, "errors": 0}


def scripted_plan() -> Plan:
    text = scripted.STUDY.format(blocks=2, iterations=3, retries=0)
    study = parse_study(text, Path("scripted.toml"), catalog())
    return make_plan(study, catalog(), {name: {"layer": "none"} for name in ("a", "b")})


def test_a_step_of_histograms_is_finished_and_stands_in_both_tables(tmp_path: Path) -> None:
    directory = tmp_path / "result"
    plan = scripted_plan()
    make_directory(directory, plan.study.name)
    first = RunStart(
        plan_hash=plan.hash(),
        study_file="/nowhere/scripted.toml",
        study_sha256="0",
        blocks=None,
        version="0",
        pid=1,
        notes=[],
    )
    loaded = LoadedStudy(Path("/nowhere/scripted.toml"), "text", plan.study)
    fill_directory(directory, loaded, plan, catalog(), first)
    journal = JournalWriter(directory)
    targets = {name: ScriptedTarget(name, play) for name in ("a", "b")}
    Runner(plan, targets, journal.append, catalog=catalog(), state=RunState(plan)).run()
    journal.close()
    result = load_result(directory)
    result.refresh()
    result = load_result(directory)
    assert result.finished and result.failures().is_empty()
    histograms, samples = result.histograms(), result.samples()
    assert dict(histograms.schema) == TABLES["histograms"]
    rounds = 2 * 2 * 3 * (1 + 3)
    assert histograms.height == rounds and histograms["counted"].all()
    assert set(histograms["key"]) == {
        f"w.{name}.latency[size_bytes=1]" for name in ("one", "two", "three")
    }
    assert histograms["bucket_count"].list.sum().to_list() == [1000] * rounds
    assert samples.height == rounds * len(QUANTILES) and samples["counted"].all()
    maximum = samples.filter(pl.col("metric") == "maximum")
    assert maximum["value"].to_list() == histograms["highest"].cast(float).to_list()
    assert set(maximum["batch"]) == {1000}
