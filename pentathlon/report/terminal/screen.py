"""The report in the terminal: verdicts first, then tables for each area."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pentathlon.evaluate.cases import REPETITIONS, SIZE, case_text, without
from pentathlon.evaluate.diagnostics.disagreement import OPPOSED, opposed
from pentathlon.evaluate.diagnostics.read_source import WORDS
from pentathlon.evaluate.display import (
    bytes_text,
    percent_text,
    scale,
    signed_percent,
    significant,
)
from pentathlon.evaluate.model import Comparison, Evaluation, Row, Summary
from pentathlon.evaluate.model_curves import CurveLevels
from pentathlon.evaluate.verdict import Verdict
from pentathlon.evaluate.warnings import TITLE as STARVED
from pentathlon.evaluate.warnings import starved_lines, warnings
from pentathlon.report import links, posthoc, starts
from pentathlon.report.answer import Answer, answers, sentence
from pentathlon.report.decision import Decision, best_words, decisions
from pentathlon.report.experiments import registry
from pentathlon.report.intervals import percent_interval
from pentathlon.report.terminal import factorial, opening
from pentathlon.report.terminal.opening import LOUD, STYLES, counts_line, indented, style_of
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

MOST_FINDINGS = 8
FEW_FINDINGS = 4
"""On the first screen, which has no tables."""
WIDE = 118
"""Columns of a terminal that the interval needs too."""
WHY = "why"
"""Heading of what qualifies a verdict; below its row where it would be a thin column."""
FEWEST_FOLDED = 3
"""A curve of so many rows is one line of the table, unless all rows are requested."""


def render(
    evaluation: Evaluation, console: Console, full: bool = False, *, tables: bool = True
) -> None:
    """Print an evaluation: the answer, then the tables behind it.

    Args:
        full: every row of every area, instead of one line for each curve.
        tables: the tables too, and what the answer as a whole depends on.
    """
    study = evaluation.study
    console.print()
    if study.unfinished:
        console.print(Text(f"! {sentence(study.unfinished)}", style="bold magenta"))
    console.print(Text(one_line(study.title), style="bold"))
    if study.question:
        console.print(Text(one_line(study.question), style="italic"))
    if marked := posthoc.words(evaluation):
        console.print(Text(marked, style="bold magenta"))
    for text in warnings(evaluation):
        console.print(Text(one_line(f"! {text}"), style="bold magenta"))
    design = evaluation.factorial
    if design is not None:
        factorial.render(evaluation, design, console, tables=tables)
    # What is asked of a design are its effects; its arms stand behind them.
    found = () if design is not None and not tables else answers(evaluation)
    opening.answer_lines(evaluation, found, console)
    if not evaluation.rows:
        console.print("\nNothing was measured: no finished step has a sample.")
    for answer in found:
        opening.strongest(answer, MOST_FINDINGS if tables else FEW_FINDINGS, console)
    if design is None:
        opening.open_ones(evaluation, console)
    if tables:
        _behind(evaluation, found, console, full)
    elif not found and design is None:
        # A single system has no answer but its means.
        _tables(evaluation, console, full=False)
        _legend(evaluation, console, full=False)
    opening.failed(evaluation, console)
    whole = tables or not (found or design)
    hint = "" if whole else "Tables: compare --tables, each case of them: --full.\n"
    console.print(
        Text(
            f"\n{hint}δ = {percent_text(study.delta_percent)}, confidence "
            f"{percent_text(study.confidence * 100)}, {_measured(evaluation)}, "
            f"plan {study.plan_hash[:12]}{f', {posthoc.MARK}' if study.post_hoc else ''}",
            style="dim",
        )
    )


def _behind(evaluation: Evaluation, found: Sequence[Answer], console: Console, full: bool) -> None:
    """What the answer rests on: weights, error rates, every table."""
    for decision in decisions(evaluation):
        _decision(decision, console)
    best = best_words(evaluation)
    if best:
        console.print(Text(f"\n{best}"))
    for answer in found:
        _answer(answer, console)
    _tables(evaluation, console, full)
    _legend(evaluation, console, full)
    _levels(evaluation, console)
    _experiments(evaluation, console)
    _links(evaluation, console)
    _below(console, "Sources of the reads", _reads(evaluation))
    # Metrics that did not get a whole CPU.
    _below(console, STARVED, (f"{system}: {text}" for system, text in starved_lines(evaluation)))


def _tables(evaluation: Evaluation, console: Console, full: bool) -> None:
    for area in evaluation.areas:
        rows = evaluation.rows_of(area)
        others: list[str | None] = [system.name for system in evaluation.systems[1:]]
        for other in others or [None]:
            narrow = console.width < WIDE and not full
            tables = _Table(evaluation, other, full, narrow)
            # A row that only a third system measured states nothing about this one.
            own = [row for row in rows if other is None or row.comparison(other) is not None]
            groups = list(_groups(own, full))
            for folded in (False, True):
                chosen = [group for group in groups if (len(group) > 1) is folded]
                if chosen:
                    console.print()
                    console.print(tables.table(area, chosen, folded))


def _measured(evaluation: Evaluation) -> str:
    study = evaluation.study
    if study.imported:
        return f"imported{'' if study.in_blocks else ', judged unpaired'}"
    return f"{count_text(study.blocks, 'block')}, seed {study.seed}"


def _decision(one: Decision, console: Console) -> None:
    """The answer as a whole, its sensitivity, and the means of the areas."""
    console.print()
    console.print(Text(one.headline, style=STYLES[one.sign] if one.sign else "bold"))
    for text in (*one.uncertainty, *one.changes):
        indented(console, Text(text, style="dim"))
    if len(one.parts) < 2:
        return
    table = Sheet(header_style="bold dim", padding=(0, 2, 0, 0))
    for name, right in (("part", False), ("weight", True), ("speed %", True), ("interval", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=right)
    table.add_column("", overflow="fold")
    for part in one.parts:
        name = part.name if part.kind == "area" else f"suite {part.name}"
        words = Text(part.words, style=STYLES[part.sign] if part.sign else "dim")
        table.add_row(name, part.weight, part.speed, part.interval, words)
    indented(console, table)


def _answer(answer: Answer, console: Console) -> None:
    """How many metrics got which verdict, and how sure that is."""
    console.print()
    console.print(Text(one_line(answer.headline), style="bold"))
    indented(
        console,
        counts_line((count, words, style_of(verdict)) for verdict, words, count in answer.counts),
    )
    if answer.sureness:
        indented(console, Text(answer.sureness, style="dim"))


@dataclass(frozen=True)
class _Table:
    """The tables of one system against the reference; of the reference alone without `other`."""

    evaluation: Evaluation
    other: str | None
    full: bool
    narrow: bool
    """Leave out the interval."""

    def table(self, area: str, groups: Sequence[Sequence[Row]], folded: bool) -> Table:
        """One area: single rows, or rows that share a line."""
        reference = self.evaluation.study.reference
        title = Text(f"{area.capitalize()}{', ranges' if folded else ''}", style="bold")
        if self.other is not None:
            title.append(f"  {self.other} against {reference}", style="not bold")
        table = Sheet(title=title, under=(WHY, "verdict"), header_style="bold dim")
        exact = not self.narrow and not folded
        means = not (self.narrow and folded and self.other is not None)
        table.add_column("metric", overflow="fold", min_width=16)
        if means:
            table.add_column(reference, justify="right", no_wrap=True)
            if self.other is not None:
                table.add_column(self.other, justify="right", no_wrap=True)
            table.add_column("unit", no_wrap=True)
        if self.other is not None:
            paired = self.evaluation.study.in_blocks
            of = "blocks" if paired else starts.plurals(self.evaluation)
            table.add_column(f"speed %\nof {of}", justify="right", no_wrap=True)
            if exact:
                table.add_column("interval", justify="right", no_wrap=True)
            table.add_column("verdict", overflow="fold", min_width=12)
            if self._across_layers():
                table.add_column("compares", style="magenta", overflow="fold")
            if any(self._why(group) for group in groups):
                table.add_column(WHY, overflow="fold")
        for group in groups:
            cells = [*self._cells(group, means, exact)]
            if self.other is not None and table.columns[-1].header == WHY:
                cells.append(self._why(group))
            table.add_row(*cells)
        return table

    def _why(self, group: Sequence[Row]) -> str:
        """What qualifies the verdict of a row that has a line of its own."""
        if self.other is None or len(group) > 1:
            return ""
        one = group[0].comparison(self.other)
        if one is None:
            return ""
        shown = self.full or one.verdict in {Verdict.INVALID, Verdict.NOT_MEASURED}
        return one.reason if shown else ""

    def _across_layers(self) -> bool:
        """Whether the rows compare layers and not kernels."""
        if self.other is None:
            return False
        return self.evaluation.system(self.other).layer != self.evaluation.systems[0].layer

    def _cells(self, group: Sequence[Row], means: bool, exact: bool) -> Iterator[Text | str]:
        row = group[0]
        yield _name(group)
        if means:
            measured = _summaries(group, self.evaluation.study.reference)
            largest = max((summary.mean for summary in measured), default=0.0)
            divisor, unit = scale(row.unit, largest)
            yield _means(measured, divisor)
            if self.other is not None:
                yield _means(_summaries(group, self.other), divisor)
            yield unit
        if self.other is None:
            return
        comparisons = [found for row in group if (found := row.comparison(self.other)) is not None]
        effects = [one.effect for one in comparisons if one.effect is not None]
        yield _range([effect.percent for effect in effects])
        if exact:
            first = effects[0] if effects else None
            yield percent_interval(first.low_percent, first.high_percent) if first else ""
        yield _tally(comparisons) if len(group) > 1 else self._verdict(comparisons[0])
        if self._across_layers():
            yield "layers, not kernels"

    def _verdict(self, one: Comparison) -> Text:
        text = Text(one.words, style=style_of(one.verdict))
        if any(_of_parameters(caution) for caution in one.cautions):
            text.append(" †", style="default not bold")
        if opposed(one):
            text.append(" ‡", style="default not bold")
        return text


def _of_parameters(caution: str) -> bool:
    return caution.startswith("the parameters")


def _groups(rows: Sequence[Row], full: bool) -> Iterator[list[Row]]:
    """Rows that share a line: the points of one curve, or cases of which none stands out."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        name = _fold_name(row)
        found.setdefault((row.workload, row.metric, name), []).append(row)
    for group in found.values():
        if full or len(group) < FEWEST_FOLDED:
            yield from ([row] for row in group)
        elif _is_curve(group[0]):
            yield group
        else:
            yield from ([row] for row in group if _stands_out(row))
            rest = [row for row in group if not _stands_out(row)]
            if rest:
                yield rest


