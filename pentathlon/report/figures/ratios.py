"""Speeds against the reference: all metrics in one picture, one area or workload, over sizes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill, shorten, wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pentathlon.report.figures.canvas import (
    BAND,
    GRID,
    INK,
    RULE,
    Canvas,
    clipped,
    colour,
    log_axis,
    mark,
    ratio_ticks,
    size,
    speed,
    verdict_colour,
    verdict_legend,
)

SINGLE = 6
"""Workloads with fewer rows share the picture of their area, as in the report."""
STEPS = (1, 10, 2, 1.1, 1.01, 100, 1.5, 5, 1.05, 1.02, 1.2, 20, 50, 1000, 10000)
"""Ticks of the picture of all metrics, the most telling ones first."""
FILLED = frozenset(("faster-by-delta", "faster", "slower", "slower-by-delta"))


@dataclass(frozen=True)
class Point:
    """One metric of one system."""

    row: Mapping[str, Any]
    ratio: float
    low: float | None
    high: float | None
    verdict: str

    @property
    def colour(self) -> str:
        """That of its verdict."""
        return verdict_colour(self.verdict)

    @property
    def filled(self) -> bool:
        """Whether a difference is shown."""
        return self.verdict in FILLED


def points(canvas: Canvas, rows: Sequence[Mapping[str, Any]], system: int) -> list[Point]:
    """The rows that were compared on a system and are scores."""
    found = []
    for row in rows:
        own = row["e"][system]
        if own is None or own[0] is None or row["o"]:
            continue
        verdict = canvas.data["verdicts"][own[5]]
        found.append(Point(row, own[0], own[1], own[2], verdict))
    return found


def overview(canvas: Canvas, name: str) -> Figure | None:
    """Every metric of every area of one system, with the mean of each area."""
    system = canvas.names.index(name)
    every = points(canvas, canvas.data["rows"], system)
    if not every:
        return None
    low, high = canvas.delta
    bend = 2 * math.log(high)

    def place(ratio: float) -> float:
        """Linear within ±δ, logarithmic far from it."""
        return math.asinh(math.log(ratio) / bend)

    means = {area: own for one, area, *own in canvas.data["areas"] if one == system}
    step = min(0.05 if len(every) > 60 else 0.1, 5.6 / len(every))
    areas = list(dict.fromkeys(one.row["a"] for one in every))
    figure = canvas.figure(0.9 + step * len(every) + 0.3 * len(areas))
    axes: Axes = figure.add_subplot()
    axes.axvspan(place(low), place(high), color=BAND, zorder=0, linewidth=0)
    axes.axvline(0, color=RULE, linewidth=0.8, zorder=1)
    y = 0.0
    for area in areas:
        y += 0.16
        mean = means.get(area)
        if mean and mean[1] is not None:
            axes.plot([place(mean[1]), place(mean[2])], [y, y], color=INK, linewidth=1.6)
        if mean and mean[0] is not None:
            axes.plot(place(mean[0]), y, "D", color=INK, markersize=4)
        axes.text(
            0.005, y, area.capitalize(), transform=axes.get_yaxis_transform(),
            fontweight="bold", va="center", zorder=5,
            # Where the interval of the mean begins as far left, it passes behind the name.
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
        y += 0.1
        for one in sorted((one for one in every if one.row["a"] == area), key=lambda p: -p.ratio):
            if one.low is not None and one.high is not None:
                ends = [place(one.low), place(one.high)]
                axes.plot(ends, [y, y], color=one.colour, linewidth=0.5, alpha=0.6)
            axes.plot(place(one.ratio), y, "o", color=one.colour, markersize=2 if step < 0.06
                      else 3, markeredgewidth=0)  # fmt: skip
            y += step
        y += 0.06
    axes.set_ylim(y, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    extent = [place(low), place(high), *(place(one.ratio) for one in every)]
    extent += [place(end) for own in means.values() for end in own[1:] if end]
    least, most = min(extent), max(extent)
    pad = (most - least) * 0.03 + 0.05
    axes.set_xlim(least - pad, most + pad)
    # Half an inch for the text of each tick.
    room = 0.5 * (most - least) / canvas.width
    ticks: list[float] = []
    for size_of_step in STEPS:
        for ratio in _both(size_of_step):
            inside = least - pad <= place(ratio) <= most + pad
            if inside and all(abs(place(other) - place(ratio)) > room for other in ticks):
                ticks.append(ratio)
    axes.set_xticks([place(one) for one in ticks], [speed(one) for one in ticks])
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"speed of {name} against {canvas.names[0]}, faster →")
    verdict_legend(figure, {one.colour for one in every}, 3 if canvas.columns == 1 else 5)
    return figure


def _both(step: float) -> tuple[float, ...]:
    """A step of the axis in both directions: +10 % and −10 %, twice and half."""
    if step == 1:
        return (1.0,)
    return step, (2 - step if step < 2 else 1 / step)


def forest(canvas: Canvas, part: str) -> Figure | None:
    """One area's single metrics, or one workload: a panel for each system."""
    count = Counter(row["w"] for row in canvas.data["rows"])
    rows = [
        row
        for row in canvas.data["rows"]
        if row["w"] == part or (row["a"] == part and count[row["w"]] < SINGLE)
    ]
    sides = [(s, points(canvas, rows, s)) for s in range(1, len(canvas.names))]
    sides = [(s, own) for s, own in sides if own]
    if not sides:
        return None
    most = max(len(own) for _, own in sides)
    figure, every = canvas.panels(len(sides), 0.6 + 0.15 * most, most=2)
    wide = canvas.width / (1 if canvas.columns == 1 else min(2, len(sides)))
    for axes, (s, own) in zip(every, sides, strict=True):
        _forest_panel(canvas, axes, own, wide)
        axes.set_title(f"{canvas.names[s]} against {canvas.names[0]}")
    used = {one.colour for _, own in sides for one in own}
    verdict_legend(figure, used, 3 if canvas.columns == 1 else 5)
    return figure


