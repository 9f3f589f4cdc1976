"""The picture of docs/calibration.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from .cells import DESIGNS, Cell
from .noise import NOISES
from .peers import PEERS

OURS, THEIRS, TARGET = "#1b6ca8", "#b0562c", "#555555"


def draw(found: Sequence[Cell], file: Path) -> None:
    """False alarms of every rule (left) and coverage of our intervals (right), with bounds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 6.4), width_ratios=(1.15, 1))
    designs = [design.name for design in DESIGNS]
    rules = [*designs, *PEERS]
    noises = [name for name, noise in NOISES.items() if not noise.one_sided]
    for place, rule in enumerate(reversed(rules)):
        cells = [
            one
            for one in found
            if (one.what, one.design, one.rate) == ("false alarms", rule, 0.05)
            and one.noise in noises
        ]
        _points(left, cells, place, OURS if rule in designs else THEIRS)
    left.axvline(0.06, color=TARGET, lw=0.8, ls="--")
    left.set_xscale("log")
    left.set_xlim(0.01, 1.05)
    ticks = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    left.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    left.minorticks_off()
    left.set_yticks(range(len(rules)), list(reversed(rules)))
    left.set_title("One system under two names: called different (level 5 %)", fontsize=10)
    left.set_xlabel(f"one point for each kind of noise ({len(noises)}), dashed: 6 %")
    names = list(NOISES)
    for place, noise in enumerate(reversed(names)):
        cells = [
            one for one in found if (one.what, one.noise, one.effect) == ("coverage", noise, 0.0)
        ]
        _points(right, cells, place, OURS)
    right.axvline(0.94, color=TARGET, lw=0.8, ls="--")
    right.set_xlim(0.90, 1.0)
    right.set_xticks(
        (0.9, 0.92, 0.94, 0.96, 0.98, 1.0), ["90%", "92%", "94%", "96%", "98%", "100%"]
    )
    right.set_yticks(range(len(names)), list(reversed(names)))
    right.set_title("Coverage of 95 % intervals, or the verdict unstable", fontsize=10)
    right.set_xlabel(f"one point for each design ({len(designs)}), dashed: 94 %")
    for axes in (left, right):
        axes.grid(axis="x", color="#dddddd", lw=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _points(axes: plt.Axes, cells: Sequence[Cell], place: int, colour: str) -> None:
    spread = 0.62 / max(1, len(cells) - 1)
    for number, one in enumerate(cells):
        height = place + 0.31 - spread * number
        axes.plot([one.low, one.high], [height, height], color=colour, lw=1, alpha=0.6)
        axes.plot(one.share, height, "o", color=colour, ms=3.5)