def _is_curve(row: Row) -> bool:
    return SIZE in row.case or REPETITIONS in row.case


def _fold_name(row: Row) -> str:
    """What rows that can share a line have in common, beside workload and metric."""
    for factor in (SIZE, REPETITIONS):
        if factor in row.case:
            return case_text(without(row.case, factor))
    return ""


def _stands_out(row: Row) -> bool:
    return any(one.verdict.is_shown or one.verdict in LOUD for one in row.comparisons)


def _summaries(group: Sequence[Row], system: str) -> list[Summary]:
    return [summary for row in group if (summary := row.summary(system)) is not None]


def _name(group: Sequence[Row]) -> Text:
    row = group[0]
    mark = "" if row.declared else " (exploratory)" if row.score else " (context)"
    name = Text(f"{row.title}{mark}")
    if len(group) == 1:
        return name.append(f": {row.case_text}", style="dim") if row.case_text else name
    rest = _fold_name(row)
    points = "sizes" if SIZE in row.case else "points" if _is_curve(row) else "cases"
    count = f"{len(group)} {points}"
    return name.append(f": {rest}, {count}" if rest else f": {count}", style="dim")


def _means(summaries: Sequence[Summary], divisor: float) -> Text:
    if not summaries:
        return Text("–", style="dim")
    flag = "*" if any(one.within_one_percent is False for one in summaries) else " "
    means = [one.mean / divisor for one in summaries]
    text = significant(min(means))
    if len(means) > 1:
        text = f"{text} … {significant(max(means))}"
    return Text(text).append(flag, style="dim")


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = signed_percent(min(known)), signed_percent(max(known))
    return low if low == high else f"{low} … {high}"


