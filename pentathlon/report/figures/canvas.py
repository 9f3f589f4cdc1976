"""What all pictures for papers share: sizes, colours, axes, and panels beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from pentathlon.evaluate.display import SCALES, bytes_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = {1: 3.35, 2: 6.9}
"""Inches of a picture over one and over two columns of a page (85 and 175 mm)."""
UP, DOWN, EVEN, LOUD, OPEN = "#1c62a3", "#b04a0a", "#47705c", "#8a2b62", "#6f767e"
INK, BAND, RULE, GRID = "#1f2328", "#efece4", "#b9b5ab", "#e2dfd8"
SYSTEMS = ("#4a5058", "#0b7a75", "#8a4fb5", "#b07d00", "#c2416b", "#3f7d20")
MARKS = ("o", "s", "D", "^", "*", "P")
"""Systems differ by their marks too, so that a print without colours is read the same."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 3)), (0, (2, 2)), (0, (7, 2, 2, 2)), (0, (1, 3)))

RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.labelsize": 7,
    "axes.titlesize": 7,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": INK,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
    # TrueType as it is, and in SVG outlines: a picture looks the same where no font is installed.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # The same picture has the same bytes.
    "svg.hashsalt": "pentathlon",
    # Titles and cases are texts of others, and no formulas.
    "text.parse_math": False,
}
"""Settings that hold while pictures are drawn and written."""


MARK_SIZE = 5.5
"""Points, of the mark below a picture."""


@dataclass(frozen=True)
class Canvas:
    """What the pictures of one result need.

    Attributes:
        data: the data of the report's pictures (`report.html.payload`).
        columns: 1 or 2, of a page.
        mark: is written below each picture, such as that it is post hoc; "" for nothing.
    """

    data: dict[str, Any]
    columns: int
    mark: str = ""

    @property
    def width(self) -> float:
        """Inches."""
        return WIDTHS[self.columns]

    @property
    def names(self) -> list[str]:
        """The systems, the reference first."""
        return [one["name"] for one in self.data["systems"]]

    @property
    def delta(self) -> tuple[float, float]:
        """The ratios at the ends of the region of equivalence."""
        high = 1 + self.data["delta"] / 100
        return 1 / high, high

    def figure(self, height: float) -> Figure:
        """A figure without axes; its height in inches."""
        lines = wrapped(self.mark, self.width * 72 * 0.96, MARK_SIZE)
        more = MARK_SIZE * 1.3 / 72 * max(len(lines) - 1, 0)
        figure = Figure(figsize=(self.width, height + more), layout="constrained")
        if lines:
            text = "\n".join(lines)
            figure.supxlabel(text, fontsize=MARK_SIZE, color=LOUD, x=0.01, ha="left")
        return figure

    def across(self, count: int, most: int = 3) -> int:
        """Panels beside each other, of so many."""
        return 1 if self.columns == 1 else 2 if count == 4 else min(count, most)

    def letters(self, count: int, most: int = 3) -> int:
        """Letters of a title that have room above one of so many panels."""
        return int(self.width / self.across(count, most) * 13)

    def panels(self, count: int, height: float, most: int = 3) -> tuple[Figure, list[Axes]]:
        """Panels beside and below each other, each `height` inches high."""
        across = self.across(count, most)
        down = math.ceil(count / across)
        figure = self.figure(height * down + 0.35)
        grid = figure.subplots(down, across, squeeze=False)
        axes = [one for row in grid for one in row]
        for one in axes[count:]:
            one.set_visible(False)
        return figure, axes[:count]

    def legend(self, figure: Figure, shown: Iterable[int]) -> None:
        """The systems above the panels."""
        handles = [
            Line2D([], [], color=colour(s), marker=mark(s), markersize=3.5, linewidth=1.2,
                   label=self.names[s])
            for s in sorted(set(shown))
        ]  # fmt: skip
        above(figure, handles, 3 if self.columns == 1 else 6)


def above(figure: Figure, handles: Sequence[Line2D], columns: int) -> None:
    """A legend above all panels, in as many columns as fit beside each other."""
    size = RC["legend.fontsize"]
    widths = [_text_width(str(one.get_label()), size) for one in handles]
    room = figure.get_figwidth() * 72 - 2 * size
    columns = next(
        (one for one in range(min(columns, len(handles)), 1, -1) if _across(widths, one) <= room), 1
    )
    figure.legend(handles=list(handles), loc="outside upper left", ncols=columns)


def _across(widths: Sequence[float], columns: int) -> float:
    """Width of a legend in points: it fills one column after the other, each as wide as it needs.

    A handle and the gaps beside it are as wide as some letters of the legend's size.
    """
    size = float(RC["legend.fontsize"])
    beside = float(RC["legend.handlelength"] + mpl.rcParams["legend.handletextpad"])
    gaps = float(mpl.rcParams["legend.columnspacing"]) * (columns - 1)
    rest, more = len(widths) % columns, len(widths) // columns
    total, first = 0.0, 0
    for place in range(columns):
        last = first + more + (place < rest)
        total += max(widths[first:last])
        first = last
    return total + size * (beside * columns + gaps)


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The lines of a text that may be so many points wide; a longer word has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _text_width(text: str, size: float) -> float:
    """Of a text in points."""
    return float(TextPath((0, 0), text, size=size).get_extents().width) if text.strip() else 0.0


