"""The report in the terminal: verdicts first, then a table for each area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pentathlon.evaluate.display import bytes_text, signed_percent, significant
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.answer import Answer, answers

MOST_FINDINGS = 8
MOST_ROWS = 12
"""Rows of an area without `full`; single indicators and the strongest differences come first."""

STYLES = {1: "bold cyan", -1: "bold yellow", 0: "default"}
DIM = {Verdict.INCONCLUSIVE, Verdict.NOT_MEASURED}
LOUD = {Verdict.UNSTABLE, Verdict.INVALID}
SIGNS = {1: "▲", -1: "▼"}


def render(evaluation: Evaluation, console: Console, full: bool = False) -> None:
    """Print an evaluation.

    Args:
        full: every row of every area, instead of the strongest and the counts.
    """
    study = evaluation.study
    console.print()
    console.print(Text(study.title, style="bold"))
    if study.question:
        console.print(Text(study.question, style="italic"))
    for answer in answers(evaluation):
        _answer(answer, console)
    if not evaluation.rows:
        console.print("\nNothing was measured: no finished step has a sample.")
    for area in evaluation.areas:
        _area(evaluation, area, console, full)
    _levels(evaluation, console)
    _failures(evaluation, console)
    console.print(
        Text(
            f"\nδ = {significant(study.delta_percent, 2)} %, confidence "
            f"{significant(study.confidence * 100, 3)} %, {study.blocks} blocks, seed {study.seed}, "
            f"plan {study.plan_hash[:12]}",
            style="dim",
        )
    )


def _answer(answer: Answer, console: Console) -> None:
    console.print()
    console.print(Text(answer.headline, style="bold"))
    line = Text("  ")
    for place, (verdict, words, count) in enumerate(answer.counts):
        if place:
            line.append(" · ", style="dim")
        line.append(f"{count} ", style="bold").append(words, style=_style(verdict))
    console.print(line)
    for caution in answer.cautions:
        console.print(Padding(Text(f"! {caution}", style="magenta"), (0, 0, 0, 2)))
    for finding in answer.findings[:MOST_FINDINGS]:
        place = f", {finding.place}" if finding.place else ""
        text = Text(f"  {SIGNS[finding.sign]} ", style=STYLES[finding.sign])
        text.append(f"{finding.title}{place}: ", style="default not bold")
        text.append(finding.size)
        if finding.interval:
            text.append(f" ({finding.interval})", style="dim not bold")
        console.print(text)
    more = len(answer.findings) - MOST_FINDINGS
    if more > 0:
        console.print(Text(f"  and {more} more", style="dim"))
    if answer.sureness:
        console.print(Padding(Text(answer.sureness, style="dim"), (0, 0, 0, 2)))


def _area(evaluation: Evaluation, area: str, console: Console, full: bool) -> None:
    rows = [row for row in evaluation.rows if row.area == area]
    shown = rows if full else _strongest(rows)
    others = [system.name for system in evaluation.systems[1:]]
    table = Table(
        title=Text(area.capitalize(), style="bold"),
        title_justify="left",
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        box=None,
    )
    table.add_column("indicator", overflow="fold")
    for system in evaluation.systems:
        table.add_column(system.name, justify="right", no_wrap=True)
    table.add_column("unit", style="dim", no_wrap=True)
    for name in others:
        table.add_column("Diff %" if len(others) == 1 else f"{name}\nDiff %", justify="right")
        table.add_column("speed % [interval]", justify="right", no_wrap=True)
        table.add_column("verdict", overflow="fold")
    for row in shown:
        table.add_row(*_cells(evaluation, row, others))
    console.print()
    console.print(table)
    if len(shown) < len(rows):
        console.print(
            Text(
                f"{len(rows) - len(shown)} more of {len(rows)} rows: {_rest(rows, shown)}; "
                "all of them with --full",
                style="dim",
            )
        )


def _strongest(rows: Sequence[Row]) -> list[Row]:
    """Single indicators, then the strongest differences, in the order of the table."""

    def rank(row: Row) -> tuple[bool, bool, float]:
        found = [one for one in row.comparisons if one.verdict.is_difference]
        loud = any(one.verdict in LOUD for one in row.comparisons)
        strength = max((abs(one.effect.mean) for one in found if one.effect), default=0.0)
        return bool(row.case), not (found or loud), -strength

    chosen = {row.key for row in sorted(rows, key=rank)[:MOST_ROWS]}
    return [row for row in rows if row.key in chosen]


def _rest(rows: Sequence[Row], shown: Sequence[Row]) -> str:
    """Verdicts of the rows that are not shown, counted."""
    keys = {row.key for row in shown}
    tally: dict[str, int] = {}
    for row in rows:
        if row.key not in keys:
            for one in row.comparisons:
                tally[one.verdict.value] = tally.get(one.verdict.value, 0) + 1
    return ", ".join(f"{count} × {word}" for word, count in sorted(tally.items()))


def _cells(evaluation: Evaluation, row: Row, others: Sequence[str]) -> Iterator[Text | str]:
    name = Text(row.title)
    if row.case_text:
        name.append(f" {row.case_text}", style="dim")
    yield name
    for system in evaluation.systems:
        summary = row.summary(system.name)
        if summary is None:
            yield Text("–", style="dim")
        else:
            flag = "" if summary.within_one_percent is not False else "*"
            yield f"{significant(summary.mean)}{flag}"
    yield row.unit
    for other in others:
        yield from _comparison(row.comparison(other))


def _comparison(one: Comparison | None) -> Iterator[Text | str]:
    if one is None:
        yield from ("", "", "")
        return
    yield "" if one.difference_percent is None else signed_percent(one.difference_percent)
    effect = one.effect
    if effect is None:
        yield ""
    elif effect.low_percent is None or effect.high_percent is None:
        yield signed_percent(effect.percent)
    else:
        yield (
            f"{signed_percent(effect.percent)} [{signed_percent(effect.low_percent)}, "
            f"{signed_percent(effect.high_percent)}]"
        )
    yield Text(one.words, style=_style(one.verdict))


def _style(verdict: Verdict) -> str:
    if verdict in DIM:
        return "dim"
    if verdict in LOUD:
        return "magenta"
    return STYLES[verdict.sign]


def _levels(evaluation: Evaluation, console: Console) -> None:
    """Cache levels of the latency curves: what was found beside what is claimed."""
    curves = [curve for curve in evaluation.curves if curve.unit != "ns/B"]
    if not curves:
        return
    console.print(Text("\nCache levels from the latency curves", style="bold"))
    for curve in curves:
        found = "; ".join(
            f"{bytes_text(step.low_bytes)} to {bytes_text(step.high_bytes)}"
            for step in curve.boundaries
        )
        line = Text(f"  {curve.system}, {curve.case_text}: ")
        line.append(f"steps at {found}" if found else "no step")
        wrong = [check.words for check in curve.checks if check.outcome != "agrees"]
        if curve.checks and not wrong:
            line.append("; all as claimed", style="dim")
        elif wrong:
            line.append(f" ({'; '.join(wrong)})", style="dim")
        console.print(line)


def _failures(evaluation: Evaluation, console: Console) -> None:
    if not evaluation.failures:
        return
    console.print(Text("\nNot measured", style="bold"))
    for failure in evaluation.failures:
        what = failure.workload or "boot"
        if failure.case:
            what = f"{what}[{failure.case}]"
        times = "" if failure.count == 1 else f" ({failure.count} times)"
        console.print(
            Text(f"  {failure.system}: {what}: ")
            .append(failure.kind, style="magenta")
            .append(f", {failure.reason}{times}")
        )