def _tally(comparisons: Sequence[Comparison]) -> Text:
    counted = Counter(one.verdict for one in comparisons)
    words = {one.verdict: one.words.partition(" (")[0] for one in comparisons}
    text = Text()
    for verdict in Verdict:
        if counted[verdict]:
            text.append(", " if len(text) else "", style="dim")
            text.append(f"{counted[verdict]} {words[verdict]}", style=style_of(verdict))
    return text


def _legend(evaluation: Evaluation, console: Console, full: bool) -> None:
    if not evaluation.rows:
        return
    sentences = []
    if any(row.comparisons for row in evaluation.rows):
        of = (
            "mean of the ratios in paired blocks"
            if evaluation.study.in_blocks
            else f"ratio of the geometric means of the {starts.plurals(evaluation)}, unpaired"
        )
        sentences.append(f"speed % is the {of}, + where the system is faster")
    if any(one.within_one_percent is False for row in evaluation.rows for one in row.summaries):
        sentences.append(
            f"* a {starts.noun(evaluation.systems)} deviates by more than 1 % from the mean"
        )
    if not full and any(len(group) > 1 for group in _groups(evaluation.rows, full)):
        sentences.append("rows that share a line are listed apart with --full")
    if sentences:
        console.print(Text(f"\n{'; '.join(sentences)}.", style="dim"))
    every = [one for row in evaluation.rows for one in row.comparisons]
    for caution in dict.fromkeys(c for one in every for c in one.cautions if _of_parameters(c)):
        console.print(Text(f"† {caution}.", style="dim"))
    if any(opposed(one) for one in every):
        console.print(Text(f"‡ {OPPOSED}.", style="dim"))


