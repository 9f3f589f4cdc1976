"""A fleet on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from pentathlon.evaluate.display import signed_percent
from pentathlon.evaluate.fleet.model import Fleet, FleetRowResult
from pentathlon.report.answer import row_name, sentence
from pentathlon.report.fleet import sentences
from pentathlon.report.intervals import percent_interval
from pentathlon.report.terminal.opening import SIGNS, STYLES, counts_line
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

MOST_ROWS = 20


def render(fleet: Fleet, console: Console, *, full: bool = False) -> None:
    """Print a fleet.

    Args:
        full: every row, with every machine.
    """
    console.print()
    console.print(Text(one_line(fleet.title), style="bold"))
    names = ", ".join(one.name for one in fleet.machines)
    console.print(Text(one_line(f"{count_text(len(fleet.machines), 'machine')}: {names}")))
    for one in fleet.refused:
        console.print(Text(f"! {sentence(one.reason)}", style="bold magenta"), soft_wrap=True)
    for text in fleet.cautions:
        console.print(Text(f"! {sentence(one_line(text))}", style="magenta"), soft_wrap=True)
    for mean in fleet.means:
        console.print()
        console.print(Text(sentences.mean_sentence(fleet, mean), style="bold"))
        counts = sentences.counts(fleet, mean.system)
        named = ((number, text, STYLES[verdict.sign]) for verdict, number, text in counts)
        console.print(counts_line(named, "  "))
        _table(fleet, fleet.rows_of(mean.system), console, full)
    console.print(Text(f"\n{sentences.footer(fleet)}", style="dim"))


def _telling(row: FleetRowResult, level: float) -> bool:
    apart = row.spread is not None and row.spread.p_alike <= level
    return row.verdict.is_shown or bool(row.odd) or apart


def _table(fleet: Fleet, rows: list[FleetRowResult], console: Console, full: bool) -> None:
    level = 1.0 - fleet.confidence
    telling = [row for row in rows if _telling(row, level)]
    telling.sort(key=lambda row: -abs(row.percent or 0.0))
    shown = rows if full else telling[:MOST_ROWS]
    if shown:
        table = Sheet(header_style="bold dim")
        table.add_column("metric", overflow="fold", min_width=16)
        table.add_column("speed %", justify="right", no_wrap=True)
        table.add_column("interval", no_wrap=True)
        table.add_column("between machines τ", no_wrap=True)
        table.add_column("verdict", overflow="fold", min_width=12)
        table.add_column("machines", overflow="fold", min_width=16)
        for row in shown:
            verdict = Text(row.words, style=STYLES[row.verdict.sign])
            if row.reason:
                verdict.append(f": {row.reason}", style="default not bold")
            sign = SIGNS.get(row.verdict.sign, "")
            table.add_row(
                Text(row_name(row)),
                "" if row.percent is None else f"{sign}{signed_percent(row.percent)}",
                Text(percent_interval(row.low_percent, row.high_percent)),
                sentences.tau_text(row.spread),
                verdict,
                Text(sentences.disagree_text(row, level)),
            )
            if full:
                for one in row.machines:
                    table.add_row(
                        Text(f"  {one.machine}", style="dim"),
                        "" if one.percent is None else signed_percent(one.percent),
                        Text(percent_interval(one.low_percent, one.high_percent), style="dim"),
                        "",
                        Text(one.words, style="dim"),
                        Text("" if one.counted else f"not counted: {one.reason}", style="dim"),
                    )
        console.print()
        console.print(table)
    left = len(rows) - len(shown)
    if left:
        console.print(Text(f"  {count_text(left, 'more row')} with --full", style="dim"))
