"""One metric on one screen: the answer in one sentence, a small table, a picture of the boots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from pentathlon.evaluate.display import (
    interval_text,
    is_known,
    percent_text,
    scale,
    significant,
)
from pentathlon.evaluate.model import Comparison, Evaluation, Row, Summary
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report import starts
from pentathlon.report.failures import across
from pentathlon.report.intervals import percent_interval
from pentathlon.report.terminal.distribution import picture
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

WIDTH = 48
"""Characters of a distribution."""
FEWEST = 28
"""So many at least: the numbers at both ends of the axis need them. Longer names are cut."""
GAP = 2
"""Between a name and its distribution."""
LONGEST_HEADER = 16
"""Longer titles stand in the sentence above the table."""

STYLES = {1: "bold cyan", -1: "bold yellow", 0: "bold"}


def render(evaluation: Evaluation, console: Console) -> None:
    """Print an evaluation of few metrics; context stands in the table."""
    scores = [row for row in evaluation.rows if row.score]
    for row in scores:
        # Of one metric there is nothing to name.
        name = f"{row.title}: " if len({one.title for one in scores}) > 1 else ""
        for sentence, sign in sentences(evaluation, row, name):
            console.print(Text(one_line(sentence), style=STYLES[sign]))
        console.print(_fitting(evaluation, row, console))
        means = [(one_line(name), values) for name, values in _means(evaluation, row)]
        longest = max((len(name) for name, _ in means), default=0)
        wide = min(longest, console.width - GAP - FEWEST)
        lines = picture(means, row.unit, min(WIDTH, console.width - GAP - wide))
        for name, shown in lines:
            console.print(Text(f"{_end(name, wide):{wide}}  {shown}", no_wrap=True))
        if lines:
            console.print(Text(f"{'':{wide}}  means of the blocks", style="dim"))
        console.print()
    if not scores:
        console.print(Text("Nothing was measured.", style="bold"))
    for line in dict.fromkeys(text for pair in evaluation.pairs for text in pair.cautions):
        console.print(Text(one_line(f"! {line}"), style="magenta"))
    for failure in across(evaluation.failures):
        cases = f" ({failure.cases_text})" if failure.cases else ""
        text = f"{failure.system}{cases}: {failure.kind}, {failure.reason}"
        console.print(Text(one_line(text), style="yellow"))


def _end(name: str, wide: int) -> str:
    """A name, cut at its beginning where it is too long: long names of systems differ in their last
    characters."""
    return name if len(name) <= wide else f"…{name[1 - wide :]}"


def sentences(evaluation: Evaluation, row: Row, name: str = "") -> Iterator[tuple[str, int]]:
    """The answer for each system against the reference, and its sign; of one system alone, what it
    took."""
    reference = evaluation.study.reference
    alone = None if row.comparisons else row.summary(reference)
    if alone is not None:
        sd = alone.boot_sd
        spread = (
            "" if sd is None else f", {starts.plurals(evaluation)} vary by {_share(sd, alone.mean)}"
        )
        boots = starts.counted(evaluation, reference, alone.boots)
        place = f" with {row.case_text}" if row.case_text else ""
        yield f"{row.title} on {reference}{place}: {_value(row, alone)}{spread} ({boots}).", 0
    for one in row.comparisons:
        yield name + _sentence(evaluation, row, one), one.verdict.sign


def _sentence(evaluation: Evaluation, row: Row, one: Comparison) -> str:
    reference, effect = evaluation.study.reference, one.effect
    place = f" with {row.case_text}" if row.case_text else ""
    if effect is None or one.verdict in (Verdict.INVALID, Verdict.NOT_MEASURED):
        why = one.reason or one.words
        return f"{one.system} cannot be compared with {reference}{place}: {why}."
    low, high = effect.adjusted_low_percent, effect.adjusted_high_percent
    blocks = count_text(effect.blocks, "block")
    few = f"{blocks} {'is' if effect.blocks == 1 else 'are'} too few for an answer"
    if low is None or high is None:
        return f"{one.system} against {reference}{place}: {few}."
    if not (is_known(low) and is_known(high)) and not one.verdict.is_difference:
        return f"Not decided{place}: {few} on {one.system}; a longer --limit gives more."
    level = f"{percent_text(evaluation.study.confidence * 100)} interval"
    shown = f"({level} {interval_text(low, high, '{} to {} %')}, {blocks})"
    kind = row.kind
    if one.verdict.is_difference:
        word = kind.up if one.verdict.sign > 0 else kind.down
        size = percent_text(abs(effect.percent))
        text = f"{one.system} is {size} {word} than {reference}{place} {shown}"
    elif one.verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE):
        delta = percent_text(evaluation.study.delta_percent)
        text = f"{one.system} is as fast as {reference}{place}, within {delta} {shown}"
    elif one.verdict is Verdict.UNSTABLE:
        text = (
            f"No verdict on {one.system} and {reference}{place}: the blocks contradict each other; "
            f"{one.reason} {shown}"
        )
    else:
        text = (
            f"Not decided{place}: {one.system} may be {_side(low, kind.down, kind.up)} to "
            f"{_side(high, kind.down, kind.up)} than {reference} ({level}, {blocks}); a longer "
            "--limit decides more"
        )
    return f"{text}."


def _side(end: float, down: str, up: str) -> str:
    return f"{percent_text(abs(end))} {up if end > 0 else down}"


def _share(part: float, whole: float) -> str:
    return percent_text(abs(part / whole) * 100) if whole else "–"


def _value(row: Row, found: Summary | None) -> str:
    if found is None:
        return "–"
    divisor, unit = scale(row.unit, found.mean)
    return f"{significant(found.mean / divisor, 4)} {unit}"


def _fitting(evaluation: Evaluation, row: Row, console: Console) -> Sheet:
    """The table with as much context beside the metric as the terminal has room for."""
    beside = [
        other
        for other in evaluation.rows
        if not other.score and other.workload == row.workload and other.case == row.case
    ]
    table = _table(evaluation, row, beside)
    unbounded = console.options.update(max_width=1000)
    while beside and console.measure(table, options=unbounded).maximum > console.width:
        beside.pop()
        table = _table(evaluation, row, beside)
    return table


def _table(evaluation: Evaluation, row: Row, beside: Sequence[Row]) -> Sheet:
    table = Sheet(header_style="bold dim", padding=(0, 2, 0, 0))
    longest = max(len(one_line(system.name)) for system in evaluation.systems)
    table.add_column("system", min_width=min(16, longest), no_wrap=True)
    title = _plain(row)
    for name in (
        title if len(title) <= LONGEST_HEADER else "value",
        f"± {starts.plurals(evaluation).rpartition(' ')[2]}",
        "speed %",
        "interval",
        *(_plain(one) for one in beside),
    ):
        table.add_column(one_line(name), justify="right", no_wrap=True)
    for system in evaluation.systems:
        found, compared = row.summary(system.name), row.comparison(system.name)
        effect = compared.effect if compared is not None else None
        interval = ""
        if effect is not None:
            ends = effect.adjusted_low_percent, effect.adjusted_high_percent
            interval = percent_interval(*ends)
        without = "reference" if system.name == evaluation.study.reference else "–"
        table.add_row(
            one_line(system.name),
            _value(row, found),
            _share(found.boot_sd, found.mean) if found and found.boot_sd is not None else "–",
            f"{effect.percent:+.2f}".replace("-", "−") if effect else "",
            interval or without,
            *(_value(one, one.summary(system.name)) for one in beside),
        )
    return table


def _plain(row: Row) -> str:
    """A metric's title without its workload's, which is the only one."""
    return row.title.removeprefix(f"{row.workload_title}: ").removesuffix(" (context)").lower()


def _means(evaluation: Evaluation, row: Row) -> list[tuple[str, list[float]]]:
    found = ((system.name, row.summary(system.name)) for system in evaluation.systems)
    return [(name, [one.value for one in own.boot_means]) for name, own in found if own is not None]