def _levels(evaluation: Evaluation, console: Console) -> None:
    """Cache levels of the latency curves: what was found beside what is claimed."""
    curves = [curve for curve in evaluation.curves if curve.unit != "ns/B"]
    if not curves:
        return
    table = Sheet(
        title=Text("Cache levels from the latency curves", style="bold"),
        header_style="bold dim",
    )
    for name in ("curve", "level", "claimed", "step found", "", "systems"):
        table.add_column(name, overflow="fold")
    alike: dict[tuple[str, tuple[Line, ...]], list[str]] = {}
    for curve in curves:
        alike.setdefault((curve.case_text, tuple(_level_lines(curve))), []).append(curve.system)
    for (name, lines), systems in alike.items():
        for number, line in enumerate(lines):
            first = number == 0
            table.add_row(name if first else "", *line, ", ".join(systems) if first else "")
    console.print()
    console.print(table)


Line = tuple[str, str, str, str]


def _level_lines(curve: CurveLevels) -> Iterator[Line]:
    """(level, claimed size, step found, outcome) of one curve."""
    if not curve.checks and not curve.unexplained:
        yield "–", "–", "–", "no step, and no cache is claimed"
    for check in curve.checks:
        found = "–"
        if check.found_low_bytes is not None and check.found_high_bytes is not None:
            found = f"{bytes_text(check.found_low_bytes)} to {bytes_text(check.found_high_bytes)}"
        yield check.level, bytes_text(check.claimed_bytes), found, check.outcome
    for place in curve.unexplained:
        step = curve.boundaries[place]
        found = f"{bytes_text(step.low_bytes)} to {bytes_text(step.high_bytes)}"
        yield "–", "–", found, "no claimed cache"


def _below(console: Console, title: str, lines: Iterable[str]) -> None:
    """Lines below a heading; neither where there are none."""
    for place, line in enumerate(lines):
        if not place:
            console.print(Text(f"\n{title}", style="bold"))
        console.print(Text(f"  {line}"))


def _experiments(evaluation: Evaluation, console: Console) -> None:
    """What is derived from the rows of experiments between two hosts."""
    for entry in registry.SHOWN:
        for title, paragraphs in entry.paragraphs.items():
            lines = (
                line
                for heading, sentences in paragraphs(evaluation)
                for line in (heading, *(f"  {words}" for words in sentences))
            )
            _below(console, title, lines)


def _links(evaluation: Evaluation, console: Console) -> None:
    """What each emulated link was asked to be, what it was, and what the emulator cost."""
    lines = []
    for line in links.lines(evaluation):
        if line.link:
            lines.append(f"{line.link} by {line.engine}{links.cost(line)}")
        lines.append(f"  {links.way(line)}")
    _below(console, links.TITLE, lines)
    if lines:
        indented(console, Text(links.CAPTION, style="dim"))


def _reads(evaluation: Evaluation) -> Iterator[str]:
    """Which source answered the reads, where there were reads that a cache could have answered."""
    keys = {row.key: row for row in evaluation.rows}
    counts = Counter(
        (one.system, one.usual, f"{row.workload} {row.metric}")
        for one in evaluation.read_sources
        if (row := keys.get(one.key)) is not None
    )
    for system, usual in dict.fromkeys((system, usual) for system, usual, _ in counts):
        names = [
            f"{name} ({number} case{'s' if number > 1 else ''})"
            for (one, answer, name), number in counts.items()
            if (one, answer) == (system, usual)
        ]
        yield f"{system}: {WORDS[usual]}: {', '.join(names)}"
