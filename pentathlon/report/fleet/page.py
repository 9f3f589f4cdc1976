"""A fleet as one HTML file that needs nothing else, with a forest plot for each row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment

from pentathlon import __version__
from pentathlon.evaluate.display import is_known, signed_percent
from pentathlon.evaluate.estimators.ratio import log_of
from pentathlon.evaluate.fleet.model import Fleet, FleetMean, FleetRowResult
from pentathlon.report.answer import sentence
from pentathlon.report.fleet import sentences
from pentathlon.report.html.labels import Labels
from pentathlon.report.html.page import asset, environment
from pentathlon.report.html.view import GLYPHS
from pentathlon.report.intervals import percent_interval
from pentathlon.store.files import write_whole

WIDTH = 400.0
STEP = 18
MOST_PLOTTED = 60
"""Machines of a plot; with more of them the table alone has all."""


@dataclass(frozen=True)
class Mark:
    """One line of a forest plot: places in units of the picture."""

    name: str
    y: float
    x: float
    left: float
    right: float
    text: str
    odd: bool
    fleet: bool


@dataclass(frozen=True)
class Plot:
    """A forest plot."""

    marks: tuple[Mark, ...]
    zero: float
    height: int
    low_text: str
    high_text: str


def write(fleet: Fleet, path: Path) -> None:
    """Write the page.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, render(fleet))


def render(fleet: Fleet) -> str:
    """The page; the same fleet gives the same bytes."""
    level = 1.0 - fleet.confidence
    template = _environment().get_template("fleet.html.j2")
    return template.render(
        version=__version__,
        fleet=fleet,
        style=asset("report.css") + asset("fleet.css"),
        glyphs=GLYPHS,
        systems=[
            {
                "mean": mean,
                "sentence": sentences.mean_sentence(fleet, mean),
                "counts": sentences.counts(fleet, mean.system),
                "plot": plot(mean),
                "rows": [
                    {
                        "row": row,
                        "plot": plot(row),
                        "tau": sentences.tau_text(row.spread),
                        "share": sentences.i_squared_text(row.spread),
                        "disagree": sentences.disagree_text(row, level),
                    }
                    for row in fleet.rows_of(mean.system)
                ],
            }
            for mean in fleet.means
        ],
        footer=sentences.footer(fleet),
        label=Labels(),
    )


def plot(row: FleetRowResult | FleetMean) -> Plot | None:
    """The forest plot of a row; None where no machine has an interval."""
    lines = [
        (one.machine, one.percent, one.low_percent, one.high_percent, one.p_odd is not None, False)
        for one in row.machines
        if one.counted and one.percent is not None
    ][:MOST_PLOTTED]
    if row.percent is not None:
        lines.append(("fleet", row.percent, row.low_percent, row.high_percent, False, True))
    if not lines:
        return None
    # Ends that are not known would make everything else a point.
    centres = [log_of(percent) for _, percent, *_ in lines]
    own = [
        log_of(end)
        for _, _, low, high, _, whole in lines
        if not whole
        for end in (low, high)
        if end is not None and is_known(end)
    ]
    span = max([abs(value) for value in (*centres, *own) if math.isfinite(value)] + [0.01]) * 1.1

    def place(log: float) -> float:
        return round((min(max(log, -span), span) + span) / (2 * span) * WIDTH, 1)

    marks = tuple(
        Mark(
            name=name,
            y=STEP * number + STEP / 2,
            x=place(log_of(percent)),
            left=place(log_of(percent if low is None else low)),
            right=place(log_of(percent if high is None else high)),
            text=f"{signed_percent(percent)} % {percent_interval(low, high)}",
            odd=odd,
            fleet=whole,
        )
        for number, (name, percent, low, high, odd, whole) in enumerate(lines)
    )
    ends = (signed_percent(math.expm1(edge) * 100) for edge in (-span, span))
    return Plot(marks, WIDTH / 2, STEP * len(marks), *(f"{end} %" for end in ends))


@cache
def _environment() -> Environment:
    return environment(
        signed=signed_percent, interval=lambda one: percent_interval(*one), sentence=sentence
    )
