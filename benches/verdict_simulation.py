"""False alarms and power of the verdicts, by simulation with fixed seeds.

    python benches/verdict_simulation.py [STUDIES]

Prints a table: in how many of the simulated studies of one system under two names any of 200
metrics is called different or equivalent to less than it is, with Clopper-Pearson bounds
(Clopper and Pearson 1934), and how often a planted slowdown of one metric is called slower.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import Simulation

SEED = 20030101


def false_alarms(studies: int, console: Console) -> None:
    """One system under two names."""
    table = Table("noise of boots", "SD", "studies", "with an alarm", "95 % bounds", "words")
    for noise in ("normal", "common", "lognormal", "heavy"):
        for boot_sd in (0.003, 0.01, 0.03):
            generator = np.random.default_rng(SEED)
            simulation = Simulation(boot_sd=boot_sd, noise=noise)
            alarms, seen = 0, Counter[Verdict]()
            for _ in range(studies):
                words = Counter(
                    one.verdict for one in simulation.study(generator).comparisons.values()
                )
                seen += words
                alarms += any(
                    words[one] for one in Verdict if one.is_difference or one is Verdict.NEGLIGIBLE
                )
            low, high = clopper_pearson(alarms, studies)
            total = sum(seen.values())
            table.add_row(
                noise,
                f"{boot_sd:.1%}",
                str(studies),
                f"{alarms / studies:.2%}",
                f"{low:.2%} to {high:.2%}",
                ", ".join(f"{word.value} {count / total:.2%}" for word, count in seen.items()),
            )
    console.print("One system under two names, 200 metrics, 5 blocks, δ = 1 %", style="bold")
    console.print(table)


def power(studies: int, console: Console) -> None:
    """A slowdown of one metric, alone in its workload."""
    table = Table("slowdown", "SD", "blocks", "called slower", "95 % bounds", "by at least δ")
    for slowdown in (1.0, 2.0, 5.0):
        for boot_sd in (0.002, 0.005, 0.01, 0.02):
            for blocks in (5, 10):
                generator = np.random.default_rng(SEED)
                planted = {0: -math.log1p(slowdown / 100)}
                simulation = Simulation(boot_sd=boot_sd, blocks=blocks, planted=planted)
                words = Counter(
                    next(iter(simulation.study(generator).comparisons.values())).verdict
                    for _ in range(studies)
                )
                called = words[Verdict.SLOWER] + words[Verdict.SLOWER_BY_DELTA]
                low, high = clopper_pearson(called, studies)
                table.add_row(
                    f"{slowdown:g} %",
                    f"{boot_sd:.1%}",
                    str(blocks),
                    f"{called / studies:.1%}",
                    f"{low:.1%} to {high:.1%}",
                    f"{words[Verdict.SLOWER_BY_DELTA] / studies:.1%}",
                )
    console.print("A slowdown planted in one of 200 metrics", style="bold")
    console.print(table)


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    console = Console(width=140)
    false_alarms(studies, console)
    power(studies, console)


if __name__ == "__main__":
    main()
