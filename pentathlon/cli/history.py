"""`pentathlon history`: one system over several results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pentathlon.cli import unfinished
from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.screen import out
from pentathlon.store.directory import RESULTS
from pentathlon.store.query import Result, list_results, load_result, newest
from pentathlon.study.counting import count_text

if TYPE_CHECKING:
    from pentathlon.evaluate.results.timeline import Timeline


def history(results: list[Path] | None, *, system: str | None, as_json: bool) -> None:
    with domain_errors():
        from pentathlon.evaluate.results.timeline import point, timeline  # noqa: PLC0415  loads SciPy

        found = _results(results or [])
        last = max(found, key=lambda one: (one.summary().started, str(one.path)))
        name = system or last.study.reference
        having = [one for one in found if name in {s.name for s in one.study.systems}]
        if not having:
            raise InputError(f'no result has a system "{name}"')
        line = timeline(
            [point(one, name, str(one.path), one.summary().started) for one in having],
            last.study.evaluation.confidence,
            dict(last.study.weights),
        )
        cut = {str(one.path): one.unfinished for one in having if one.unfinished}
        if as_json:
            print(json.dumps(_document(line, cut), indent=1))
        else:
            for path, text in cut.items():
                unfinished.say(f"{path}: {text}")
            _show(line)


def _results(paths: list[Path]) -> list[Result]:
    if paths:
        return [load_result(path) for path in dict.fromkeys(paths)]
    study = load_result(newest(RESULTS)).study.name
    return [load_result(one.path) for one in list_results(RESULTS) if one.name == study]


def _document(line: Timeline, cut: Mapping[str, str]) -> dict[str, object]:
    """The changes; `cut`: path -> how far its run is, of results whose runs have not ended."""
    from pentathlon.evaluate.estimators.ratio import percent  # noqa: PLC0415

    return {
        "unfinished": [{"path": path, "unfinished": text} for path, text in cut.items()],
        "system": line.system,
        "results": [{"path": p.label, "started": p.started, "build": p.build} for p in line.points],
        "left_out": [{"path": label, "reason": reason} for label, reason in line.left_out],
        "unassessed": line.unassessed,
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


def _show(line: Timeline) -> None:
    from pentathlon.evaluate.display import signed_percent  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.estimators.ratio import percent  # noqa: PLC0415

    changing = [one for one in line.courses if one.changes]
    out.print(Text(f"{line.system} over {count_text(len(line.points), 'result')}", style="bold"))
    for label, reason in line.left_out:
        out.print(Text(f"  ! {label} is left out: {reason}", style="magenta"))
    if line.unassessed:
        out.print(f"  not assessed: {line.unassessed}", markup=False)
        return
    if not changing:
        out.print(f"  no change of level in {count_text(len(line.courses), 'metric')}")
        return
    out.print(f"  changes of level in {len(changing)} of {count_text(len(line.courses), 'metric')}")
    table = Table(box=None, pad_edge=False, header_style="bold dim")
    for name, right in (
        ("since", False),
        ("metric", False),
        ("speed %", True),
        ("interval", True),
        ("beside it", False),
    ):
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    rows = [(change.at, one, change) for one in changing for change in one.changes]
    for at, one, change in sorted(rows, key=lambda row: (row[0], -abs(row[2].mean))):
        before, after = line.points[at - 1], line.points[at]
        low, high = signed_percent(percent(change.low)), signed_percent(percent(change.high))
        beside = "" if before.build == after.build else "the agent's build changed too"
        if before.found.facts.kernel != after.found.facts.kernel:
            kernels = f"kernel {before.found.facts.kernel} to {after.found.facts.kernel}"
            beside = f"{beside}, {kernels}" if beside else kernels
        table.add_row(
            after.started[:19].replace("T", " "),
            Text(one.key),
            Text(
                signed_percent(percent(change.mean)),
                style="bold cyan" if change.mean > 0 else "bold yellow",
            ),
            Text(f"[{low}, {high}]"),
            beside,
        )
    out.print(table)
