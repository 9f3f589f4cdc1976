"""Weighted geometric means of the ratios of speed: per block, with an interval over the blocks.

The mean of a block is Σ wᵢ dᵢ / Σ wᵢ over the log-ratios dᵢ of its rows, so its exponential is the
weighted geometric mean of the ratios. The blocks are independent, the rows of a block are not: the
interval is that of Student's t over the blocks' means, never one over the rows.

The ratio of two weighted geometric means is the weighted geometric mean of the ratios, whichever
system is the reference; no other mean has this (Fleming and Wallace 1986, doi:10.1145/5666.5673).
It is no time of any work: the time of a job is a weighted arithmetic mean of times, which is the
weighted harmonic mean of rates (Smith 1988, doi:10.1145/63039.63043).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pentathlon.evaluate.aggregate.leave_one_out import without_each
from pentathlon.evaluate.aggregate.sensitivity import sensitivity
from pentathlon.evaluate.aggregate.weighting import (
    Weighed,
    block_means,
    complete,
    parts_of,
    units,
)
from pentathlon.evaluate.aggregate.weights import Place, row_weights
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.welch import paired
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_aggregate import (
    Absolute,
    Dominance,
    LeftOut,
    Mean,
    Member,
    SystemAggregate,
    Without,
    below_floor,
)
from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values
from pentathlon.evaluate.verdict import Verdict
from pentathlon.study.counting import count_text

UNUSED = (Verdict.INVALID, Verdict.NOT_MEASURED)


@dataclass(frozen=True)
class Means:
    """Everything that the means of one system are made from."""

    system: str
    rows: tuple[Weighed, ...]
    rate: float
    delta: float
    floors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Key -> log-ratios of a calibration's blocks, {} without one."""

    def mean(self, kind: str, name: str, chosen: Sequence[Weighed], by: str) -> Mean | None:
        """The mean over some rows, with the parts that it is made of.

        Args:
            by: "area" or "workload", what a part is.
        """
        kept, blocks = complete([one for one in chosen if one.weight > 0])
        if not kept:
            return None
        sample = units(block_means(kept, blocks), blocks, kept[0].installs)
        low, high = self._interval(sample)
        total = sum(one.weight for one in kept)
        return Mean(
            kind=kind,
            name=name,
            rows=len(kept),
            weight=total,
            blocks=len(blocks),
            mean=float(sample.mean()),
            percent=ratio.percent(float(sample.mean())),
            low_percent=low,
            high_percent=high,
            p_different=paired(sample).p_different() if len(sample) > 1 else None,
            members=tuple(
                Member(
                    name=part,
                    weight=sum(one.weight for one in own) / total,
                    mean=float(block_means(own, blocks).mean()),
                )
                for part, own in parts_of(kept, by).items()
            ),
            floor_percent=self._floor_percent(self._floor(kept)),
        )

    def _floor(self, kept: Sequence[Weighed]) -> Values | None:
        """This mean in each block of two names of one system; None where a row has no floor."""
        if not all(one.row.key in self.floors for one in kept):
            return None
        grid = np.array([self.floors[one.row.key] for one in kept])
        weights = np.array([one.weight for one in kept])
        return np.asarray(weights @ grid / weights.sum(), dtype=np.float64)

    def _floor_percent(self, floor: Values | None) -> float | None:
        """The larger end of the interval of a mean between two names of one system."""
        if floor is None:
            return None
        low, high = paired(floor).interval(self.rate)
        return ratio.percent(max(abs(low), abs(high)))

    def _interval(self, sample: Values) -> tuple[float | None, float | None]:
        if len(sample) < 2:
            return None, None
        low, high = paired(sample).interval(self.rate)
        return ratio.percent(low), ratio.percent(high)

    def without(self, kind: str, everything: Mean) -> Iterator[Without]:
        """The mean over everything without each part in turn."""
        used = [one for one in self.rows if one.weight > 0]
        names = [getattr(one.row, kind) for one in used]
        if len({*names}) < 2:
            return
        whole = direction(everything)
        for rest in without_each(used, names, self.floors):
            sample = units(rest.means, rest.blocks, rest.installs)
            mean = float(sample.mean())
            low, high = self._interval(sample)
            found = signed(mean, low, high, self._floor_percent(rest.floors))
            yield Without(
                kind=kind,
                name=rest.name,
                percent=ratio.percent(mean),
                low_percent=low,
                high_percent=high,
                changes=found != whole,
            )

    def dominance(self) -> Dominance | None:
        """Intersection-union test of "not slower by δ or more in any row", and of the reverse.

        Every row is tested by itself at half the error rate, as there are two directions; the
        claim for all rows needs no correction (Berger 1982, doi:10.1080/00401706.1982.10487790).
        """
        rows = [one for one in self.rows if one.weight > 0]
        if not rows:
            return None
        worse = [_one_sided(one, self.delta, 1.0) for one in rows]
        better = [_one_sided(one, self.delta, -1.0) for one in rows]
        signs = {
            found.verdict.sign
            for one in rows
            if (found := one.row.comparison(self.system)) is not None
        }
        nearer = worse if max(worse) <= max(better) else better
        limit = self.rate / 2
        dominates = max(worse) <= limit and 1 in signs
        dominated = max(better) <= limit and -1 in signs
        place = int(np.argmax(nearer))
        return Dominance(
            p_not_worse=max(worse),
            p_not_better=max(better),
            dominates=dominates,
            dominated=dominated,
            in_the_way=None if dominates or dominated else rows[place].row.key,
        )


