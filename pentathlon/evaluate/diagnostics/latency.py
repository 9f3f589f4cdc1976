"""Distributions of latencies: histograms are merged, never averaged.

The histograms of all rounds of a boot, and of all boots, are added bucket by bucket (HdrHistogram;
Tene 2013), so a percentile is one of the values themselves. A percentile of a boot is one number
per boot, and the spread between boots gives its interval: the values of one boot are not
independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from hdrh.histogram import HdrHistogram

from pentathlon.evaluate.cases import case_text, number
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.facts import case_of
from pentathlon.evaluate.model_latency import Latency, Percentile, Ratio
from pentathlon.evaluate.values import Values
from pentathlon.study.catalog import Catalog

PERCENTS = (50.0, 90.0, 99.0, 99.9, 99.99)
FEWEST_BEYOND = 10
"""A percentile beyond which fewer values lie is not reported: it would be the accident of some."""
GREATEST = 1 << 62


@dataclass
class Merged:
    """Histograms of one distribution, added up."""

    histogram: HdrHistogram
    count: int = 0
    lowest: int = GREATEST
    highest: int = 0

    def take(self, row: Mapping[str, object]) -> None:
        """Add one histogram of the table `histograms`."""
        uppers, counts = row["bucket_upper"], row["bucket_count"]
        assert isinstance(uppers, list) and isinstance(counts, list)
        for upper, count in zip(uppers, counts, strict=True):
            self.histogram.record_value(min(upper, GREATEST), count)
        self.count += int(str(row["count"]))
        self.lowest = min(self.lowest, int(str(row["lowest"])))
        self.highest = max(self.highest, int(str(row["highest"])))

    def percentile(self, percent: float) -> int:
        """Smallest recorded value that so many percent of the values do not exceed.

        It is the greatest value of its bucket, at most a thousandth above, and never above the
        greatest value that was measured.
        """
        return min(int(self.histogram.get_value_at_percentile(percent)), self.highest)

    def beyond(self, percent: float) -> float:
        """How many values lie beyond a percentile."""
        # 0.1 % of 10,000 are 10 values, though the product is a little below.
        return round(float(self.histogram.get_total_count()) * (1.0 - percent / 100.0), 6)


def empty() -> Merged:
    """A distribution without a value, in the buckets that the agent uses."""
    return Merged(HdrHistogram(1, GREATEST, 3))


def corrected(found: Merged, interval: int) -> Merged:
    """The distribution with the requests that a closed loop did not send while it waited.

    A loop that should send every `interval`, but waits for each answer, measures one long time
    where an open one would have measured a whole row of them. They are added as HdrHistogram does:
    a value v above the interval brings v − interval, v − 2·interval, … down to the interval.
    """
    whole = empty()
    for item in found.histogram.get_recorded_iterator():
        count = int(item.count_at_value_iterated_to)
        value = min(int(item.value_iterated_to), found.highest)
        whole.histogram.record_corrected_value(value, interval, count)
    whole.count = int(whole.histogram.get_total_count())
    whole.lowest = min(found.lowest, interval) if found.highest > interval else found.lowest
    whole.highest = found.highest
    return whole


def find_latencies(
    table: pl.DataFrame, catalog: Catalog | None, systems: Sequence[str], rate: float
) -> tuple[Latency, ...]:
    """Every distribution on every system; the reference is the first of the systems.

    Args:
        table: `pentathlon.store.schema.HISTOGRAMS`.
        rate: 1 − confidence.
    """
    boots: dict[str, dict[str, dict[int, Merged]]] = {}
    firsts: dict[str, Mapping[str, object]] = {}
    used = table.filter(pl.col("counted") & (pl.col("phase") == "measure") & (pl.col("count") > 0))
    for row in used.iter_rows(named=True):
        firsts.setdefault(row["key"], row)
        of_system = boots.setdefault(row["key"], {}).setdefault(row["system"], {})
        of_system.setdefault(row["block"], empty()).take(row)
    return tuple(
        latency
        for key in sorted(boots)
        for latency in _distribution(firsts[key], boots[key], catalog, systems, rate)
    )


def _distribution(
    first: Mapping[str, object],
    boots: Mapping[str, Mapping[int, Merged]],
    catalog: Catalog | None,
    systems: Sequence[str],
    rate: float,
) -> Iterator[Latency]:
    case = case_of(str(first["case_json"] or ""))
    workload = None if catalog is None else catalog.workload(str(first["workload"]))
    entry = None if workload is None else workload.histogram(str(first["histogram"]))
    factor = None if entry is None else entry.closed_loop_interval
    interval = None if factor is None else number(case, factor)
    read = {
        name: {
            block: corrected(one, int(interval)) if interval else one for block, one in own.items()
        }
        for name, own in boots.items()
    }
    for name in systems:
        if name not in read:
            continue
        whole = _sum(list(read[name].values()))
        yield Latency(
            key=str(first["key"]),
            system=name,
            workload=str(first["workload"]),
            title=entry.title if entry else workload.title if workload else str(first["workload"]),
            case_text=case_text(case),
            unit=str(first["unit"]),
            boots=len(read[name]),
            count=whole.count,
            lowest=whole.lowest,
            highest=whole.highest,
            percentiles=tuple(
                _percentile(percent, whole, list(read[name].values()), rate) for percent in PERCENTS
            ),
            ratios=tuple(_ratios(read[name], read.get(systems[0], {}), rate))
            if name != systems[0]
            else (),
            corrected_for=int(interval) if interval else None,
            words=_words(interval, str(first["unit"])),
        )


def _words(interval: float | None, unit: str) -> str:
    if interval:
        return (
            f"corrected for coordinated omission: the closed loop should send every {interval:g} "
            f"{unit}"
        )
    return "not corrected for coordinated omission: the workload is no closed loop with a schedule"


def _sum(found: Sequence[Merged]) -> Merged:
    whole = empty()
    for one in found:
        whole.histogram.add(one.histogram)
        whole.count += one.count
        whole.lowest = min(whole.lowest, one.lowest)
        whole.highest = max(whole.highest, one.highest)
    return whole


def _percentile(percent: float, whole: Merged, boots: Sequence[Merged], rate: float) -> Percentile:
    logs = _logs(percent, boots)
    boot = low = high = None
    if logs is not None:
        boot = math.exp(float(logs.mean()))
        if len(logs) > 1:
            low, high = (math.exp(edge) for edge in ratio.t_interval(logs, rate))
    return Percentile(
        percent=percent,
        merged=whole.percentile(percent) if whole.beyond(percent) >= FEWEST_BEYOND else None,
        boot=boot,
        low=low,
        high=high,
    )


def _logs(percent: float, boots: Sequence[Merged]) -> Values | None:
    """Logarithms of the boots' percentiles; None where a boot has too few values beyond it."""
    if not boots or any(one.beyond(percent) < FEWEST_BEYOND for one in boots):
        return None
    return np.log([max(one.percentile(percent), 1) for one in boots])


def _ratios(own: Mapping[int, Merged], base: Mapping[int, Merged], rate: float) -> Iterator[Ratio]:
    blocks = sorted(own.keys() & base.keys())
    for percent in PERCENTS:
        first = _logs(percent, [base[block] for block in blocks])
        second = _logs(percent, [own[block] for block in blocks])
        if first is None or second is None:
            continue
        sample = first - second
        low = high = None
        if len(sample) > 1:
            low, high = (ratio.percent(edge) for edge in ratio.t_interval(sample, rate))
        yield Ratio(
            percent=percent,
            speed_percent=ratio.percent(float(sample.mean())),
            low_percent=low,
            high_percent=high,
        )
