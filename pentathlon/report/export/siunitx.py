"""LaTeX tables that fit a column of a paper: speeds as numbers that siunitx aligns and sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pentathlon.evaluate.display import is_known
from pentathlon.evaluate.model import Effect, Evaluation
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.evaluate.model_factorial import Factorial, TermEffect
from pentathlon.report import posthoc
from pentathlon.report.answer import compared, row_name
from pentathlon.report.areas import TOGETHER
from pentathlon.report.factorial import contrast_words
from pentathlon.safeio import escaping

MOST_ROWS = 40
"""Lines of a table on one page; what is more goes on in another."""
HEAD = r"""% Needs \usepackage{array,booktabs,siunitx} (siunitx 3) and UTF-8 input.
% The tables fit a column of 84 mm.
"""


@dataclass(frozen=True)
class Line:
    """A name, and a speed with its interval in percent; None where there is none."""

    name: str
    speed: float | None
    low: float | None
    high: float | None
    after: str = ""


def to_siunitx(evaluation: Evaluation) -> str:
    """For each system a table of the areas, and one of the metrics that are decided."""
    parts = [f"{HEAD}% Plan {escaping.latex_comment(evaluation.study.plan_hash)}\n"]
    if evaluation.factorial is not None:
        parts += _effects(evaluation, evaluation.factorial)
    for pair in evaluation.pairs:
        against = f"{pair.system} against {evaluation.study.reference}"
        areas = list(_areas(evaluation, pair.system))
        if areas:
            title = f"Speed of {against} by area"
            parts.append(_table(evaluation, title, f"areas-{pair.system}", "Area", areas))
        title = f"Metrics in which {pair.system} differs from {evaluation.study.reference}"
        rows = list(_decided(evaluation, pair.system))
        parts += _in_parts(evaluation, title, f"decided-{pair.system}", rows)
    if len(parts) == 1:
        parts.append("% Nothing was compared.\n")
    return "\n".join(parts)


def _effects(evaluation: Evaluation, found: Factorial) -> Iterator[str]:
    """The effects of a factorial design that are shown, the terms in their ranking."""
    for ranked in found.ranking:
        shown = [one for one in found.of(ranked.term) if one.verdict.is_shown]
        lines = [_line(row_name(evaluation.row(one.key)), one) for one in shown]
        title = f"Shown effects of {ranked.term} ({contrast_words(found.term(ranked.term))})"
        yield from _in_parts(evaluation, title, f"effects-{ranked.term}", lines)


def _in_parts(
    evaluation: Evaluation, title: str, label: str, lines: Sequence[Line]
) -> Iterator[str]:
    """A table of metrics, or several that are numbered where it has more than MOST_ROWS lines."""
    for start in range(0, len(lines), MOST_ROWS):
        number = start // MOST_ROWS + 1
        more, mark = (f", part {number}", f"-{number}") if len(lines) > MOST_ROWS else ("", "")
        chosen = lines[start : start + MOST_ROWS]
        yield _table(evaluation, f"{title}{more}", f"{label}{mark}", "Metric", chosen)


def _areas(evaluation: Evaluation, system: str) -> Iterator[Line]:
    whole = next((one for one in evaluation.aggregates if one.system == system), None)
    if whole is None:
        return
    areas = [one for one in whole.means if one.kind == "area"]
    total = whole.everything.weight if whole.everything is not None else 1.0
    for mean in areas:
        yield _line(mean.name.capitalize(), mean, f"{mean.weight / total * 100:.0f}")
    if whole.everything is not None and len(areas) > 1:
        yield _line(TOGETHER, whole.everything, "100")


def _line(name: str, one: Mean | Effect | TermEffect, weight: str = "") -> Line:
    return Line(name, one.percent, one.low_percent, one.high_percent, weight)


def _decided(evaluation: Evaluation, system: str) -> Iterator[Line]:
    """The rows with a difference, the strongest first, with the unadjusted interval."""
    found = [
        (row, one.effect)
        for row, one in compared([row for row in evaluation.rows if row.score], system)
        if one.verdict.is_difference and one.effect is not None
    ]
    found.sort(key=lambda one: -abs(one[1].mean))
    for row, effect in found:
        yield _line(row_name(row), effect)


def _table(
    evaluation: Evaluation, title: str, label: str, first: str, lines: Sequence[Line]
) -> str:
    weights = any(line.after for line in lines)
    format_ = _format([end for line in lines for end in (line.speed, line.low, line.high)])
    number = f"S[table-format={format_},retain-explicit-plus]"
    shape = f"@{{}}p{{{'0.30' if weights else '0.44'}\\columnwidth}}{number * 3}"
    if weights:
        shape += "S[table-format=3.0]"
    marked = f" ({posthoc.MARK}: {posthoc.short(evaluation)})" if evaluation.study.post_hoc else ""
    unfinished = f" ({evaluation.study.unfinished})" if evaluation.study.unfinished else ""
    confidence = f"{evaluation.study.confidence * 100:g}"
    note = (
        rf" Speed in percent of the reference's, $+$ is faster, with its {confidence}\,\% "
        "interval for each line alone."
    )
    heads = [first, "{Speed}", "{from}", "{to}", *(["{Weight}"] if weights else [])]
    out = [
        r"\begin{table}",
        rf"\caption{{{escaping.latex(f'{title}{unfinished}{marked}.')}{note}}}",
        rf"\label{{{escaping.latex_label(f'tab:{label}')}}}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{{shape}@{{}}}}",
        r"\toprule",
        rf"{' & '.join(heads)} \\",
        r"\midrule",
    ]
    for line in lines:
        cells = [rf"\raggedright\arraybackslash {escaping.latex(line.name)}"]
        cells += [_cell(end) for end in (line.speed, line.low, line.high)]
        if weights:
            cells.append(line.after)
        out.append(rf"{' & '.join(cells)} \\")
    return "\n".join([*out, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _cell(value: float | None) -> str:
    """A number as siunitx reads it; three significant digits where it is large."""
    if value is None or not math.isfinite(value) or not is_known(value):
        return "{--}"
    return f"{value:+.{_places(value)}f}"


def _places(value: float) -> int:
    return 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0


def _format(values: Sequence[float | None]) -> str:
    known = [one for one in values if one is not None and math.isfinite(one) and is_known(one)]
    digits = max((len(f"{abs(one):.0f}") for one in known), default=1)
    places = max((_places(one) for one in known), default=0)
    return f"+{digits}.{places}"
