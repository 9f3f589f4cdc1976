"""A factorial design in the terminal: which factor matters, then the table of its effects."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_factorial import Factorial
from pentathlon.report import factorial as words
from pentathlon.report.answer import sentence
from pentathlon.report.terminal.opening import indented
from pentathlon.safeio.escaping import one_line
from pentathlon.tables.sheet import Sheet

MARKS = {words.MATTERS: "■", words.NOTHING: "=", words.OPEN: "?"}
STYLES = {words.MATTERS: "bold cyan", words.NOTHING: "default", words.OPEN: "dim"}
OF_SIGN = {1: "bold cyan", -1: "bold yellow", 0: "default"}


def render(evaluation: Evaluation, found: Factorial, console: Console, *, tables: bool) -> None:
    """Print the answer; with `tables` every effect."""
    console.print()
    console.print(Text(one_line(words.headline(found)), style="bold"))
    grid = Sheet(show_header=False, padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", min_width=12)
    grid.add_column(overflow="fold")
    for one in found.ranking:
        state = words.state(one)
        mark = Text(MARKS[state], style=STYLES[state])
        grid.add_row(mark, Text(one_line(one.term), style=STYLES[state]), one_line(one.words))
    indented(console, grid)
    for text in words.aliases(found):
        console.print(Text(one_line(f"  ≈ {text}"), style="magenta"))
    for text in found.cautions:
        console.print(Text(one_line(f"  ! {sentence(text)}"), style="magenta"))
    indented(console, Text(words.sureness(evaluation, found), style="dim"))
    if found.open:
        console.print(f"\nOpen: {one_line(found.open)}", markup=False, highlight=False)
    if tables:
        _effects(evaluation, found, console)


def _effects(evaluation: Evaluation, found: Factorial, console: Console) -> None:
    lines = words.lines(evaluation, found)
    for ranked in found.ranking:
        own = [line for line in lines if line.term == ranked.term]
        compared = words.contrast_words(found.term(ranked.term))
        title = Text(one_line(ranked.term), style="bold").append(
            f"  {one_line(compared)}", style="not bold"
        )
        table = Sheet(title=title, header_style="bold dim")
        table.add_column("metric", overflow="fold", min_width=16)
        table.add_column("speed %", justify="right", no_wrap=True)
        table.add_column("interval", justify="right", no_wrap=True)
        table.add_column("verdict", overflow="fold", min_width=12)
        for line in own:
            name = Text(one_line(line.metric))
            if line.case:
                name.append(f": {one_line(line.case)}", style="dim")
            verdict = Text(line.words, style=OF_SIGN[line.sign])
            table.add_row(name, line.speed, line.interval, verdict)
        console.print()
        console.print(table)