def _one_sided(one: Weighed, delta: float, sign: float) -> float:
    """One-sided p value of "the mean log-ratio is at or below −δ" in the direction of the sign."""
    blocks = list(one.ratios)
    sample = sign * units(np.array(list(one.ratios.values())), blocks, one.installs)
    if len(sample) < 2 or not one.stable:
        return 1.0
    error = ratio.ratio_error(sample)
    room = float(sample.mean()) + delta
    if error == 0.0:
        return 0.0
    return float(special.stdtr(len(sample) - 1, -room / error))


def direction(mean: Mean) -> int:
    """+1 if the interval lies above equality, −1 if below, 0 if it does not exclude it.

    0 too where the difference is not above the noise floor of this machine.
    """
    return signed(mean.mean, mean.low_percent, mean.high_percent, mean.floor_percent)


def signed(
    mean: float, low_percent: float | None, high_percent: float | None, floor_percent: float | None
) -> int:
    """`direction`, of a mean log-ratio with its interval and its noise floor."""
    if low_percent is None or high_percent is None or below_floor(mean, floor_percent):
        return 0
    return 1 if low_percent > 0 else -1 if high_percent < 0 else 0


def find_whole(
    rows: Sequence[Row],
    system: str,
    reference: str,
    stated: Mapping[str, float],
    suites: Mapping[str, str],
    *,
    rate: float,
    delta: float,
    blocks: int | None = None,
    floors: Mapping[str, Sequence[float]] | None = None,
) -> SystemAggregate:
    """One system against the reference as a whole.

    Args:
        rows: every row of the evaluation, with its comparisons. Context is left out, and so is what
            neither of the two measured: a third system gives its rows no weight in this pair.
        stated: the study's weights of areas and workloads.
        suites: workload id -> suite.
        rate: 1 − confidence.
        delta: half width of the region of equivalence, as a log-ratio.
        blocks: the number of first blocks that all workloads were measured in, where some were
            decided early; else rows that nothing shows anything about would be all that is left.
        floors: key -> log-ratios of the blocks of a calibration that holds for both systems.
    """
    rows = [row for row in rows if row.score and row.comparison(system) is not None]
    places = [Place(row.key, row.area, row.workload, row.metric) for row in rows]
    weights = row_weights(places, stated)
    weighed, left_out = [], []
    for row in rows:
        weight, found = weights[row.key], row.comparison(system)
        assert found is not None
        if found.effect is None or found.verdict in UNUSED:
            if weight > 0:
                reason = found.reason or found.words
                left_out.append(LeftOut(key=row.key, weight=weight, reason=reason))
            continue
        stable = found.verdict is not Verdict.UNSTABLE
        ratios = {
            block: value
            for block, value in block_ratios(row, system, reference).items()
            if blocks is None or block < blocks
        }
        installs = block_installs(row, system, reference)
        weighed.append(Weighed(row, weight, ratios, stable, installs))
    means = Means(system, tuple(weighed), rate, delta, floors or {})
    kept, taken = complete([one for one in weighed if one.weight > 0])
    inside = {one.row.key for one in kept}
    left_out += [
        LeftOut(
            key=one.row.key,
            weight=one.weight,
            reason=f"measured in {count_text(len(one.ratios), 'block')}, "
            f"not in all of the {len(taken)}",
        )
        for one in weighed
        if one.weight > 0 and one.row.key not in inside
    ]
    everything = means.mean("all", "", weighed, "area")
    found_means = [] if everything is None else [everything]
    of_suites: dict[str, list[Weighed]] = {}
    for one in weighed:
        of_suites.setdefault(suites.get(one.row.workload, ""), []).append(one)
    for kind, groups in (("area", parts_of(weighed, "area")), ("suite", of_suites)):
        if kind == "suite" and len(groups) < 2:
            continue
        for name, own in groups.items():
            part = means.mean(kind, name, own, "workload")
            if part is not None:
                found_means.append(part)
    return SystemAggregate(
        system=system,
        means=tuple(found_means),
        left_out=tuple(left_out),
        without=()
        if everything is None
        else (*means.without("area", everything), *means.without("workload", everything)),
        sensitivity=sensitivity(kept, taken, rate),
        dominance=means.dominance(),
    )


