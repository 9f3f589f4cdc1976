"""From the rows of several machines to those of the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.estimators.ratio import ratio_error
from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.fleet.random_effects import (
    FEWEST_MACHINES,
    Heterogeneity,
    disagreeing,
    fleet_estimate,
    heterogeneity,
)
from pentathlon.evaluate.multiplicity import families
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.values import Values
from pentathlon.evaluate.verdict import Claims


@dataclass(frozen=True)
class MachineRow:
    """One row on every machine that measured it.

    Attributes:
        samples: machine -> log-ratios of its units: blocks, or installs above them.
    """

    key: str
    workload: str
    samples: dict[str, Values]
    declared: bool = True

    @classmethod
    def simulated(cls, key: str, workload: str, blocks: Sequence[Values]) -> MachineRow:
        """Of machines that have numbers for names."""
        return cls(key, workload, {str(n): one for n, one in enumerate(blocks)})

    @property
    def means(self) -> Values:
        """Of each machine, in order."""
        return np.array([float(np.mean(one)) for one in self.samples.values()])


@dataclass(frozen=True)
class FleetRow:
    """What holds for the fleet in one row.

    Attributes:
        estimate: the mean over the machines; None for fewer than two.
        claims: what may be claimed after allowing for all rows.
        heterogeneity: None where a machine has a single block, or there are fewer than two.
        odd: machine -> p value, of those that differ from the others.
    """

    row: MachineRow
    estimate: Estimate | None
    claims: Claims | None
    heterogeneity: Heterogeneity | None
    odd: dict[str, float]


def judge_rows(rows: Sequence[MachineRow], rule: Rule) -> list[FleetRow]:
    """Every row of one system against the reference: declared ones by Holm's procedure,
    exploratory ones by that of Benjamini and Hochberg."""
    estimates = {
        row.key: fleet_estimate(row.means) for row in rows if len(row.samples) >= FEWEST_MACHINES
    }
    tested = [
        families.Candidate(row.workload, estimates[row.key], declared=row.declared)
        for row in rows
        if row.key in estimates
    ]
    judged = families.claims(tested, rule)
    claims = {key: found for key, (found, _) in zip(estimates, judged, strict=True)}
    found = []
    for row in rows:
        spread, odd = _spread(row, rule)
        known = row.key in estimates
        estimate = estimates[row.key] if known else None
        found.append(FleetRow(row, estimate, claims.get(row.key), spread, odd))
    return found


def _spread(row: MachineRow, rule: Rule) -> tuple[Heterogeneity | None, dict[str, float]]:
    sizes = [len(one) for one in row.samples.values()]
    if len(sizes) < FEWEST_MACHINES or min(sizes) < 2:
        return None, {}
    variances = np.array([ratio_error(one) ** 2 for one in row.samples.values()])
    freedoms = np.array([size - 1.0 for size in sizes])
    names = list(row.samples)
    odd = disagreeing(row.means, variances, freedoms, rule.rate)
    return (
        heterogeneity(row.means, variances, freedoms, rule.rate),
        {names[place]: p_value for place, p_value in odd},
    )
