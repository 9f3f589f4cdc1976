"""Curves: values over block sizes or another factor, and time over repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pentathlon.report.figures.canvas import (
    INK,
    Canvas,
    above,
    clipped,
    colour,
    compact,
    log_axis,
    log_ticks,
    mark,
    padded,
    scaled,
    value_axis,
)
from pentathlon.report.figures.ratios import size_axis

MANY = 24
"""Points of one line beyond which it has no marks."""


def line(axes: Axes, system: int, xs: Sequence[float], ys: Sequence[float], count: int) -> None:
    """One system's curve; systems that lie upon each other stay visible by their widths."""
    width = 0.9 + 0.9 * max(0, count - 1 - system)
    axes.plot(xs, ys, color=colour(system), linewidth=width, marker=mark(system) if len(xs) <= MANY
              else None, markersize=2.6, markeredgewidth=0, alpha=0.9)  # fmt: skip


def curve(canvas: Canvas, part: str) -> Figure | None:
    """Bandwidth or latency over block sizes, with the caches that the systems claim."""
    rows = [row for row in canvas.data["rows"] if row["w"] == part and row["x"] is not None]
    several = len({row["t"] for row in rows}) > 1
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        name = ", ".join(filter(None, (row["t"] if several else "", row["g"])))
        groups.setdefault(name, []).append(row)
    if not groups:
        return None
    shown: set[int] = set()
    figure, panels = canvas.panels(len(groups), 1.7)
    for axes, (name, own) in zip(panels, groups.items(), strict=True):
        own.sort(key=lambda row: row["x"])
        values = [y for row in own for y in row["m"] if y is not None]
        if not values:
            axes.set_visible(False)
            continue
        divisor, unit = scaled(own[0]["u"], values)
        for s in range(len(canvas.names)):
            pairs = [(row["x"], row["m"][s] / divisor) for row in own if row["m"][s] is not None]
            if pairs:
                shown.add(s)
                line(axes, s, [x for x, _ in pairs], [y for _, y in pairs], len(canvas.names))
        xs = sorted({row["x"] for row in own})
        value_axis(axes, [one / divisor for one in values], unit)
        size_axis(axes, xs)
        _claimed(canvas, axes, xs)
        axes.set_title(clipped(name, canvas.letters(len(groups))), pad=14)
    canvas.legend(figure, shown)
    return figure


def _claimed(canvas: Canvas, axes: Axes, xs: Sequence[float]) -> None:
    claimed = {(name, size) for own in canvas.data["caches"] for name, size in own}
    for name, size in sorted(claimed, key=lambda one: one[1]):
        if xs[0] <= size <= xs[-1]:
            _rule(axes, size, name)


def _rule(axes: Axes, at: float, name: str) -> None:
    axes.axvline(at, color=INK, linewidth=0.6, linestyle=(0, (3, 2)), alpha=0.7)
    axes.text(at, 1.01, name, transform=axes.get_xaxis_transform(), ha="center", fontsize=5.5)


def scaling(canvas: Canvas, part: str) -> Figure | None:
    """Time per repetition over repetitions: a panel for each system, a line for each style."""
    lines = [one for one in canvas.data["scalings"] if one["w"] == part]
    per = [(one, [(x, y / x) for x, y in one["p"] if x > 0]) for one in lines]
    per = [(one, own) for one, own in per if own]
    if not per:
        return None
    systems = sorted({one["s"] for one, _ in per})
    values = [y for _, own in per for _, y in own]
    divisor, unit = scaled(per[0][0]["u"], values)
    styles = list(dict.fromkeys(one["c"] for one, _ in per))
    figure, panels = canvas.panels(len(systems), 1.8)
    for axes, s in zip(panels, systems, strict=True):
        for one, own in per:
            if one["s"] == s:
                axes.plot(
                    [x for x, _ in own], [y / divisor for _, y in own], color=colour(s),
                    linewidth=1, marker=mark(styles.index(one["c"])), markersize=3,
                    markerfacecolor="white", markeredgewidth=0.8,
                )  # fmt: skip
        xs = [x for _, own in per for x, _ in own]
        ends = padded(xs, 0.02)
        log_axis(axes, "x", ends, log_ticks(*ends), compact)
        value_axis(axes, [one / divisor for one in values], f"{unit} per repetition")
        axes.set_xlabel("repetitions")
        axes.set_title(canvas.names[s])
    handles = [
        Line2D([], [], color=INK, marker=mark(place), markersize=3, markerfacecolor="white",
               linewidth=1, label=style)
        for place, style in enumerate(styles)
    ]  # fmt: skip
    above(figure, handles, 3 if canvas.columns == 1 else 6)
    return figure


def sweep(canvas: Canvas, part: str) -> Figure | None:
    """Values over a numeric factor, with derived figures as bands."""
    found = next((one for one in canvas.data["sweeps"] if one["w"] == part), None)
    if found is None:
        return None
    panels = [one for one in found["p"] if any(y is not None for own in one["l"] for _, y in own)]
    if not panels:
        return None
    shown: set[int] = set()
    figure, every = canvas.panels(len(panels), 1.7)
    for axes, one in zip(every, panels, strict=True):
        values = [y for own in one["l"] for _, y in own if y is not None]
        divisor, unit = scaled(one["u"], values)
        xs = sorted({x for own in one["l"] for x, y in own if y is not None})
        for s, low, high, _best in one["m"]:
            axes.axvspan(low, high if high > low else low * 1.19, color=colour(s), alpha=0.12,
                         linewidth=0)  # fmt: skip
        for s, own in enumerate(one["l"]):
            if own:
                shown.add(s)
                ys = [float("nan") if y is None else y / divisor for _, y in own]
                line(axes, s, [x for x, _ in own], ys, len(canvas.names))
        for at, label in one["r"]:
            if xs[0] <= at <= xs[-1]:
                _rule(axes, at, label.partition(" ")[0])
        value_axis(axes, [y / divisor for y in values], unit, linear=unit == "%")
        size_axis(axes, xs, found["x"])
        axes.set_title(clipped(one["t"], canvas.letters(len(panels))), pad=14 if one["r"] else 6)
    canvas.legend(figure, shown)
    return figure