def colour(system: int) -> str:
    """The colour of a system, as in the report."""
    return SYSTEMS[min(system, len(SYSTEMS) - 1)]


def mark(system: int) -> str:
    """The mark of a system."""
    return MARKS[min(system, len(MARKS) - 1)]


def verdict_colour(verdict: str) -> str:
    """The colour of a verdict, as in the report."""
    if verdict.startswith("faster"):
        return UP
    if verdict.startswith("slower"):
        return DOWN
    if verdict in ("equivalent", "negligible"):
        return EVEN
    return LOUD if verdict in ("unstable", "invalid") else OPEN


VERDICTS = (
    (UP, "faster"),
    (DOWN, "slower"),
    (EVEN, "equal"),
    (OPEN, "open"),
    (LOUD, "unstable or invalid"),
)
"""Colours with their words, for legends."""


def verdict_legend(figure: Figure, used: Iterable[str], columns: int) -> None:
    """The colours of the verdicts that are used, above the panels."""
    known = set(used)
    handles = [
        Line2D([], [], color=one, marker="o", markersize=3, linewidth=1.2, label=word)
        for one, word in VERDICTS
        if one in known
    ]
    above(figure, handles, columns)


def scaled(unit: str, values: Sequence[float]) -> tuple[float, str]:
    """Divisor and unit in which values are readable, by their median."""
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2] if ordered else 0.0
    for smallest, divisor, shown in SCALES.get(unit, ()):
        if abs(middle) >= smallest:
            return divisor, shown
    return 1.0, "µs" if unit == "us" else unit


def compact(value: float) -> str:
    """A number on an axis: 0.5, 20, 1.5 k, 30 M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}\N{THIN SPACE}{letter}"
    return f"{value:.3g}".replace("-", "−")


def speed(ratio: float) -> str:
    """A ratio on an axis: −10 %, 0, +50 %, ×2, 1/3."""
    if ratio >= 1.995:
        return f"×{ratio:.3g}"
    if ratio <= 0.5025:
        return f"1/{1 / ratio:.3g}"
    percent = (ratio - 1) * 100
    if abs(percent) < 1e-9:
        return "0"
    return f"{'+' if percent > 0 else '−'}{abs(percent):.3g}\N{NO-BREAK SPACE}%"


def size(value: float) -> str:
    """A number of bytes on an axis: 64 K."""
    return bytes_text(value).replace("iB", "").replace(" B", "").replace(" ", "\N{THIN SPACE}")


def log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round ticks of a logarithmic axis: 1, 2 and 5 of each decade, or fewer where many."""
    if high / low < 6:
        return linear_ticks(low, high, most)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [
            step * 10.0**power
            for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for step in steps
            if low * 0.999 <= step * 10.0**power <= high * 1.001
        ]
        if len(found) <= most and (len(found) > 1 or steps == (1,)):
            return found
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1, max(1, (last - first) // most + 1))]


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Round ticks at even steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(one * power for one in (1, 2, 5, 10, 20) if (high - low) / (one * power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def ratio_ticks(low: float, high: float, most: int) -> list[float]:
    """Ticks of a ratio axis that are easy to read, with 1 among them."""
    if max(high, 1 / low) > 2.2:
        ups = ((1, 2, 5, 10, 20, 50, 100, 1000), (1, 3, 10, 30, 100, 1000), (1, 10, 100, 1000, 1e4))
        for steps in ups:
            every = [*(1 / one for one in steps[1:]), *steps]
            found = sorted(one for one in every if low * 0.999 <= one <= high * 1.001)
            if len(found) <= most:
                return found
        return [1.0]
    span = (high - low) * 100
    step = next(one for one in (0.2, 0.5, 1, 2, 5, 10, 20, 50) if span / one <= most)
    first = math.ceil((low - 1) * 100 / step - 1e-9)
    last = math.floor((high - 1) * 100 / step + 1e-9)
    return [1 + place * step / 100 for place in range(first, last + 1)]


def log_axis(
    axes: Axes, which: str, ends: tuple[float, float], ticks: Sequence[float],
    text: Callable[[float], str],
) -> None:  # fmt: skip
    """A logarithmic axis with a text at each of the given ticks, and no others."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(*ends)
    axis.set_ticks(list(ticks), [text(one) for one in ticks])
    axis.set_ticks([], minor=True)
    axes.grid(axis="x" if which == "x" else "y", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def padded(values: Sequence[float], by: float = 0.06) -> tuple[float, float]:
    """The ends of a logarithmic axis: never narrower than a factor of 1.3."""
    low, high = min(values), max(values)
    pad = max((high / low) ** by, 1.02)
    low, high = low / pad, high * pad
    if high / low < 1.3:
        more = math.sqrt(1.3 / (high / low))
        low, high = low / more, high * more
    return low, high


def value_axis(axes: Axes, values: Sequence[float], label: str, *, linear: bool = False) -> None:
    """The vertical axis of values: logarithmic, or linear where zero must have a place."""
    if linear or min(values) <= 0:
        top, bottom = max(0.0, *values), min(0.0, *values)
        axes.set_ylim(bottom * 1.12, top * 1.12 or 1.0)
        axes.grid(axis="y", color=GRID, linewidth=0.5)
        axes.set_axisbelow(True)
    else:
        ends = padded(values)
        log_axis(axes, "y", ends, log_ticks(*ends), compact)
    axes.set_ylabel(label)


def clipped(text: str, most: int) -> str:
    """A text that fits."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
