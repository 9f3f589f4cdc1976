"""Systems that were installed several times: with the install as the unit, and without.

An install fixes something for all of its boots. The level that counts is the highest: the means of
the installs, not the blocks (`pentathlon.evaluate.estimators.paired`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.estimators.binomial import clopper_pearson

from .vectorised import judge

SEED = 20030101
TRIALS = 10_000
BOOT_SD = 0.015
"""Standard deviation of a block's log-ratio within one pair of installs."""
DESIGNS = ((4, 5), (6, 5), (10, 3))
"""Installs, blocks of each."""
INSTALL_SDS = (0.0, 0.005, 0.01, 0.02)
"""Standard deviation of the log-ratio between installs."""


@dataclass(frozen=True)
class InstallCell:
    """False alarms at 5 % between one system and itself, both installed anew so many times."""

    installs: int
    blocks: int
    install_sd: float
    trials: int
    alarms: float
    low: float
    high: float
    blind: float
    """False alarms if the blocks were counted as independent."""


def cells(trials: int = TRIALS) -> Iterator[InstallCell]:
    """Every design, always with the same random numbers."""
    for place, (installs, each) in enumerate(DESIGNS):
        for number, spread in enumerate(INSTALL_SDS):
            generator = np.random.default_rng([SEED, 8, place, number])
            fixed = spread * generator.standard_normal((trials, installs, 1))
            ratios = fixed + BOOT_SD * generator.standard_normal((trials, installs, each))
            counted = judge(ratios.mean(axis=2), (installs,), 0.05).different
            blind = judge(ratios.reshape(trials, -1), (installs * each,), 0.05).different
            low, high = clopper_pearson(int(counted.sum()), trials)
            yield InstallCell(
                installs=installs,
                blocks=installs * each,
                install_sd=spread,
                trials=trials,
                alarms=float(counted.mean()),
                low=low,
                high=high,
                blind=float(blind.mean()),
            )


def table(found: list[InstallCell]) -> str:
    """The cells as a Markdown table."""
    lines = [
        "| installs | blocks | SD between installs | false alarms, % | if blocks were counted, % |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.installs} | {one.blocks} | {one.install_sd * 100:g} % | {one.alarms * 100:.1f} "
        f"({one.low * 100:.1f}–{one.high * 100:.1f}) | {one.blind * 100:.1f} |"
        for one in found
    ]
    return "\n".join(lines)