def _forest_panel(canvas: Canvas, axes: Axes, own: Sequence[Point], wide: float) -> None:
    low, high = canvas.delta
    axes.axvspan(low, high, color=BAND, zorder=0, linewidth=0)
    axes.axvline(1, color=RULE, linewidth=0.8, zorder=1)
    for y, one in enumerate(own):
        if one.low is not None and one.high is not None:
            axes.plot([one.low, one.high], [y, y], color=one.colour, linewidth=1.4,
                      solid_capstyle="butt")  # fmt: skip
        face = one.colour if one.filled else "white"
        axes.plot(one.ratio, y, "o", markersize=3, markerfacecolor=face,
                  markeredgecolor=one.colour, markeredgewidth=0.8)  # fmt: skip
    labels, points_high = _labels(own, int(wide * 9)), 6.0
    if any("\n" in label for label in labels):
        # One size for all of them, in which two lines fit into a row.
        labels, points_high = _labels(own, int(wide * 11)), 4.8
    axes.set_yticks(range(len(own)), labels, fontsize=points_high, linespacing=0.95)
    axes.set_ylim(len(own) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    ends = _ends(canvas, own)
    log_axis(axes, "x", ends, ratio_ticks(*ends, max(3, int(wide / 0.75))), speed)
    axes.set_xlabel(f"speed against {canvas.names[0]}, faster →")


def _labels(own: Sequence[Point], most: int) -> list[str]:
    """Titles with cases, in two lines at most; what all cases share distinguishes no rows."""
    cases = [one.row["c"].split(", ") if one.row["c"] else [] for one in own]
    alike = [part for part in cases[0] if all(part in case for case in cases)]
    shared = alike if len(own) > 1 else []
    one_title = len({one.row["t"] for one in own}) == 1 and len(own) > 1
    labels = []
    for one, case in zip(own, cases, strict=True):
        tail = ", ".join(part for part in case if part not in shared)
        labels.append(_label("" if one_title and tail else one.row["t"], tail, most))
    return labels


def _label(title: str, tail: str, most: int) -> str:
    """In one line, else the case in the second line, else broken where it fits."""
    whole = ": ".join(filter(None, (title, tail)))
    if len(whole) <= most:
        return whole
    if title and tail and len(title) < most and len(tail) <= most:
        return f"{title}:\n{tail}"
    lines = wrap(whole, most)
    if len(lines) > 2 and tail:
        # Rows of one title differ by their cases.
        room = max(2 * most - len(tail) - 4, 8)
        lines = wrap(f"{shorten(title, room, placeholder='…')}: {tail}", most)
    if len(lines) > 2:
        lines = wrap(whole, most, max_lines=2, placeholder="…")
    return "\n".join(lines)


def _ends(canvas: Canvas, own: Sequence[Point]) -> tuple[float, float]:
    low, high = canvas.delta
    ends = [low, high]
    for one in own:
        ends += [end for end in (one.ratio, one.low, one.high) if end]
    pad = max((max(ends) / min(ends)) ** 0.05, 1.002)
    return min(ends) / pad, max(ends) * pad


def over_sizes(canvas: Canvas, part: str) -> Figure | None:
    """Ratios over block sizes with their intervals: a panel for each case."""
    rows = [row for row in canvas.data["rows"] if row["w"] == part and row["x"] is not None]
    several = len({row["t"] for row in rows}) > 1
    every = [(s, one) for s in range(1, len(canvas.names)) for one in points(canvas, rows, s)]
    if not every:
        return None
    groups: dict[str, list[tuple[int, Point]]] = {}
    for s, one in every:
        name = ", ".join(filter(None, (one.row["t"] if several else "", one.row["g"])))
        groups.setdefault(name, []).append((s, one))
    shown = sorted({s for s, _ in every})
    xs = sorted({row["x"] for row in rows})
    figure, panels = canvas.panels(len(groups), 1.5)
    ends = _ends(canvas, [one for _, one in every])
    low, high = canvas.delta
    for axes, (name, own) in zip(panels, groups.items(), strict=True):
        axes.axhspan(low, high, color=BAND, zorder=0, linewidth=0)
        axes.axhline(1, color=RULE, linewidth=0.8, zorder=1)
        for s, one in own:
            at = one.row["x"] * 2 ** ((shown.index(s) - (len(shown) - 1) / 2) * 0.2)
            if one.low is not None and one.high is not None:
                axes.plot([at, at], [one.low, one.high], color=colour(s), linewidth=0.9)
            face = colour(s) if one.filled else "white"
            axes.plot(at, one.ratio, mark(s), markersize=2.8, markerfacecolor=face,
                      markeredgecolor=colour(s), markeredgewidth=0.7)  # fmt: skip
        axes.set_title(clipped(name, canvas.letters(len(groups))))
        log_axis(axes, "y", ends, ratio_ticks(*ends, 6), speed)
        size_axis(axes, xs)
        axes.set_ylabel(f"speed against {canvas.names[0]}")
    canvas.legend(figure, shown)
    return figure


def size_axis(axes: Axes, xs: Sequence[float], label: str = "block size, bytes") -> None:
    """A logarithmic axis of sizes with at most six of them named."""
    powers = range(math.ceil(math.log2(xs[0])), math.floor(math.log2(xs[-1])) + 1)
    ticks = [2.0**power for power in powers] or list(xs[:1])
    log_axis(axes, "x", (xs[0] / 1.3, xs[-1] * 1.3), ticks[:: math.ceil(len(ticks) / 6)], size)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(fill(label, 40))


def factors(canvas: Canvas, _part: str) -> Figure | None:
    """The effects of a factorial design, ranked: a line for each term, a mark for each metric."""
    terms = [one for one in canvas.data.get("factorial") or () if one["e"]]
    if not terms:
        return None
    low, high = canvas.delta
    ends = [low, high]
    figure = canvas.figure(0.7 + 0.32 * len(terms))
    axes: Axes = figure.add_subplot()
    axes.axvspan(low, high, color=BAND, zorder=0, linewidth=0)
    axes.axvline(1, color=RULE, linewidth=0.8, zorder=1)
    used = set()
    for place, term in enumerate(terms):
        own = term["e"]
        for number, (_row, ratio, least, most, verdict, *_) in enumerate(own):
            # Several metrics of one term are spread a little over its height.
            y = place + ((number / (len(own) - 1) - 0.5) * 0.6 if len(own) > 1 else 0.0)
            name = canvas.data["verdicts"][verdict]
            shown = verdict_colour(name)
            used.add(shown)
            ends.append(ratio)
            if name in FILLED and least and most:
                ends += [least, most]
                axes.plot([least, most], [y, y], color=shown, linewidth=0.9)
            axes.plot(ratio, y, "o", markersize=2.8, markeredgecolor=shown, markeredgewidth=0.7,
                      markerfacecolor=shown if name in FILLED else "white")  # fmt: skip
    pad = max((max(ends) / min(ends)) ** 0.05, 1.002)
    limits = min(ends) / pad, max(ends) * pad
    axes.set_yticks(range(len(terms)), [clipped(one["t"], 34) for one in terms])
    axes.set_ylim(len(terms) - 0.4, -0.6)
    log_axis(axes, "x", limits, ratio_ticks(*limits, max(3, int(canvas.width / 0.9))), speed)
    axes.set_xlabel("speed, as a ratio, faster →")
    verdict_legend(figure, used, 3 if canvas.columns == 1 else 5)
    return figure
