"""Two results side by side, and which systems of them are meant."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pentathlon.cli.exits import InputError
from pentathlon.cli.judging import Judging
from pentathlon.evaluate.display import (
    interval_text,
    percent_text,
    scale,
    signed_percent,
    significant,
)
from pentathlon.evaluate.posthoc import find_post_hoc
from pentathlon.evaluate.posthoc import words as post_hoc_words
from pentathlon.evaluate.results.across import Across, compare_results, side
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.report.answer import sentence
from pentathlon.report.terminal.opening import STYLES
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.directory import PLAN
from pentathlon.store.query import Result, load_result
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

MOST_ROWS = 20
LOUD = (Verdict.INVALID, Verdict.UNSTABLE)


def is_result(text: str) -> bool:
    """Whether an argument names a result directory and not a system."""
    return (Path(text) / PLAN).is_file()


def chosen(result: Result, name: str | None, other: Result | None = None) -> str:
    """The system that is meant: the named one, the only one, or the only one of both results.

    Raises:
        InputError: there is no such system, or several could be meant.
    """
    names = [system.name for system in result.study.systems]
    if name is not None:
        if name not in names:
            raise InputError(f'"{name}" is no system of {result.path}{did_you_mean(name, names)}')
        return name
    if len(names) > 1 and other is not None:
        common = {system.name for system in other.study.systems}
        names = [one for one in names if one in common] or names
    if len(names) > 1:
        raise InputError(f"{result.path} has several systems; name one of {', '.join(names)}")
    return names[0]


def compare_directories(
    baseline: Path,
    system: Path,
    baseline_name: str | None,
    name: str | None,
    rules: Judging,
) -> list[Across]:
    """Every pair of systems that is meant; all common ones where none is named.

    Args:
        rules: how they are judged instead of by the second result's study.

    Raises:
        InputError: a name is wrong, or the results have no system in common and none is named.
        StoreError: a directory cannot be read.
    """
    if rules.declared or rules.weights:
        option = "--declared" if rules.declared else "--weights"
        raise InputError(
            f"two results are judged row by row, all rows as one family and without a mean; "
            f"leave out {option}, or choose rows with --only"
        )
    first, second = rules.apply(load_result(baseline)), rules.apply(load_result(system))
    if baseline_name is None:
        common = {one.name for one in second.study.systems}
        names = [one.name for one in first.study.systems if one.name in common]
        if names:
            return [_pair(first, second, one, one) for one in names]
        return [_pair(first, second, chosen(first, None), chosen(second, None))]
    other = chosen(second, name or baseline_name)
    return [_pair(first, second, chosen(first, baseline_name), other)]


def _pair(first: Result, second: Result, baseline: str, system: str) -> Across:
    settings = second.study.evaluation
    found = compare_results(
        side(first, baseline), side(second, system), settings.delta_percent, settings.confidence
    )
    update: dict[str, object] = {"post_hoc": find_post_hoc(second)}
    if found.title == found.baseline_title:  # As of two nights: only their names differ.
        update["title"] = f"{found.title}, {second.path.name}"
        update["baseline_title"] = f"{found.title}, {first.path.name}"
    return found.model_copy(update=update)


def render(found: Across, console: Console, full: bool) -> None:
    """Print the judgement of two results."""
    console.print()
    for text in found.unfinished:
        console.print(Text(f"! {sentence(text)}", style="magenta"))
    names = f"{found.system} ({found.title}) against {found.baseline} ({found.baseline_title})"
    console.print(Text(names, style="bold"))
    if marked := post_hoc_words(found.post_hoc):
        console.print(Text(f"  {marked}", style="bold magenta"))
    counts = Counter(row.verdict for row in found.rows)
    if not found.rows or set(counts) <= {Verdict.INVALID}:
        console.print(Text(f"  Nothing can be compared: {_why_empty(found)}.", style="magenta"))
    else:
        line = Text("  ")
        for place, verdict in enumerate(v for v in Verdict if counts[v]):
            line.append(" · " if place else "", style="dim")
            line.append(f"{counts[verdict]} ", style="bold")
            line.append(words(verdict, found.delta_percent), style=STYLES[verdict.sign])
        console.print(line)
    for caution in found.cautions[len(found.unfinished) :]:
        console.print(Text(f"  ! {sentence(caution)}", style="magenta"))
    _table(found, console, full)
    for keys, name in (
        (found.only_baseline, f"{found.baseline}, the first"),
        (found.only_system, f"{found.system}, the second"),
    ):
        if keys:
            console.print(
                Text(
                    f"  {count_text(len(keys), 'row')} only of {name}, such as {keys[0]}",
                    style="dim",
                )
            )
    console.print(
        Text(
            f"\nδ = {percent_text(found.delta_percent)}, confidence "
            f"{percent_text(found.confidence * 100)} for all rows together (Holm); intervals of "
            "Welch over the boots, for each row alone. Speed % is of the geometric means of the "
            "boots; the means shown are arithmetic."
            f"{' Post hoc.' if found.post_hoc else ''}",
            style="dim",
        )
    )


def _why_empty(found: Across) -> str:
    refused = [one.words for one in found.guards if one.outcome == "refused"]
    if refused:
        return "; ".join(refused)
    reasons = Counter(row.reason for row in found.rows)
    if reasons:
        return "; ".join(
            f"{count_text(count, 'row')}: {text}" for text, count in reasons.most_common(3)
        )
    if not found.only_baseline and not found.only_system:
        return "neither has a counted sample"
    sides = (("baseline", found.only_baseline), ("system", found.only_system))
    empty = [name for name, keys in sides if not keys]
    if empty:
        return f"the {empty[0]} has no counted sample"
    return "the two results have no metric with the same case in common"


def _table(found: Across, console: Console, full: bool) -> None:
    telling = [row for row in found.rows if row.verdict.is_difference or row.verdict in LOUD]
    telling.sort(key=lambda row: -abs(row.percent or 0.0))
    rows = list(found.rows) if full else telling[:MOST_ROWS]
    if not rows:
        return
    table = Sheet(under=("why", "verdict"), header_style="bold dim")
    table.add_column("metric", overflow="fold", min_width=16)
    alike = found.baseline == found.system
    for name, which in ((found.baseline, "first"), (found.system, "second")):
        table.add_column(f"{name}, {which}" if alike else name, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("speed %", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=12)
    if any(row.reason for row in rows):
        table.add_column("why", overflow="fold")
    for row in rows:
        divisor, unit = scale(row.unit, row.baseline_mean or row.mean or 0.0)
        name = f"{row.title}, {row.case_text}" if row.case_text else row.title
        interval = ""
        if row.low_percent is not None and row.high_percent is not None:
            interval = interval_text(row.low_percent, row.high_percent)
        verdict = Text(row.words, style=STYLES[row.verdict.sign])
        why = [row.reason] if table.columns[-1].header == "why" else []
        table.add_row(
            Text(name),
            *(
                "–" if mean is None else significant(mean / divisor)
                for mean in (row.baseline_mean, row.mean)
            ),
            unit,
            "" if row.percent is None else signed_percent(row.percent),
            Text(interval),
            verdict,
            *why,
        )
    console.print()
    console.print(table)
    left = len(found.rows) - len(rows)
    if left:
        console.print(Text(f"  {count_text(left, 'more row')} with --full", style="dim"))
