"""Rows that lend each other strength: moderated variances, where the blocks allow it.

The rule is part of the study (`evaluation.moderated`), fixed before anything is measured. Rows are
grouped as they were planned, never by a value: a workload of 10 rows or more is a group, and the
rest of each area is one. From 5 blocks on the variances of a group are moderated
(`estimators.moderated`), unless all rows together show that neighbouring blocks depend on each
other: then no row borrows, and every interval is widened by what that dependence costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pentathlon.evaluate.diagnostics.serial_correlation import (
    p_pooled,
    pooled_inflation,
    pooled_level,
)
from pentathlon.evaluate.estimators.moderated import FEWEST_ROWS, likeness, moderate, standardised
from pentathlon.evaluate.estimators.paired import Paired
from pentathlon.evaluate.estimators.ratio import ROUNDING
from pentathlon.evaluate.estimators.welch import Estimate

FEWEST_BLOCKS = 5
OWN_GROUP = 10
"""Rows from which a workload is a group of its own."""


@dataclass(frozen=True)
class Member:
    """A row that may borrow: its place in the study and its blocks."""

    key: str
    area: str
    workload: str
    row: Paired
    score: bool = True
    """A score, and no count of what the work used: that may be the same in every boot."""


@dataclass(frozen=True)
class Borrowed:
    """What the rows have from each other.

    Attributes:
        estimates: key -> the mean log-ratio with its moderated error; rows without one stand alone.
        p_serial: pooled p value of "the order of the blocks does not matter"; None: not tested.
        inflation: factor on every row's standard error, above 1 where the blocks depend on their
            neighbours.
        likeness: ρ̂² of all rows.
        blocks: how many they have.
    """

    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    p_serial: float | None = None
    inflation: float = 1.0
    likeness: float = 0.0
    blocks: int = 0

    @property
    def caution(self) -> str | None:
        """What the pooled test found wrong, in words, or None."""
        if self.p_serial is None or self.p_serial > pooled_level(self.blocks, self.likeness):
            return None
        wider = (self.inflation - 1.0) * 100.0
        so = "rows do not borrow from each other" + (
            f", and every interval is {wider:.0f} % wider" if wider >= 0.5 else ""
        )
        if self.p_serial > pooled_level(self.blocks, 0.0):
            return (
                f"the rows vary together, and {self.blocks} blocks cannot rule out that they "
                f"depend on their neighbours in time (p = {self.p_serial:.2g}): {so}"
            )
        return (
            "over all rows the blocks depend on their neighbours in time "
            f"(p = {self.p_serial:.2g}): {so}; what lasted longer than a block "
            "may still look like a difference"
        )


def groups(workloads: Sequence[str], areas: Sequence[str]) -> list[tuple[str, str]]:
    """The group of each row: its workload where that has rows enough, else the rest of its area."""
    sizes = Counter(workloads)
    return [
        (area, workload if sizes[workload] >= OWN_GROUP else "")
        for area, workload in zip(areas, workloads, strict=True)
    ]


def _varies(row: Paired) -> bool:
    return float(np.ptp(row.units)) > ROUNDING * max(1.0, abs(float(np.mean(row.units))))


def borrow(members: Sequence[Member]) -> Borrowed:
    """What the rows of one comparison have from each other.

    Rows that lack a block that most others have stand alone. Rows whose blocks are all alike lend
    nothing; a score takes its group's prior, for boots that read the same are no proof that they
    do not vary.
    """
    sets = Counter(one.row.borrowable for one in members if one.row.count >= FEWEST_BLOCKS)
    if not sets:
        return Borrowed()
    blocks, _ = sets.most_common(1)[0]
    whole = [one for one in members if one.row.borrowable == blocks and _varies(one.row)]
    if not whole:
        return Borrowed()
    ratios = np.array([one.row.units for one in whole])
    scaled = standardised(ratios)
    p_value, alike_rows, count = float(p_pooled(scaled)), float(likeness(ratios)), ratios.shape[-1]
    if p_value <= pooled_level(count, alike_rows):
        inflation = float(pooled_inflation(scaled))
        return Borrowed(
            p_serial=p_value, inflation=inflation, likeness=alike_rows, blocks=count
        )  # fmt: skip
    alike = [one for one in members if one.row.borrowable == blocks and not _varies(one.row)]
    alike = [one for one in alike if one.score]
    together: dict[tuple[str, str], list[Member]] = {}
    every = groups([one.workload for one in members], [one.area for one in members])
    names = dict(zip((one.key for one in members), every, strict=True))
    for one in whole:
        together.setdefault(names[one.key], []).append(one)
    found: dict[str, Estimate] = {}
    for own in together.values():
        if len(own) < FEWEST_ROWS:
            continue
        lent = moderate(
            np.array([one.row.units for one in own]), np.array([one.row.floor for one in own])
        )
        for one, variance in zip(own, lent.variance.tolist(), strict=True):
            found[one.key] = _estimate(one, variance, float(lent.freedom))
        place = names[own[0].key]
        for one in alike:
            if names[one.key] == place:
                variance = lent.of(one.row.estimate.error**2 * one.row.count)
                found[one.key] = _estimate(one, float(variance), float(lent.freedom))
    return Borrowed(found, p_value, likeness=alike_rows, blocks=count)


def _estimate(one: Member, variance: float, freedom: float) -> Estimate:
    return Estimate(float(np.mean(one.row.units)), math.sqrt(variance / one.row.count), freedom)
