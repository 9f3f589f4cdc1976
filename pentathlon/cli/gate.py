"""`pentathlon gate`: an exit status for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from pentathlon.cli import archived
from pentathlon.cli.exits import Exit, InputError
from pentathlon.cli.gate_within import Choices, answered, failures, narrowed, post_hoc, within
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out, write_json
from pentathlon.safeio.escaping import breakable, one_line
from pentathlon.store.files import write_whole
from pentathlon.store.query import Result, load_result
from pentathlon.tables.sheet import Sheet

if TYPE_CHECKING:
    from pentathlon.evaluate.results.gate import Entry, Gate, GateRow


MOST_ROWS = 20


def gate(
    result: Path | None,
    *,
    against: str | None,
    system: str | None,
    delta: float | None,
    only: list[str] | None,
    by_delta: bool,
    where: str | None,
    last: int,
    shape: str,
    as_json: bool,
    directory: Path | None,
    quarantine: Path | None,
    remeasure: str | None,
    yes: bool,
) -> None:
    with ExitStack() as stack:
        if delta is not None and not 0 < delta < 100:
            raise InputError(f"--delta is {delta:g}; give a percentage between 0 and 100")
        shape = "json" if as_json else shape
        if shape not in SHAPES:
            raise InputError(f'--format is "{shape}"; use one of {", ".join(SHAPES)}')
        pool = None
        if result is not None and archived.is_archive(result):
            if against is not None:
                raise InputError("a result of an archive is judged against those before it there")
            pool = _Pool(archived.text_of(result), where, last)
            result = stack.enter_context(pool.newest())
        elif against is not None and archived.is_archive(Path(against)):
            pool = _Pool(archived.text_of(Path(against)), where, last)
        elif where is not None:
            raise InputError("--where chooses from an archive; name one with --against")
        found = load_result(choose(result))
        size = found.study.evaluation.delta_percent if delta is None else delta
        choices = Choices(against, system, size, only or [], by_delta)
        if remeasure is not None:
            outcome = _again(found, pool, choices, remeasure, quarantine, yes=yes)
        elif pool is None:
            outcome = _judge(found, choices)
        else:
            outcome = _pooled(found, pool, choices)
        outcome = _apart(outcome, quarantine)
        _write(outcome, shape, directory)
        raise typer.Exit(_status(outcome))


SHAPES = ("terminal", "json", "junit", "github", "markdown")


def _write(found: Gate, shape: str, directory: Path | None) -> None:
    """Print the answer; with a directory, write it there in every format of files too."""
    if shape == "terminal":
        _show(found)
    elif shape == "json":
        write_json(found.model_dump_json(indent=1))
    if shape in ("terminal", "json") and directory is None:
        return
    from pentathlon.cli.gate_formats import FILES, FORMATS  # noqa: PLC0415  loads SciPy

    if shape not in ("terminal", "json"):
        print(FORMATS[shape](found), end="")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, kind in FILES.items():
            write_whole(directory / name, FORMATS[kind](found))


@dataclass(frozen=True)
class _Pool:
    """The last good results of an archive, as a baseline."""

    archive: str
    where: str | None
    last: int

    @contextmanager
    def newest(self) -> Iterator[Path]:
        """The newest result that the filter chooses, as a directory for a while."""
        from pentathlon.archive import reading  # noqa: PLC0415  loads polars
        from pentathlon.archive.log import open_archive  # noqa: PLC0415

        archive = open_archive(self.archive)
        one = reading.some(archive, self.where)[-1]
        with archived.directories(archive, [one]) as [out]:
            err.print(f"judged: {one_line(one.label)}", soft_wrap=True)
            yield out


def _pooled(found: Result, pool: _Pool, choices: Choices) -> Gate:
    """Judge a result against the last good ones of an archive."""
    from pentathlon.archive.engines import engine  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415
    from pentathlon.archive.pool import last_good, origins  # noqa: PLC0415
    from pentathlon.archive.source import look  # noqa: PLC0415
    from pentathlon.cli import across  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.results.across import side  # noqa: PLC0415
    from pentathlon.evaluate.results.matching import matches  # noqa: PLC0415
    from pentathlon.evaluate.results.pooled import FEWEST_RUNS, compare_pooled  # noqa: PLC0415

    if pool.last < FEWEST_RUNS:
        raise InputError(f"--last is {pool.last}; a pooled baseline needs {FEWEST_RUNS} at least")
    confidence, only = found.study.evaluation.confidence, choices.only
    run = engine(open_archive(pool.archive))
    but, started = look(found.path).identity, found.summary().started
    found = narrowed(found, choices.delta_percent, only)
    of, studies = origins(run, pool.where, pool.last, before=started, but=but)
    archived.caution_machines("the baseline is", of)
    others = sorted({*studies, found.study.name})
    archived.caution_studies(others, "choose one with --where 'study = \"NAME\"'")
    entries: list[Entry] = []
    used: dict[str, None] = {}
    for name in choices.judged(found):
        runs = last_good(
            run, pool.where, across.chosen(found, name), pool.last, before=started, but=but
        )
        one = compare_pooled(runs, side(found, name), choices.delta_percent, confidence)
        for label, reason in one.left_out:
            err.print(f"! {label} is left out: {reason}", soft_wrap=True)
        used.update(dict.fromkeys(one.used))
        entries += [entry for entry in one.entries if matches(entry.key, only)]
    if not entries and not failures(found, only):
        which = "that --only chooses" if only else "to judge"
        raise InputError(f"{found.path} has no metric {which}")
    label = f"{_last(len(used))} in {pool.archive}"
    answer = answered(found, entries, label, choices, confidence)
    return answer.model_copy(update={"post_hoc": post_hoc(found)})


def _last(count: int) -> str:
    return "the last good result" if count == 1 else f"the last {count} good results"


def _apart(outcome: Gate, quarantine: Path | None) -> Gate:
    """Set rows apart that are known to be unstable."""
    if quarantine is None:
        return outcome
    from pentathlon.cli.quarantine import apply  # noqa: PLC0415  loads SciPy

    return apply(outcome, quarantine)


def _again(
    found: Result,
    pool: _Pool | None,
    choices: Choices,
    budget: str,
    quarantine: Path | None,
    *,
    yes: bool,
) -> Gate:
    """Judge a result's own systems, and measure again what is not known well enough."""
    from pentathlon.cli import across, gate_again  # noqa: PLC0415  loads SciPy

    spendable = gate_again.budget_of(budget)
    if pool is not None or (choices.against is not None and across.is_result(choices.against)):
        raise InputError(
            "--remeasure measures the systems of one result again, and a stored baseline stays as "
            "it is; measure both builds as systems of one study"
        )
    return gate_again.gate_again(
        found, choices, spendable, lambda one: _apart(one, quarantine), yes=yes
    )


