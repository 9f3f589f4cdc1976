"""The first screen of the report in the terminal: the answer, what is open, what failed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.answer import Answer, Finding, sentence
from pentathlon.report.areas import EQUAL, SURE, AreaLine, Overview, legend, overviews
from pentathlon.report.failures import across
from pentathlon.report.open_questions import questions
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text

STYLES = {1: "bold cyan", -1: "bold yellow", 0: "default"}
QUIET = {Verdict.INCONCLUSIVE, Verdict.NOT_MEASURED}
LOUD = {Verdict.UNSTABLE, Verdict.INVALID}
SIGNS = {1: "▲", -1: "▼"}
INDENT = (0, 0, 0, 2)


def indented(console: Console, shown: RenderableType) -> None:
    """Print something below its heading."""
    console.print(Padding(shown, INDENT, expand=False))


def style_of(verdict: Verdict) -> str:
    """How a verdict is set."""
    if verdict in QUIET:
        return "dim"
    return "magenta" if verdict in LOUD else STYLES[verdict.sign]


def counts_line(counts: Iterable[tuple[int, str, str]], before: str = "") -> Text:
    """How often each verdict was given, from (how often, its words, their style)."""
    line = Text(before)
    for place, (number, words, style) in enumerate(counts):
        line.append(" · " if place else "", style="dim")
        line.append(f"{number} ", style="bold").append(words, style=style)
    return line


def answer_lines(evaluation: Evaluation, found: tuple[Answer, ...], console: Console) -> None:
    """Each system against the reference in a line for each area; the legend beside the first."""
    lines = {one.system: one for one in overviews(evaluation)}
    explained = False
    for answer in found:
        console.print()
        title = Text(one_line(answer.system), style="bold")
        console.print(title.append(one_line(f" against {answer.reference}"), style="not bold"))
        for caution in answer.cautions:
            console.print(
                Padding(Text(one_line(f"! {sentence(caution)}"), style="magenta"), INDENT)
            )
        overview = lines.get(answer.system)
        if overview is None or answer.emptied:
            indented(console, Text(one_line(answer.headline), style="bold"))
            continue
        indented(console, _areas(overview))
        if not explained:
            indented(console, Text(legend(evaluation), style="dim"))
            explained = True


def _areas(overview: Overview) -> Table:
    """One line for each area, and below a rule all of them together."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for line in overview.lines:
        table.add_row(
            Text(line.glyph, style=_line_style(line)),
            Text(one_line(line.title), style="default" if line.area else "bold"),
            _words(line),
        )
    return table


def _words(line: AreaLine) -> Text:
    text = Text(line.words, style=_line_style(line))
    if line.interval:
        text.append(f" ({line.interval})", style="default not bold")
    return text.append(one_line(f"; {line.detail}"), style="dim not bold")


def _line_style(line: AreaLine) -> str:
    return STYLES[line.sign] if line.state == SURE else "bold" if line.state == EQUAL else "default"


def strongest(answer: Answer, most: int, console: Console) -> None:
    """The strongest differences of one system in single metrics."""
    if not answer.findings:
        return
    console.print()
    console.print(Text(one_line(f"Strongest differences of {answer.system}"), style="bold"))
    for finding in answer.findings[:most]:
        indented(console, _finding(finding))
    more = len(answer.findings) - most
    if more > 0:
        indented(console, Text(f"and {more} more", style="dim"))


def _finding(finding: Finding) -> Table:
    """The sign beside text that wraps under itself."""
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(no_wrap=True)
    row.add_column()
    place = f", {finding.place}" if finding.place else ""
    text = Text(one_line(f"{finding.title}{place}: "), style="default not bold")
    text.append(finding.size, style="bold")
    if finding.interval:
        text.append(f" ({finding.interval})", style="dim not bold")
    row.add_row(Text(SIGNS[finding.sign], style=STYLES[finding.sign]), text)
    return row


def open_ones(evaluation: Evaluation, console: Console) -> None:
    """What is not decided, why, and the commands that would decide it."""
    found = questions(evaluation)
    if not found:
        return
    console.print(Text("\nOpen", style="bold"))
    for one in found:
        end = ":" if one.command else "."
        indented(console, Text(one_line(f"{one.what}{end}")))
        if one.command:
            # A command is one line for who copies it, however narrow the screen is.
            console.print(Text(f"    {one.command}", style="cyan"), soft_wrap=True)


def failed(evaluation: Evaluation, console: Console) -> None:
    """What was not measured: each reason once, with the systems and cases that share it."""
    if not evaluation.failures:
        return
    console.print(Text("\nNot measured", style="bold"))
    for one in across(evaluation.failures):
        named = f"{one.what} ({one.cases_text})" if one.cases else one.what
        counted = "" if one.count == 1 else f" ({count_text(one.count, 'time')})"
        later = ", made good later" if one.resolved else ""
        # A boot that failed is both what it was and how it failed.
        before = one.system if named == one.kind else f"{one.system}: {named}"
        text = Text(one_line(f"{before}: ")).append(one.kind, style="magenta")
        text.append(one_line(f", {one.reason}{counted}{later}"))
        indented(console, text)
