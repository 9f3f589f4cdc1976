"""`gate --remeasure` by simulation with fixed seeds: false answers, and what it decides.

    python benches/remeasure_simulation.py [GATES]

Every gate judges rows by the gate's own functions; while it is not known well enough, a further
run is drawn for the open rows alone, with as many blocks as the program would choose. Beside it
stands what a person does who adds blocks and judges the heap again at the same level.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.estimators.ratio import delta_log
from pentathlon.evaluate.estimators.welch import paired
from pentathlon.evaluate.multiplicity.holm import step_down, workload_weights
from pentathlon.evaluate.planning.alpha_spending import fixed
from pentathlon.evaluate.planning.measuring_again import (
    MOST_RUNS,
    Open,
    blocks_for,
    confidence_of,
)
from pentathlon.evaluate.results.gate import Entry, Gate, Outcome, Verdict, gate, merged

Values = npt.NDArray[np.float64]

SEED = 20030102
CONFIDENCE = 0.95
DELTA = 1.0
BLOCKS = 5
MOST = 400
"""Blocks of the budget of one gate."""


class Machine:
    """Draws the log-ratios of blocks (+ is faster).

    Attributes:
        truth: of each row.
        sd: of a block.
        skewed: lognormal noise in place of normal noise.
    """

    def __init__(self, truth: Sequence[float], sd: float, *, skewed: bool = False) -> None:
        self.truth = np.array(truth)
        self.sd, self.skewed = sd, skewed

    def run(self, generator: np.random.Generator, rows: Sequence[int], blocks: int) -> Values:
        """Rows x blocks."""
        shape = (len(rows), blocks)
        if self.skewed:
            noise = generator.lognormal(0.0, 0.5, shape)
            noise = (noise - np.exp(0.125)) / np.sqrt((np.exp(0.25) - 1.0) * np.exp(0.25))
        else:
            noise = generator.standard_normal(shape)
        return np.asarray(self.truth[list(rows), None] + self.sd * noise, dtype=np.float64)


def judge(rows: Sequence[int], drawn: Values, confidence: float) -> Gate:
    """One run at its level, through the gate."""
    delta = delta_log(DELTA)
    estimates = [paired(one, fixed(len(one))) for one in drawn]
    names = [f"w{row}" for row in rows]
    weights = workload_weights(names)
    different = step_down(
        np.array([one.p_different() for one in estimates]), weights, 1.0 - confidence
    ).selected
    entries = [
        Entry(
            key=name, workload=name, system="b", percent=100.0 * one.mean, low_percent=None,
            high_percent=None, p_not_worse=one.p_not_worse(delta), words="",
            verdict=Verdict.INCONCLUSIVE if not yes
            else Verdict.SLOWER if one.mean < 0 else Verdict.FASTER,
        )
        for name, one, yes in zip(names, estimates, different, strict=True)
    ]  # fmt: skip
    return gate(entries, "a", delta_percent=DELTA, confidence=confidence)


def remeasured(machine: Machine, generator: np.random.Generator) -> tuple[Gate, int]:
    """A gate with its further runs: the answer, and the blocks of these."""
    rows = list(range(len(machine.truth)))
    drawn = machine.run(generator, rows, BLOCKS)
    answer = judge(rows, drawn, confidence_of(CONFIDENCE, 1))
    spent = 0
    for run in range(2, MOST_RUNS + 1):
        if answer.outcome is not Outcome.INCONCLUSIVE:
            break
        names = {row.key for row in answer.of(Outcome.INCONCLUSIVE)}
        places = [place for place, row in enumerate(rows) if f"w{row}" in names]
        found = [
            Open(key=f"w{rows[one]}", workload=f"w{rows[one]}", system="b",
                 mean=float(drawn[one].mean()), sd=float(drawn[one].std(ddof=1)))
            for one in places
        ]  # fmt: skip
        confidence = confidence_of(CONFIDENCE, run)
        wanted = blocks_for(found, confidence, delta_log(DELTA), only_by_delta=False)
        blocks = min(wanted or 0, MOST - spent)
        if blocks < 3:
            break
        rows = [rows[one] for one in places]
        drawn = machine.run(generator, rows, blocks)
        spent += blocks
        answer = merged(answer, judge(rows, drawn, confidence))
    return answer, spent


def heaped(machine: Machine, generator: np.random.Generator) -> Gate:
    """The same by adding five blocks after five and judging the heap at the old level."""
    rows = list(range(len(machine.truth)))
    drawn = machine.run(generator, rows, BLOCKS)
    answer = judge(rows, drawn, CONFIDENCE)
    while answer.outcome is Outcome.INCONCLUSIVE and drawn.shape[1] < MOST:
        drawn = np.hstack([drawn, machine.run(generator, rows, BLOCKS)])
        answer = judge(rows, drawn, CONFIDENCE)
    return answer


def rate(hits: int, gates: int) -> str:
    low, high = clopper_pearson(hits, gates)
    return f"{hits / gates:.1%} ({low:.1%} to {high:.1%})"


def machines() -> dict[str, tuple[Machine, Outcome]]:
    """Truths, and the answer that would be false."""
    edge = -delta_log(DELTA)
    return {
        "A/A, 1 row": (Machine([0.0], 0.02), Outcome.REGRESSION),
        "A/A, 10 rows": (Machine([0.0] * 10, 0.02), Outcome.REGRESSION),
        "A/A, 10 rows, skewed": (Machine([0.0] * 10, 0.02, skewed=True), Outcome.REGRESSION),
        "slower by δ, 1 row": (Machine([edge], 0.02), Outcome.PASS),
        "slower by δ, 10 rows": (Machine([edge] * 10, 0.02), Outcome.PASS),
    }


def false(answer: Gate, wrong: Outcome) -> bool:
    """Whether any row has an answer that cannot be true."""
    return bool(answer.of(wrong))


def main() -> None:
    gates = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    console = Console(width=140)
    table = Table("truth", "false, --remeasure", "false, heap of blocks", "decided", "in one run",
                  "blocks added")  # fmt: skip
    for name, (machine, wrong) in machines().items():
        generator = np.random.default_rng(SEED)
        hits = naive = decided = once = blocks = 0
        for _ in range(gates):
            answer, spent = remeasured(machine, generator)
            hits += false(answer, wrong)
            decided += answer.outcome is not Outcome.INCONCLUSIVE
            once += spent == 0
            blocks += spent
            naive += false(heaped(machine, generator), wrong)
        table.add_row(name, rate(hits, gates), rate(naive, gates), f"{decided / gates:.1%}",
                      f"{once / gates:.1%}", f"{blocks / max(1, gates - once):.0f}")  # fmt: skip
    console.print(f"Gates with a false answer in any row (at most {1 - CONFIDENCE:.0%} is right)")
    console.print(table)


if __name__ == "__main__":
    main()
