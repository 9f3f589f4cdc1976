"""Every sample of one metric in the order of the boots."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pentathlon.report.figures.canvas import (
    BAND,
    OPEN,
    RULE,
    Canvas,
    clipped,
    colour,
    compact,
    log_axis,
    log_ticks,
    mark,
    padded,
    scaled,
)
from pentathlon.report.figures.ratios import points

MOST_NAMED = 25
"""More numbers of blocks than these would touch each other."""


def strongest(canvas: Canvas) -> int | None:
    """The row with the strongest difference that is shown, else the first with samples."""
    best: tuple[float, int] | None = None
    places = {id(row): place for place, row in enumerate(canvas.data["rows"])}
    for s in range(1, len(canvas.names)):
        for one in points(canvas, canvas.data["rows"], s):
            strength = abs(math.log(one.ratio))
            if one.filled and (best is None or strength > best[0]):
                best = strength, places[id(one.row)]
    if best is not None:
        return best[1]
    return next((place for place, own in enumerate(canvas.data["samples"]) if own), None)


def every_sample(canvas: Canvas, place: int) -> Figure | None:
    """Hollow: warm-up, or a step that was cut off. Band: ±1 % around the reference's mean."""
    row: dict[str, Any] = canvas.data["rows"][place]
    boots = canvas.data["samples"][place]
    values = [y for _, _, _, _, _, *own in boots for y in own if y is not None]
    if not values:
        return None
    divisor, unit = scaled(row["u"], values)
    figure = canvas.figure(2.4)
    axes = figure.add_subplot()
    x, block = 0, None
    begins: dict[int, int] = {}
    shown = set()
    for s, number, _order, warm, counted, *own in boots:
        if number != block:
            if block is not None:
                axes.axvline(x - 0.5, color=RULE, linewidth=0.5, linestyle=(0, (2, 2)))
            begins[number] = x
            block = number
        shown.add(s)
        for index, y in enumerate(own):
            if y is None:
                continue
            face = colour(s) if counted and index >= warm else "white"
            axes.plot(x, y / divisor, mark(s), markersize=2.2, markerfacecolor=face,
                      markeredgecolor=colour(s), markeredgewidth=0.4)  # fmt: skip
            x += 1
        x += 1
    if row["m"][0] is not None:
        centre = row["m"][0] / divisor
        axes.axhspan(centre * 0.99, centre * 1.01, color=BAND, zorder=0, linewidth=0)
    least, most = min(values), max(values)
    if least > 0 and most / least > 8:
        ends = padded([least / divisor, most / divisor])
        log_axis(axes, "y", ends, log_ticks(*ends), compact)
    _name_blocks(axes, begins, x)
    axes.set_xlabel("samples in the order of the boots, by block")
    axes.set_ylabel(f"{unit}, {'more' if row['h'] else 'less'} is better")
    title = f"{row['t']}, {row['c']}" if row["c"] else row["t"]
    axes.set_title(clipped(title, 52 if canvas.columns == 1 else 110))
    canvas.legend(figure, shown)
    return figure


def _name_blocks(axes: Axes, begins: Mapping[int, int], end: int) -> None:
    """The number of each block below its middle, of every few blocks where they are many."""
    ends = [*list(begins.values())[1:], end]
    middles = [(first + last) / 2 for first, last in zip(begins.values(), ends, strict=True)]
    every = math.ceil(len(begins) / MOST_NAMED)
    names = [str(number + 1) for number in begins]
    axes.set_xticks(middles[::every], names[::every], fontsize=5.5, color=OPEN)
    axes.tick_params(axis="x", length=0)
