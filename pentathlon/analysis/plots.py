"""Pictures by Matplotlib: a forest of intervals, and one metric boot by boot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import polars as pl

from pentathlon.analysis.frames import need
from pentathlon.evaluate.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UP, DOWN, EVEN, LOUD, OPEN = "#1c62a3", "#b04a0a", "#47705c", "#8a2b62", "#8a919a"
BAND, RULE = "#efece4", "#b9b5ab"
SYSTEMS = ("#4a5058", "#0b7a75", "#8a4fb5", "#b07d00", "#c2416b", "#3f7d20")
MARKS = ("o", "s", "^", "D", "v", "P")
"""Systems differ by their marks too, so that a print without colours is read the same."""
ROW_INCHES = 0.22
LONGEST_TITLE = 60


def colour(verdict: str) -> str:
    """The colour of a verdict, as in the report."""
    one = Verdict(verdict)
    if one.sign:
        return UP if one.sign > 0 else DOWN
    if one in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE):
        return EVEN
    return LOUD if one in (Verdict.UNSTABLE, Verdict.INVALID) else OPEN


def forest(table: pl.DataFrame, titles: Mapping[str, str], delta: float, post_hoc: str) -> Figure:
    """The interval of each row, and the region of equivalence.

    Args:
        table: rows of `Comparison.table` of one system, each with an interval.
        titles: key -> what is measured.
        delta: half the width of the region of equivalence, in percent.
        post_hoc: is written below the picture; "" for the planned judgement.
    """
    rows = table.to_dicts()
    figure, axes = _figure(7.5, 1.4 + ROW_INCHES * len(rows))
    axes.axvspan(-delta, delta, color=BAND, zorder=0, linewidth=0)
    axes.axvline(0, color=RULE, linewidth=1, zorder=1)
    seen: dict[str, str] = {}
    for place, row in enumerate(rows):
        used = colour(row["verdict"])
        seen.setdefault(row["verdict"], used)
        low, high = row["low_percent"], row["high_percent"]
        axes.plot([low, high], [place, place], color=used, linewidth=1.6, solid_capstyle="butt")
        axes.plot(row["speed_percent"], place, "o", color=used, markersize=4)
    names = [_clipped(titles.get(row["key"], row["key"])) for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x", color=BAND, linewidth=0.8)
    system, reference = rows[0]["system"], rows[0]["reference"]
    axes.set_xlabel(
        f"speed of {system}, difference from {reference} in % (+ is faster)", fontsize=8
    )
    lines = need("matplotlib.lines", "pictures")
    handles = [
        lines.Line2D([], [], color=used, marker="o", markersize=4, label=verdict)
        for verdict, used in seen.items()
    ]
    axes.legend(
        handles=handles, ncols=min(4, len(handles)), fontsize=8, frameon=False,
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2,
    )  # fmt: skip
    if post_hoc:
        text = "\n".join(wrap(post_hoc, 130))
        figure.supxlabel(text, fontsize=6, color=LOUD, x=0.01, ha="left")
    return figure


def boots(table: pl.DataFrame, systems: Sequence[str], paired: bool) -> Figure:
    """The mean of each boot of one metric; lines join the boots of a block.

    Args:
        table: rows of `Result.boots` of one metric.
        systems: the systems, in the order of the axis.
    """
    shown = [system for system in systems if system in table["system"]]
    figure, axes = _figure(1.8 + 1.1 * len(shown), 3.6)
    if paired:
        for (_block,), rows in table.group_by(["block"], maintain_order=True):
            of = dict(zip(rows["system"], rows["value"], strict=True))
            here = [place for place, system in enumerate(shown) if system in of]
            axes.plot(here, [of[shown[place]] for place in here], color=RULE, linewidth=0.8)
    for place, system in enumerate(shown):
        values = table.filter(pl.col("system") == system)["value"].to_list()
        axes.plot([place] * len(values), values, MARKS[place % len(MARKS)], markersize=5,
                  color=SYSTEMS[place % len(SYSTEMS)], alpha=0.8, markeredgewidth=0)  # fmt: skip
    axes.set_xticks(range(len(shown)), shown, fontsize=8)
    axes.set_xlim(-0.5, len(shown) - 0.5)
    _value_axis(axes, table)
    return figure


def samples(table: pl.DataFrame, systems: Sequence[str]) -> Figure:
    """Every sample of one metric in the order of the measurement, boot by boot.

    Args:
        table: rows of `Result.samples` of one metric.
        systems: the systems, in the order of the legend.
    """
    figure, axes = _figure(7.5, 3.6)
    ordered = table.with_row_index("place")
    for number, system in enumerate(one for one in systems if one in table["system"]):
        own = ordered.filter(pl.col("system") == system)
        axes.plot(own["place"].to_list(), own["value"].to_list(), MARKS[number % len(MARKS)],
                  markersize=3, color=SYSTEMS[number % len(SYSTEMS)], label=system,
                  markeredgewidth=0)  # fmt: skip
    begins = ordered.filter(pl.col("boot") != pl.col("boot").shift(1))["place"].to_list()
    for place in begins:
        axes.axvline(place - 0.5, color=BAND, linewidth=0.8, zorder=0)
    axes.set_xlabel("sample, in the order of the measurement; lines are boots", fontsize=8)
    axes.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4,
                borderaxespad=0.2)  # fmt: skip
    _value_axis(axes, table)
    return figure


def _value_axis(axes: Axes, table: pl.DataFrame) -> None:
    first = table.row(0, named=True)
    case = f" [{first['case']}]" if first["case"] else ""
    axes.set_title(f"{first['workload']} {first['metric']}{case}", fontsize=8, loc="left", pad=20)
    axes.set_ylabel(f"{first['unit']} ({first['direction']} is better)", fontsize=8)
    axes.grid(axis="y", color=BAND, linewidth=0.8)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure that no window shows; sizes in inches."""
    figures = need("matplotlib.figure", "pictures")
    figure: Figure = figures.Figure(figsize=(width, height), layout="constrained")
    axes: Axes = figure.add_subplot()
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"