def _status(found: Gate) -> Exit:
    from pentathlon.evaluate.results.gate import Outcome  # noqa: PLC0415

    if found.unfinished:
        return Exit.UNFINISHED
    return {
        Outcome.PASS: Exit.OK,
        Outcome.QUARANTINED: Exit.OK,
        Outcome.FAILURE: Exit.FAILURES,
        Outcome.REGRESSION: Exit.REGRESSION,
        Outcome.INCONCLUSIVE: Exit.INCONCLUSIVE,
    }[found.outcome]


def _judge(found: Result, choices: Choices) -> Gate:
    from pentathlon.cli import across  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.results import gate as gates  # noqa: PLC0415
    from pentathlon.evaluate.results.across import compare_results, side  # noqa: PLC0415

    against, size = choices.against, choices.delta_percent
    confidence = found.study.evaluation.confidence
    found = narrowed(found, size, choices.only)
    unfinished = found.unfinished
    entries: list[Entry]
    if against is not None and across.is_result(against):
        baseline = narrowed(load_result(Path(against)), size, choices.only)
        if baseline.unfinished:
            of = f"the baseline is {baseline.unfinished}"
            unfinished = f"{unfinished}; {of}" if unfinished else of
        known = {one.name for one in baseline.study.systems}
        entries, label = [], against
        for name in choices.judged(found):
            other = name if name in known else across.chosen(baseline, None)
            pair = compare_results(
                side(baseline, other),
                side(found, across.chosen(found, name)),
                size,
                confidence,
            )
            for caution in pair.cautions:
                err.print(f"! {caution}", soft_wrap=True)
            entries += gates.of_across(pair)
    else:
        label, entries, _ = within(found, choices)
    answer = answered(found, entries, label, choices, confidence)
    return answer.model_copy(update={"unfinished": unfinished, "post_hoc": post_hoc(found)})


def _show(found: Gate) -> None:
    from pentathlon.cli.gate_formats import further_words, grave, interval, why  # noqa: PLC0415
    from pentathlon.evaluate.display import percent_text, signed_percent  # noqa: PLC0415
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
    for line in further_words(found):
        out.print(line, soft_wrap=True)
    if marked := post_hoc_words(found.post_hoc):
        out.print(Text(marked, style="bold magenta"), soft_wrap=True)
    bad = grave(found)
    if not bad:
        return
    table = Sheet(under=("why",), header_style="bold dim")
    reasons = ("why",) if any(map(why, bad)) else ()
    for name in ("outcome", "system", "metric", "speed %", "interval", *reasons):
        number = name in {"speed %", "interval"}
        table.add_column(
            name, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    groups = _groups(bad)
    for group in groups[:MOST_ROWS]:
        row = group[0]
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        table.add_row(
            row.outcome.value,
            row.system,
            Text(breakable(row.key) + more),
            "" if row.percent is None else signed_percent(row.percent),
            Text(interval(row)),
            *(Text(why(row)) for _ in reasons),
        )
    out.print(table)
    if left := sum(map(len, groups[MOST_ROWS:])):
        out.print(f"and {left} more; --format json has them all", style="dim")


def _groups(rows: Sequence[GateRow]) -> list[list[GateRow]]:
    """Cases of which nothing is known but the same reason share a line."""
    found: dict[tuple[str, ...], list[GateRow]] = {}
    for row in rows:
        metric = row.key.partition("[")[0] if row.percent is None else row.key
        found.setdefault((row.outcome.value, row.system, metric, row.words), []).append(row)
    return list(found.values())
