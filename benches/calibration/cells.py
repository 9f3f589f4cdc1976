"""The cells of the calibration: which design on which noise, and how often it was right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.study.stopping import DEFAULT_LOOKS, PRECISION_MINIMUM

from .noise import NOISES, Noise
from .peers import PEERS
from .vectorised import Verdicts, judge, judge_precision, log_ratios

SEED = 20030101
TRIALS = 10_000
BOOT_SECONDS = 60.0
"""Time of one boot with its workloads, for machine-hours; only ratios between designs matter."""
CHUNK = 2_500
EFFECTS = (0.01, 0.02, 0.05)
PRECISION_PERCENT, PRECISION_MAXIMUM = 0.5, 80

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """How many blocks, and when a study stops."""

    name: str
    blocks: int
    judge: Callable[[Values, float], Verdicts]


DESIGNS = (
    Design("5 blocks", 5, lambda ratios, rate: judge(ratios, (5,), rate)),
    Design("10 blocks", 10, lambda ratios, rate: judge(ratios, (10,), rate)),
    Design("30 blocks", 30, lambda ratios, rate: judge(ratios, (30,), rate)),
    Design(
        "four looks", DEFAULT_LOOKS[-1], lambda ratios, rate: judge(ratios, DEFAULT_LOOKS, rate)
    ),
    Design(
        f"precision ±{PRECISION_PERCENT} %",
        PRECISION_MAXIMUM,
        lambda ratios, rate: judge_precision(ratios, PRECISION_PERCENT, PRECISION_MINIMUM, rate),
    ),
)


Place = tuple[str, str, str, float, float]
"""what, design, noise, rate, effect"""


@dataclass(frozen=True)
class Cell:
    """One number of the calibration, with its exact 95 % bounds.

    what: "false alarms", "coverage" or "power".
    """

    what: str
    design: str
    noise: str
    rate: float
    effect: float
    trials: int
    hits: int
    share: float
    low: float
    high: float
    unstable: float
    """Share of studies called unstable."""
    blocks: float
    """Mean number of blocks, or of boots of each system for a peer's rule."""

    def json(self) -> dict[str, Any]:
        """The cell as plain data."""
        return asdict(self)


def cells(trials: int = TRIALS) -> Iterator[Cell]:
    """Every cell, always in the same order and with the same random numbers."""
    for place, noise in enumerate(NOISES.values()):
        yield from _ours(noise, place, trials)
        if not noise.one_sided:
            yield from _peers(noise, place, trials)


def _ours(noise: Noise, place: int, trials: int) -> Iterator[Cell]:
    most = max(design.blocks for design in DESIGNS)
    chunks = [
        log_ratios(*noise.draw(np.random.default_rng([SEED, place, number]), size, most))
        for number, size in enumerate(_sizes(trials))
    ]
    ratios = np.concatenate(chunks)
    for design in DESIGNS:
        own = ratios[:, : design.blocks]
        if not noise.one_sided:
            for rate in (0.05, 0.01):
                found = design.judge(own, rate)
                cell = ("false alarms", design.name, noise.name, rate, 0.0)
                yield _cell(cell, found.different, found)
        for effect in (0.0, *EFFECTS):
            truth = noise.bias + math.log1p(effect)
            found = design.judge(own + math.log1p(effect), 0.05)
            covered = (found.low <= truth) & (truth <= found.high)
            if effect in {0.0, 0.02}:
                cell = ("coverage", design.name, noise.name, 0.05, effect)
                yield _cell(cell, covered | found.unstable, found)
            if effect and not noise.one_sided:
                cell = ("power", design.name, noise.name, 0.05, effect)
                yield _cell(cell, found.different & (found.mean > 0), found)


def _peers(noise: Noise, place: int, trials: int) -> Iterator[Cell]:
    for rule in PEERS.values():
        for effect in (0.0, *EFFECTS):
            claims = []
            for number, size in enumerate(_sizes(trials)):
                generator = np.random.default_rng([SEED, place, number, 1])
                reference, system = noise.draw(generator, size, rule.boots, rule.iterations)
                system = system / (1.0 + effect)
                right = system.mean(axis=(1, 2)) < reference.mean(axis=(1, 2))
                claims.append(rule.claims(reference, system) & (right | (effect == 0.0)))
            what = "power" if effect else "false alarms"
            cell = (what, rule.name, noise.name, 0.05, effect)
            yield _cell(cell, np.concatenate(claims), rule.boots)


def _sizes(trials: int) -> list[int]:
    return [min(CHUNK, trials - start) for start in range(0, trials, CHUNK)]


def _cell(place: Place, hits: npt.NDArray[np.bool_], found: Verdicts | int) -> Cell:
    what, design, noise, rate, effect = place
    count = int(hits.sum())
    low, high = clopper_pearson(count, len(hits))
    return Cell(
        what=what,
        design=design,
        noise=noise,
        rate=rate,
        effect=effect,
        trials=len(hits),
        hits=count,
        share=count / len(hits),
        low=low,
        high=high,
        unstable=0.0 if isinstance(found, int) else float(found.unstable.mean()),
        blocks=float(found) if isinstance(found, int) else float(found.blocks.mean()),
    )
