"""Campaigns over machines by simulation with fixed seeds: false alarms, coverage, disagreement.

    python benches/campaign_simulation.py [CAMPAIGNS]

Every machine has an effect of its own around the fleet's, and every block noise. Tables:

1. A/A, one row: how often the fleet's interval excludes the truth, for the method in use (Student's
   t over machines' means) and for others, among them the boots of all machines in one heap
   (pseudoreplication) and DerSimonian and Laird's normal interval.
2. The interval of τ and the prediction interval: how often they hold the truth.
3. Machines that are said to disagree where none does, and where one does.
4. A/A over many rows through the judge itself: campaigns with any false claim.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import special

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.fleet.fleet import MachineRow, judge_rows
from pentathlon.evaluate.fleet.random_effects import disagreeing, fleet_estimate, heterogeneity
from pentathlon.evaluate.rule import Rule

Values = npt.NDArray[np.float64]

SEED = 20030101
LEVEL = 0.05
MACHINES = (3, 5, 10, 20, 40)
BOOT_SD = 0.01
ROWS = 50


@dataclass(frozen=True)
class Fleet:
    """Machines of a simulated campaign.

    Attributes:
        tau: standard deviation of the true effects.
        ragged: every third machine has four times the noise and a third of the blocks.
        heavy: effects of the machines have Student's t with 3 degrees of freedom.
    """

    machines: int
    tau: float
    blocks: int = 10
    ragged: bool = False
    heavy: bool = False

    def draw(self, generator: np.random.Generator, truth: float = 0.0) -> list[Values]:
        """Log-ratios of the blocks of every machine."""
        effects = generator.standard_normal(self.machines)
        if self.heavy:
            effects = generator.standard_t(3, self.machines) / math.sqrt(3)
        found = []
        for number, effect in enumerate(effects * self.tau):
            noisy = self.ragged and number % 3 == 0
            blocks = max(3, self.blocks // 3) if noisy else self.blocks
            noise = generator.standard_normal(blocks) * BOOT_SD * math.sqrt(2)
            found.append(truth + effect + noise * (4.0 if noisy else 1.0))
        return found


def parts(blocks: list[Values]) -> tuple[Values, Values, Values]:
    """Mean, variance of the mean and its degrees of freedom of each machine."""
    return (
        np.array([one.mean() for one in blocks]),
        np.array([one.var(ddof=1) / len(one) for one in blocks]),
        np.array([len(one) - 1.0 for one in blocks]),
    )


def student(blocks: list[Values]) -> tuple[float, float]:
    """The method in use."""
    return fleet_estimate(parts(blocks)[0]).interval(LEVEL)


def heap(blocks: list[Values]) -> tuple[float, float]:
    """All boots as if they were machines."""
    return fleet_estimate(np.concatenate(blocks)).interval(LEVEL)


def der_simonian_laird(blocks: list[Values]) -> tuple[float, float]:
    """DerSimonian and Laird 1986, normal quantiles."""
    means, variances, _ = parts(blocks)
    weights = 1.0 / variances
    centre = float(weights @ means / weights.sum())
    q = float(weights @ (means - centre) ** 2)
    scale = float(weights.sum() - (weights**2).sum() / weights.sum())
    tau2 = max(0.0, (q - len(means) + 1) / scale)
    weights = 1.0 / (variances + tau2)
    centre, half = float(weights @ means / weights.sum()), 1.96 / math.sqrt(weights.sum())
    return centre - half, centre + half


def hartung_knapp(blocks: list[Values]) -> tuple[float, float]:
    """Hartung and Knapp 2001 with the τ² of Paule and Mandel."""
    means, variances, freedoms = parts(blocks)
    tau2 = heterogeneity(means, variances, freedoms, LEVEL).tau ** 2
    weights = 1.0 / (variances + tau2)
    centre = float(weights @ means / weights.sum())
    count = len(means) - 1.0
    error = math.sqrt(float(weights @ (means - centre) ** 2) / count / weights.sum())
    half = float(special.stdtrit(count, 1 - LEVEL / 2)) * error
    return centre - half, centre + half


METHODS: dict[str, Callable[[list[Values]], tuple[float, float]]] = {
    "t over machines (in use)": student,
    "Hartung-Knapp, Paule-Mandel": hartung_knapp,
    "DerSimonian-Laird, normal": der_simonian_laird,
    "all boots in one heap": heap,
}


def fleets() -> Iterator[tuple[str, Fleet]]:
    for machines in MACHINES:
        for tau in (0.0, 0.005, 0.03):
            yield f"{machines} machines, τ {tau:.1%}", Fleet(machines, tau)
        yield f"{machines} machines, τ 3.0%, heavy", Fleet(machines, 0.03, heavy=True)
        yield f"{machines} machines, τ 0.5%, ragged", Fleet(machines, 0.005, ragged=True)


def rate_text(hits: int, campaigns: int) -> str:
    low, high = clopper_pearson(hits, campaigns)
    return f"{hits / campaigns:.1%} ({low:.1%} to {high:.1%})"


def alarms(campaigns: int, console: Console) -> None:
    table = Table("fleet", *METHODS)
    for name, fleet in fleets():
        generator = np.random.default_rng(SEED)
        hits = dict.fromkeys(METHODS, 0)
        for _ in range(campaigns):
            blocks = fleet.draw(generator)
            for method, interval in METHODS.items():
                low, high = interval(blocks)
                hits[method] += not low <= 0.0 <= high
        table.add_row(name, *(rate_text(count, campaigns) for count in hits.values()))
    console.print("A/A: intervals of 95 % that exclude the truth (5 % is right)", style="bold")
    console.print(table)


def spread(campaigns: int, console: Console) -> None:
    table = Table("fleet", "interval of τ", "prediction interval", '"all alike" refused', "named")
    for name, fleet in fleets():
        generator = np.random.default_rng(SEED)
        held = foretold = refused = named = 0
        for _ in range(campaigns):
            blocks = fleet.draw(generator)
            found = heterogeneity(*parts(blocks), LEVEL)
            held += found.low <= fleet.tau <= found.high
            next_one = generator.standard_normal() * fleet.tau
            if fleet.heavy:
                next_one = generator.standard_t(3) / math.sqrt(3) * fleet.tau
            foretold += found.prediction_low <= next_one <= found.prediction_high
            refused += found.p_alike <= LEVEL
            named += bool(disagreeing(*parts(blocks), LEVEL))
        rates = (rate_text(one, campaigns) for one in (held, foretold, refused, named))
        table.add_row(name, *rates)
    console.print("Heterogeneity: intervals that hold the truth, alarms", style="bold")
    console.print(table)


def odd_one(campaigns: int, console: Console) -> None:
    table = Table("fleet", "the odd machine is named", "another one is named")
    for machines in MACHINES:
        generator = np.random.default_rng(SEED)
        right = wrong = 0
        for _ in range(campaigns):
            blocks = Fleet(machines, 0.0).draw(generator)
            blocks[1] = blocks[1] + 0.05
            found = {one for one, _ in disagreeing(*parts(blocks), LEVEL)}
            right += 1 in found
            wrong += bool(found - {1})
        table.add_row(str(machines), rate_text(right, campaigns), rate_text(wrong, campaigns))
    console.print("One machine of the fleet is 5 % faster than the others", style="bold")
    console.print(table)


def whole(campaigns: int, console: Console) -> None:
    table = Table("fleet", "campaigns with a false claim", "without allowing for all rows")
    rule = Rule(1.0, 1.0 - LEVEL)
    for machines in MACHINES:
        for tau in (0.0, 0.01):
            generator = np.random.default_rng(SEED)
            hits = naive = 0
            for _ in range(campaigns):
                rows = []
                for number in range(ROWS):
                    blocks = Fleet(machines, tau).draw(generator)
                    rows.append(
                        MachineRow.simulated(
                            f"w{number // 5}.time[{number}]", f"w{number // 5}", blocks
                        )
                    )
                judged = judge_rows(rows, rule)
                hits += any(one.claims is not None and one.claims.different for one in judged)
                naive += any(
                    one.estimate is not None and one.estimate.p_different() <= LEVEL
                    for one in judged
                )
            table.add_row(
                f"{machines} machines, τ {tau:.1%}",
                rate_text(hits, campaigns),
                rate_text(naive, campaigns),
            )
    console.print(f"A/A over {ROWS} rows through the judge", style="bold")
    console.print(table)


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    console = Console(width=150)
    alarms(campaigns, console)
    spread(campaigns, console)
    odd_one(campaigns, console)
    whole(max(campaigns // 5, 50), console)


if __name__ == "__main__":
    main()
