"""Family-wise error, coverage and power of the effects of factorial designs, by simulation.

    python benches/factorial_simulation.py [STUDIES]

Studies of one design, judged by the evaluation itself, with fixed seeds: first with no effect at
all, then with a main effect in one metric and an interaction in another one. Printed are the share
of studies that show any effect that is not there (at most 5 % is claimed), how often an effect's
own 95 % interval holds the truth, how often the planted effects are shown, and how often "no effect
beyond δ" is stated of one that is exactly δ, with Clopper-Pearson bounds.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.estimators.ratio import log_of
from pentathlon.evaluate.verdict import Verdict
from pentathlon.study.factorial.design import Design, make
from pentathlon.study.factorial.model import Factor, Fraction
from tests.fakes.factorial import FactorialSimulation

SEED = 20261125
SHOWN = {one for one in Verdict if one.is_difference} | {Verdict.NEGLIGIBLE}
EQUAL = {Verdict.EQUIVALENT, Verdict.NEGLIGIBLE}


def design(count: int, resolution: int | None = None, levels: int = 2) -> Design:
    """A design of some factors."""
    factors = [
        Factor(setting="nice", name=name, levels=tuple(range(levels)))
        for name in "abcdefgh"[:count]
    ]
    return make(factors, None if resolution is None else Fraction(resolution=resolution))


DESIGNS = {
    "2 × 2": design(2),
    "2 × 2 × 2": design(3),
    "3 × 3": design(2, levels=3),
    "1/2 of 2⁵, V": design(5, 5),
    "1/8 of 2⁶, III": design(6, 3),
}


def bounds(count: int, of: int) -> str:
    """A share with its bounds."""
    low, high = clopper_pearson(count, of)
    return f"{count / of:.1%} ({low:.1%} to {high:.1%})"


def false_effects(studies: int, console: Console) -> None:
    """No effect at all."""
    table = Table("design", "noise", "blocks", "borrowing", "effects", "studies with a false one",
                  "own intervals hold 0")  # fmt: skip
    for name, own in DESIGNS.items():
        for noise in ("normal", "common", "lognormal", "heavy"):
            for blocks, moderated in ((5, True), (8, True), (8, False)):
                plain = (noise, blocks, moderated) == ("normal", 8, True)
                if not plain and (name != "2 × 2 × 2" or not (moderated or noise == "normal")):
                    continue
                simulation = FactorialSimulation(
                    own, blocks=blocks, noise=noise, moderated=moderated
                )
                generator = np.random.default_rng(SEED)
                alarms = held = count = 0
                for _ in range(studies):
                    found = simulation.study(generator).effects
                    alarms += any(one.verdict in SHOWN for one in found)
                    held += sum(one.low_percent <= 0 <= one.high_percent for one in found)
                    count += len(found)
                table.add_row(name, noise, str(blocks), "yes" if moderated else "no",
                              str(count // studies), bounds(alarms, studies),
                              f"{held / count:.2%}")  # fmt: skip
    console.print("No effect planted: SD of a boot 1 %, δ = 2 %", style="bold")
    console.print(table)


def planted_effects(studies: int, console: Console) -> None:
    """A main effect in one metric, an interaction in another, and an effect of exactly δ."""
    table = Table("design", "noise", "blocks", "planted", "main shown", "interaction shown",
                  "false one beside", "coverage of the planted", "δ called equal")  # fmt: skip
    delta = 2.0
    for name in ("2 × 2 × 2", "1/2 of 2⁵, V"):
        for noise in ("normal", "common"):
            for blocks, percent in ((8, 2.0), (16, 2.0)):
                size = math.log1p(percent / 100.0)
                planted = {("a", 0): size, ("a × b", 5): size, ("b", 10): math.log1p(delta / 100)}
                simulation = FactorialSimulation(
                    DESIGNS[name], blocks=blocks, noise=noise, planted=planted, delta_percent=delta
                )
                keys = {(term, simulation.rows[place].key): place for term, place in planted}
                generator = np.random.default_rng(SEED)
                main = both = beside = held = equal = 0
                for _ in range(studies):
                    found = simulation.study(generator).effects
                    at = {(one.term, one.key): one for one in found}
                    main += at["a", simulation.rows[0].key].verdict in SHOWN
                    both += at["a × b", simulation.rows[5].key].verdict in SHOWN
                    equal += at["b", simulation.rows[10].key].verdict in EQUAL
                    beside += any(
                        one.verdict in SHOWN for key, one in at.items() if key not in keys
                    )
                    held += sum(
                        log_of(at[key].low_percent)
                        <= simulation.truth(key[0], place)
                        <= log_of(at[key].high_percent)
                        for key, place in keys.items()
                    )
                table.add_row(name, noise, str(blocks), f"{percent:g} %", f"{main / studies:.0%}",
                              f"{both / studies:.0%}", bounds(beside, studies),
                              f"{held / studies / len(keys):.1%}",
                              f"{equal / studies:.1%}")  # fmt: skip
    console.print("\nPlanted: `a` in one metric, `a × b` in a second, `b` of exactly δ in a third; "
                  "SD of a boot 1 %, δ = 2 %", style="bold")  # fmt: skip
    console.print(table)


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    console = Console(width=140)
    start = time.monotonic()
    false_effects(studies, console)
    planted_effects(studies, console)
    console.print(f"{studies} studies in each line, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
