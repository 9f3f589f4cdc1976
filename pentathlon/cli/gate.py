"""`pentathlon gate`: an exit status for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from pentathlon.cli.exits import Exit, InputError, domain_errors
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out, write_json
from pentathlon.store.query import Result, load_result

if TYPE_CHECKING:
    from pentathlon.evaluate.model import PostHoc
    from pentathlon.evaluate.results.gate import Entry, Gate


MOST_ROWS = 20


def gate(
    result: Path | None,
    *,
    against: str | None,
    system: str | None,
    delta: float | None,
    only: list[str] | None,
    by_delta: bool,
    as_json: bool,
) -> None:
    with domain_errors():
        if delta is not None and not 0 < delta < 100:
            raise InputError(f"--delta is {delta:g}; give a percentage between 0 and 100")
        found = load_result(choose(result))
        outcome = _judge(found, against, system, delta, only or [], by_delta=by_delta)
        if as_json:
            write_json(outcome.model_dump_json(indent=1))
        else:
            _show(outcome)
        raise typer.Exit(_status(outcome))


def _status(found: Gate) -> Exit:
    from pentathlon.evaluate.results.gate import Outcome  # noqa: PLC0415

    if found.unfinished:
        return Exit.UNFINISHED
    return {
        Outcome.PASS: Exit.OK,
        Outcome.FAILURE: Exit.FAILURES,
        Outcome.REGRESSION: Exit.REGRESSION,
        Outcome.INCONCLUSIVE: Exit.INCONCLUSIVE,
    }[found.outcome]


def _judge(
    found: Result,
    against: str | None,
    system: str | None,
    delta: float | None,
    only: list[str],
    *,
    by_delta: bool,
) -> Gate:
    from pentathlon.cli import across  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.results import gate as gates  # noqa: PLC0415
    from pentathlon.evaluate.results.across import compare_results, side  # noqa: PLC0415

    settings = found.study.evaluation
    size = settings.delta_percent if delta is None else delta
    found = _narrowed(found, size, only)
    unfinished = found.unfinished
    entries: list[Entry]
    if against is not None and across.is_result(against):
        baseline = _narrowed(load_result(Path(against)), size, only)
        if baseline.unfinished:
            of = f"the baseline is {baseline.unfinished}"
            unfinished = f"{unfinished}; {of}" if unfinished else of
        names = [system] if system else [one.name for one in found.study.systems]
        known = {one.name for one in baseline.study.systems}
        entries, label = [], against
        for name in names:
            other = name if name in known else across.chosen(baseline, None)
            pair = compare_results(
                side(baseline, other),
                side(found, across.chosen(found, name)),
                size,
                settings.confidence,
            )
            for caution in pair.cautions:
                err.print(f"! {caution}", markup=False, soft_wrap=True)
            entries += gates.of_across(pair)
    else:
        label = across.chosen(found, against or found.study.reference)
        others = [system] if system else [
            one.name for one in found.study.systems if one.name != label
        ]  # fmt: skip
        for name in others:
            across.chosen(found, name)
        if not others or others == [label]:
            raise InputError(
                f"{found.path} has one system, {label}; name another result with --against"
            )
        evaluated = gates.evaluate(found.focused(label, others))
        entries = gates.of_evaluation(
            evaluated, gates.Rule.declared(found.plan.study), gates.delta_log(size)
        )
        entries += [
            _failed("identical systems", one.systems[1], one.words)
            for one in evaluated.identical
            if one.whole
        ]
    entries += _failures(found, only)
    if not entries:
        what = f" that --only {' --only '.join(only)} chooses" if only else ""
        raise InputError(f"{found.path} has no metric{what}")
    return gates.gate(
        entries,
        label,
        delta_percent=size,
        confidence=settings.confidence,
        only_by_delta=by_delta,
    ).model_copy(update={"unfinished": unfinished, "post_hoc": _post_hoc(found)})


def _post_hoc(found: Result) -> tuple[PostHoc, ...]:
    """What the options chose; that a gate looks at every metric alike is its own rule."""
    from pentathlon.evaluate.posthoc import find_post_hoc  # noqa: PLC0415  loads SciPy

    return tuple(one for one in find_post_hoc(found) if one.what != "declared")


def _failures(found: Result, only: list[str]) -> list[Entry]:
    """What was requested and failed for good, which may have no row of its own."""
    from pentathlon.evaluate.results.gate import matches  # noqa: PLC0415  loads SciPy

    values: dict[tuple[str, str], str] = {}
    names = {system.name for system in found.study.systems}
    for failure in found.state.unresolved():
        name = failure.workload or "boot"
        if failure.system in names and (failure.workload is None or matches(f"{name}.", only)):
            values.setdefault((name, failure.system), failure.reason)
    return [_failed(name, system, f"failed: {reason}") for (name, system), reason in values.items()]


def _failed(name: str, system: str, words: str) -> Entry:
    from pentathlon.evaluate.results.gate import Entry, Verdict  # noqa: PLC0415  loads SciPy

    return Entry(
        key=name,
        workload=name,
        system=system,
        percent=None,
        low_percent=None,
        high_percent=None,
        p_not_worse=None,
        verdict=Verdict.NOT_MEASURED,
        words=words,
    )


def _narrowed(found: Result, delta: float, only: list[str]) -> Result:
    """The result with another δ and with the chosen metrics alone, which are its family."""
    from pentathlon.evaluate.results.gate import matches  # noqa: PLC0415  loads SciPy

    evaluation = found.study.evaluation.model_copy(
        update={"delta_percent": delta, "declared": None}
    )
    return found.narrowed(evaluation, lambda key: matches(key, only))


def _show(found: Gate) -> None:
    from pentathlon.evaluate.display import interval_text, percent_text, signed_percent  # noqa: PLC0415
    from pentathlon.evaluate.posthoc import words as post_hoc_words  # noqa: PLC0415
    from pentathlon.evaluate.results.gate import Outcome  # noqa: PLC0415
    from pentathlon.report.answer import sentence  # noqa: PLC0415

    if found.unfinished:
        out.print(sentence(found.unfinished), style="bold magenta", soft_wrap=True)
    counts = [f"{len(found.of(one))} {one.value}" for one in Outcome if found.of(one)]
    head = Text(f"{found.outcome.value}", style="bold")
    head.append(
        f" against {found.baseline}, δ = {percent_text(found.delta_percent)}: {', '.join(counts)}",
        style="not bold",
    )
    if found.post_hoc:
        head.append(", post hoc", style="not bold")
    out.print(head)
    if marked := post_hoc_words(found.post_hoc):
        out.print(Text(marked, style="bold magenta"), soft_wrap=True)
    bad = [row for row in found.rows if row.outcome is not Outcome.PASS]
    if not bad:
        return
    order = list(Outcome)
    bad.sort(key=lambda row: (order.index(row.outcome), row.percent or 0.0))
    table = Table(box=None, pad_edge=False, header_style="bold dim")
    for name in ("outcome", "system", "metric", "speed %", "interval", "why"):
        table.add_column(name, justify="right" if name in {"speed %", "interval"} else "left",
                         overflow="fold")  # fmt: skip
    for row in bad[:MOST_ROWS]:
        interval = ""
        if row.low_percent is not None and row.high_percent is not None:
            interval = interval_text(row.low_percent, row.high_percent)
        table.add_row(
            row.outcome.value,
            row.system,
            Text(row.key),
            "" if row.percent is None else signed_percent(row.percent),
            Text(interval),
            Text(row.words),
        )
    out.print(table)
    if len(bad) > MOST_ROWS:
        out.print(f"and {len(bad) - MOST_ROWS} more; --json has them all", style="dim")
