"""`pentathlon history`: one system over several results."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from pentathlon.cli import archived, unfinished
from pentathlon.cli.exits import Exit, InputError
from pentathlon.cli.screen import err, out
from pentathlon.safeio.escaping import breakable
from pentathlon.store.files import write_whole
from pentathlon.store.problems import StoreError
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

if TYPE_CHECKING:
    from pentathlon.archive.site import Spreads
    from pentathlon.archive.site_results import Shown
    from pentathlon.evaluate.results.digest import Digest, SystemDigest
    from pentathlon.evaluate.results.timeline import Point, Timeline


def history(
    results: list[Path] | None,
    *,
    system: str | None,
    where: str | None,
    only: list[str] | None,
    as_json: bool,
    html: Path | None = None,
) -> None:
    from pentathlon.evaluate.results.timeline import timeline  # noqa: PLC0415  loads SciPy

    found = _read(results or [], system, where, only or [])
    line = timeline(found.points, found.confidence, dict(found.weights))
    if html is not None:
        from pentathlon.archive.site import page  # noqa: PLC0415

        widths, shown = found.drawn(line, html.absolute().parent)
        write_whole(html, page(f"{line.system} over time", line, widths, shown))
        err.print(f"page: {html}", soft_wrap=True)
    if as_json:
        print(_text(_document(line, found.unfinished)))
    else:
        for path, text in found.unfinished.items():
            unfinished.say(f"{path}: {text}")
        _show(line)
    raise typer.Exit(Exit.REGRESSION if line.regressions else Exit.OK)


@dataclass(frozen=True)
class _Read:
    """What a line is made of.

    Attributes:
        drawn: of a line and its page's directory, what is drawn beside it: the spread of each
            result's boots, and the results themselves where they are an archive's.
        unfinished: path -> how far a run is that has not ended.
    """

    points: list[Point]
    confidence: float
    weights: Mapping[str, float]
    drawn: Callable[[Timeline, Path], tuple[Spreads, Shown | None]]
    unfinished: Mapping[str, str] = field(default_factory=dict)


def _read(paths: list[Path], system: str | None, where: str | None, only: list[str]) -> _Read:
    if len(paths) == 1 and archived.is_archive(paths[0]):
        return _of_archive(archived.text_of(paths[0]), system, where, only)
    archived.refuse_where(where)
    return _of_directories(paths, system, only)


def _of_archive(place: str, system: str | None, where: str | None, only: list[str]) -> _Read:
    from pentathlon.archive import line, reading  # noqa: PLC0415  loads polars
    from pentathlon.archive.engines import engine  # noqa: PLC0415
    from pentathlon.archive.log import open_archive  # noqa: PLC0415
    from pentathlon.evaluate.results.matching import matches  # noqa: PLC0415

    archive = open_archive(place)
    run = engine(archive)
    overview = reading.overview(archive, where, run)
    last = overview.last
    archived.caution_machines("the results are", overview.machines)
    archived.caution_studies(overview.studies, "choose one with --where 'study = \"NAME\"'")
    chosen = (lambda key: matches(key, only)) if only else None
    points = line.points(run, where, system or last["reference"], chosen)

    def drawn(found: Timeline, to: Path) -> tuple[Spreads, Shown]:
        from pentathlon.archive.site import spreads  # noqa: PLC0415
        from pentathlon.archive.site_results import shown  # noqa: PLC0415

        held = reading.some(archive, where, run)
        return spreads(run, where, found.system), shown(archive, found, held, to)

    return _Read(points, last["confidence"], json.loads(last["weights_json"]), drawn)


def _of_directories(paths: list[Path], system: str | None, only: list[str]) -> _Read:
    from pentathlon.evaluate.results.digest import read_digest  # noqa: PLC0415
    from pentathlon.evaluate.results.timeline import Point  # noqa: PLC0415  loads SciPy

    if paths:
        found = [(path, read_digest(path)) for path in dict.fromkeys(paths)]
        archived.caution_studies(sorted({one.study for _, one in found}), "name those of one")
    else:
        from pentathlon.store.directory import RESULTS  # noqa: PLC0415  loads pydantic
        from pentathlon.store.query import newest  # noqa: PLC0415  loads polars

        study = read_digest(newest(RESULTS)).study
        found = [(path, one) for path, one in _readable(RESULTS) if one.study == study]
    last = max(found, key=lambda one: (one[1].started, str(one[0])))[1]
    name = system or last.reference
    having = [(path, one) for path, one in found if name in one.systems]
    if not having:
        raise InputError(f'no result has a system "{name}"')
    points = [
        Point(str(path), one.started, _narrowed(one.systems[name], only)) for path, one in having
    ]
    if only and not any(one.found.levels for one in points):
        from pentathlon.archive.line import NO_ROW  # noqa: PLC0415

        raise InputError(NO_ROW.format(system=name))
    cut = {str(path): one.unfinished for path, one in having if one.unfinished}
    return _Read(points, last.confidence, last.weights, _drawn, cut)


def _drawn(line: Timeline, _: Path) -> tuple[Spreads, None]:
    """The spread of the boots in results that are directories."""
    from pentathlon.archive.site_results import digits  # noqa: PLC0415
    from pentathlon.evaluate.results.across import side  # noqa: PLC0415
    from pentathlon.store.query import load_result  # noqa: PLC0415  loads polars

    found: dict[tuple[str, str], tuple[int, float]] = {}
    for one in line.points:
        rows = side(load_result(Path(one.label)), line.system).everything
        for key, series in rows.items():
            values = list(series.blocks.values())
            if len(values) > 1 and min(values) > 0.0:
                spread = stdev(map(math.log, values))
                found[digits(one.label), key] = len(values), spread
    return found, None


def _readable(root: Path) -> Iterator[tuple[Path, Digest]]:
    from pentathlon.evaluate.results.digest import read_digest  # noqa: PLC0415
    from pentathlon.store.directory import result_directories  # noqa: PLC0415

    for path in result_directories(root):
        with suppress(StoreError):
            yield path, read_digest(path)


def _narrowed(found: SystemDigest, only: list[str]) -> SystemDigest:
    if not only:
        return found
    from pentathlon.evaluate.results.matching import matches  # noqa: PLC0415

    levels = {key: one for key, one in found.levels.items() if matches(key, only)}
    return replace(found, levels=levels)


def _document(line: Timeline, cut: Mapping[str, str]) -> dict[str, object]:
    """The changes; `cut`: path -> how far its run is, of results whose runs have not ended."""
    from pentathlon.evaluate.estimators.ratio import percent  # noqa: PLC0415

    return {
        "unfinished": [{"path": path, "unfinished": text} for path, text in cut.items()],
        "system": line.system,
        "results": [{"path": p.label, "started": p.started, "build": p.build} for p in line.points],
        "left_out": [{"path": label, "reason": reason} for label, reason in line.left_out],
        "unassessed": line.unassessed,
        "regressions": [one.key for one in line.regressions],
        "metrics": [
            {
                "key": one.key,
                "speed_log": one.speeds.tolist(),
                "autocorrelation": one.correlation,
                "changes": [
                    {
                        "at": line.points[change.at].label,
                        "percent": percent(change.mean),
                        "low_percent": percent(change.low),
                        "high_percent": percent(change.high),
                        "p": change.p,
                    }
                    for change in one.changes
                ],
            }
            for one in line.courses
        ],
    }


def _text(document: Mapping[str, object]) -> str:
    """A document as JSON with a line for each element of its lists: with more of them, the encoder
    would be the slow one of Python, for which thousands of results take long."""
    parts = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        else:
            text = json.dumps(value)
        parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _show(line: Timeline) -> None:
    from pentathlon.evaluate.display import percent_text, signed_percent  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.estimators.ratio import percent  # noqa: PLC0415

    changing = [one for one in line.courses if one.changes]
    out.print(Text(f"{line.system} over {count_text(len(line.points), 'result')}", style="bold"))
    for label, reason in line.left_out:
        out.print(Text(f"  ! {label} is left out: {reason}", style="magenta"))
    if line.unassessed:
        out.print(f"  not assessed: {line.unassessed}")
        return
    metrics = count_text(len(line.metrics), "metric")
    if not changing:
        out.print(f"  no change of level in {metrics}")
        return
    own = sum(bool(one.changes) for one in line.metrics)
    mean = ", and in the weighted mean of all" if own < len(changing) else ""
    out.print(f"  changes of level in {own} of {metrics}{mean}")
    table = Sheet(under=("beside it",), header_style="bold dim")
    for name, right in (
        ("since", False),
        ("metric", False),
        ("speed %", True),
        ("interval", True),
        ("p", True),
        ("beside it", False),
    ):
        table.add_column(
            name,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=name in {"since", "p"},
        )
    rows = [(change.at, one, change) for one in changing for change in one.changes]
    for at, one, change in sorted(rows, key=lambda row: (row[0], -abs(row[2].mean))):
        before, after = line.points[at - 1], line.points[at]
        low, high = signed_percent(percent(change.low)), signed_percent(percent(change.high))
        beside = "" if before.build == after.build else "the agent's build changed too"
        if before.found.kernel != after.found.kernel:
            kernels = f"kernel {before.found.kernel} to {after.found.kernel}"
            beside = f"{beside}, {kernels}" if beside else kernels
        table.add_row(
            after.started[:19].replace("T", " "),
            Text(breakable(one.key)),
            Text(
                signed_percent(percent(change.mean)),
                style="bold cyan" if change.mean > 0 else "bold yellow",
            ),
            Text(f"[{low}, {high}]"),
            f"{change.p:.2g}",
            beside,
        )
    out.print(table)
    level = percent_text(line.confidence * 100.0)
    out.print(
        f"Speed: the level since then against the one before, + is faster, with its {level} "
        f"interval. Named at a confidence of {level} for all rows together (Holm); times in UTC."
    )