def block_ratios(row: Row, system: str, reference: str) -> dict[int, float]:
    """Block -> log-ratio of the boot means, positive where the system is better."""
    base = row.boots(reference)
    return {
        block: ratio.log_ratio(value, base[block], row.direction)
        for block, value in row.boots(system).items()
        if block in base
    }


def block_installs(row: Row, system: str, reference: str) -> dict[int, str]:
    """Block -> the pair of installs that it booted; {} where each system has one."""
    sides = [row.summary(name) for name in (system, reference)]
    found: dict[int, str] = {}
    for side in sides:
        for boot in () if side is None else side.boot_means:
            if boot.install:
                found[boot.block] = f"{found.get(boot.block, '')}/{boot.install}"
    return found


def weighted_geometric_mean(rates: Sequence[float], weights: Sequence[float]) -> float:
    """W_G = Π xᵢ^wᵢ with the weights scaled to 1 (martinovic2012, formula (2)).

    Args:
        rates: frames per second in the paper, x_f / tᵢ; all positive.
    """
    shares = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
    mean = float(np.dot(shares, np.log(np.asarray(rates, dtype=np.float64))))
    return float(np.exp(np.clip(mean, -ratio.CUT, ratio.CUT)))


def find_absolutes(rows: Sequence[Row], systems: Sequence[str]) -> tuple[Absolute, ...]:
    """Formula (2) for every metric with several cases, equal weights; times as their rates.

    Only the cases that every system measured count, so that the numbers can be compared.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if not row.score:
            continue
        groups.setdefault((row.workload, row.metric), []).append(row)
    found = []
    for own in groups.values():
        means = [[one.summary(name) for name in systems] for one in own]
        whole = [
            [summary.mean for summary in line if summary is not None and summary.minimum > 0]
            for line in means
        ]
        full = [line for line in whole if len(line) == len(systems)]
        if len(full) < 2 or len({row.unit for row in own}) > 1:
            continue
        higher = own[0].direction == "higher"
        found.append(
            Absolute(
                title=own[0].title,
                workload=own[0].workload,
                metric=own[0].metric,
                cases=len(full),
                unit=own[0].unit if higher else f"1/{own[0].unit}",
                values={
                    name: weighted_geometric_mean([line[place] for line in full], [1.0] * len(full))
                    ** (1 if higher else -1)
                    for place, name in enumerate(systems)
                },
            )
        )
    return tuple(found)
