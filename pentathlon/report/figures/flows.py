"""Experiments between two hosts: over offered load, jitter over time, file tasks over links."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pentathlon.report.figures.canvas import (
    DASHES,
    GRID,
    INK,
    RULE,
    Canvas,
    above,
    clipped,
    colour,
    mark,
    scaled,
    value_axis,
)


def overlay(canvas: Canvas, part: str) -> Figure | None:
    """Every metric over offered load; dashes and hollow marks beside a competitor."""
    found = next((one for one in canvas.data.get("overlays", ()) if one["w"] == part), None)
    if found is None or not found["p"]:
        return None
    figure, panels = canvas.panels(len(found["p"]), 1.7)
    pairs: set[tuple[int, int]] = set()
    for axes, one in zip(panels, found["p"], strict=True):
        pairs |= _overlay_panel(axes, one, canvas.letters(len(found["p"])))
    handles = [
        Line2D([], [], color=colour(s), linestyle=DASHES[c % len(DASHES)], marker=mark(s),
               markersize=3, markerfacecolor="white" if c else colour(s), linewidth=1.2,
               label=f"{canvas.names[s]}, "
               + ("alone" if found["c"][c] == "none" else f"beside {found['c'][c]}"))
        for s, c in sorted(pairs)
    ]  # fmt: skip
    if handles:
        above(figure, handles, 1 if canvas.columns == 1 else 3)
    return figure


def _overlay_panel(axes: Axes, one: dict[str, Any], letters: int) -> set[tuple[int, int]]:
    values = [y for _, _, own in one["l"] for _, y, *_ in own if y is not None]
    if one["g"]:
        values = [y for y in values if y > 0]
    paper = f" ({one['f']})" if one["f"] else ""
    axes.set_title(clipped(one["t"], letters - len(paper)) + paper)
    if not values:
        axes.set_visible(False)
        return set()
    divisor, unit = (1e3, "thousands per second") if one["u"] == "1/s" else scaled(one["u"], values)
    value_axis(axes, [y / divisor for y in values], unit, linear=not one["g"])
    bottom, top = axes.get_ylim()
    pairs = set()
    for s, c, own in one["l"]:
        pairs.add((s, c))
        drawn = [p for p in own if p[1] is None or not one["g"] or p[1] > 0]
        ys = [float("nan") if y is None else y / divisor for _, y, *_ in drawn]
        axes.plot(
            [p[0] for p in drawn], ys, color=colour(s), linewidth=1, marker=mark(s), markersize=2.8,
            linestyle=DASHES[c % len(DASHES)], markerfacecolor="white" if c else colour(s),
            markeredgewidth=0.8,
        )  # fmt: skip
        for x, _y, low, high in drawn:
            if low is not None and high is not None:
                ends = [min(max(end / divisor, bottom), top) for end in (low, high)]
                axes.plot([x, x], ends, color=colour(s), linewidth=0.7, alpha=0.7)
    if one["o"]:
        most = min(max(p[0] for _, _, own in one["l"] for p in own), top)
        axes.plot([0, most], [0, most], color=INK, linewidth=0.7, linestyle=(0, (1, 3)))
    if one.get("z"):
        axes.axhline(0, color=RULE, linewidth=0.8)
    axes.set_ylim(bottom, top)
    axes.set_xlim(left=0)
    axes.set_xlabel(fill(one["x"], 36))
    return pairs


def jitter(canvas: Canvas, part: str) -> Figure | None:
    """The jitter of flows over their time: a line for each trial."""
    found = canvas.data.get("jitters") or {}
    if found.get("w") != part:
        return None
    figure, panels = canvas.panels(len(found["p"]), 1.4)
    for axes, one in zip(panels, found["p"], strict=True):
        values = [ms for _, _, own in one["l"] for _, ms in own]
        factor, unit = (1e3, "µs") if max(values) < 1 else (1.0, "ms")
        for s, _block, own in one["l"]:
            axes.plot([x for x, _ in own], [ms * factor for _, ms in own], color=colour(s),
                      linewidth=0.8, drawstyle="steps-post")  # fmt: skip
        value_axis(axes, [ms * factor for ms in values], unit, linear=True)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds since the first arrival")
        axes.set_title(clipped(one["t"], canvas.letters(len(found["p"]))))
    canvas.legend(figure, {s for one in found["p"] for s, *_ in one["l"]})
    return figure


def file_services(canvas: Canvas, part: str) -> Figure | None:
    """One file task: the time over each link, then throughput and speed-up over all of them."""
    services = canvas.data.get("file_services", ())
    found = next((one for one in services if one["w"] == part), None)
    if found is None:
        return None
    links = [
        (name, [row for row in found["t"] if row[0] == place])
        for place, name in enumerate(found["l"])
    ]
    links = [(name, rows) for name, rows in links if rows]
    wide = [
        (title, unit, found[key])
        for title, unit, key in (
            ("Throughput", "Mbit/s", "r"),
            (f"Speed-up over {canvas.names[0]}", "times", "f"),
        )
        if found[key]
    ]
    if not links and not wide:
        return None
    figure, panels = canvas.panels(len(links) + len(wide), 1.6)
    for axes, (name, rows) in zip(panels, links, strict=False):
        _bars(axes, rows)
        axes.set_title(clipped(name, canvas.letters(len(panels))))
    for axes, (title, unit, rows) in zip(panels[len(links) :], wide, strict=True):
        _over_links(axes, rows, found["l"], unit)
        axes.set_title(clipped(title, canvas.letters(len(panels))))
    canvas.legend(figure, {row[1] for row in found["t"]})
    return figure


def _bars(axes: Axes, rows: list[list[Any]]) -> None:
    """[link, system, time, low, high, least time]."""
    top = max(max(row[2], min(row[4] or 0, 1.6 * row[2])) for row in rows) * 1.08
    for place, (_link, s, value, low, high, least) in enumerate(rows):
        axes.bar(place, value, 0.6, color=colour(s), alpha=0.8)
        if low is not None and high is not None:
            axes.plot([place, place], [max(0, low), min(top, high)], color=INK, linewidth=0.9)
        if least:
            axes.plot([place - 0.3, place + 0.3], [least, least], color=INK, linewidth=1.2,
                      linestyle=(0, (3, 2)))  # fmt: skip
    axes.set_xticks([])
    axes.set_ylim(0, top)
    axes.set_ylabel("s")
    axes.grid(axis="y", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def _over_links(axes: Axes, rows: list[list[Any]], links: list[str], unit: str) -> None:
    shown = sorted({row[1] for row in rows})
    value_axis(axes, [row[2] for row in rows], unit)
    bottom, top = axes.get_ylim()
    for link, s, value, low, high, *_ in rows:
        at = link + (shown.index(s) - (len(shown) - 1) / 2) * 0.16
        if low is not None and high is not None:
            ends = [min(max(end, bottom), top) for end in (low, high)]
            axes.plot([at, at], ends, color=colour(s), linewidth=0.9)
        axes.plot(at, value, mark(s), color=colour(s), markersize=3.2)
    axes.set_ylim(bottom, top)
    axes.set_xticks(range(len(links)), [one.replace("-", "\n") for one in links], fontsize=5.5)
    axes.set_xlim(-0.5, len(links) - 0.5)
