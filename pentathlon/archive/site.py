"""Static pages of an archive: a page for each study, machine and system, a line for each row.

Nothing but files: they open from a directory, and any static file server shows them. Beside the
pages lie `alerts.json`, every change of level that is named, and `metrics.prom`, for Prometheus.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from pentathlon.archive import queries
from pentathlon.archive.engines import Engine
from pentathlon.archive.line import points
from pentathlon.archive.log import Archive
from pentathlon.archive.reading import some
from pentathlon.archive.site_results import Shown, anchor, digits, environment, shown, table
from pentathlon.archive.where import ALWAYS, both, quoted, to_sql
from pentathlon.evaluate.display import interval_text, percent_text, signed_percent
from pentathlon.evaluate.estimators.ratio import percent
from pentathlon.evaluate.results.history import Course
from pentathlon.evaluate.results.timeline import EVERYTHING, Timeline, timeline
from pentathlon.evaluate.special import special
from pentathlon.safeio.escaping import one_line
from pentathlon.store.files import read_bytes, write_whole

ALERTS = "alerts.json"
BACK = '<p><a href="index.html">All lines</a></p>'
METRICS = "metrics.prom"
WIDTH, HEIGHT, EDGE = 720.0, 120.0, 8.0

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
figure{margin:1.5rem 0}.ends{display:flex;justify-content:space-between;margin:0;color:#777}
figcaption{overflow-wrap:anywhere}svg{width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}
.mean{stroke:#1f5fa8;fill:none;stroke-width:1.5}.bar{stroke:#8fb3d9;stroke-width:1}
.slower{stroke:#b4530a;stroke-dasharray:4 3}.faster{stroke:#1d7a3c;stroke-dasharray:4 3}
.level{stroke:#888;stroke-width:1}.wide{overflow-x:auto}:target{background:#8fb3d944}
td{vertical-align:top;overflow-wrap:anywhere;min-width:4.5rem}
td:first-child{overflow-wrap:normal}details{margin:.3rem 0}
a{color:#1f5fa8}circle{fill:#1f5fa8}svg{overflow:visible}
@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}a{color:#8fb3d9}}
"""

Spreads = Mapping[tuple[str, str], tuple[int, float]]


@dataclass(frozen=True)
class Alert:
    """A change of level that is named."""

    study: str
    machine: str
    system: str
    key: str
    since: str
    started: str
    percent: float
    low_percent: float
    high_percent: float
    p: float

    @property
    def slower(self) -> bool:
        return self.percent < 0


@dataclass(frozen=True)
class Site:
    """What was written. `new`: changes that the directory's `alerts.json` did not have before."""

    files: tuple[Path, ...]
    alerts: tuple[Alert, ...]
    new: tuple[Alert, ...]


def write(archive: Archive, run: Engine, where: str | None, out: Path) -> Site:
    """Write the pages. Their changes stay new until `note`.

    Raises:
        StoreError: the filter chooses nothing.
        OSError: the directory cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    before = _known(out / ALERTS)
    held = some(archive, where, run)
    places = {(one.study, one.machine, system) for one in held for system in one.systems}
    alerts: list[Alert] = []
    rows, metrics, files = [], [], []
    for study, machine, system in sorted(places):
        own = f"r.study = {quoted(study)} and r.machine = {quoted(machine)}"
        line = _line(run, where, own, system)
        found = [_alert(study, machine, line, one, change) for one in line.courses
                 for change in one.changes]  # fmt: skip
        alerts += found
        name = _file(study, machine, system)
        widths = spreads(run, where, system, own)
        title = f"{study}: {line.system} on {one_line(machine)}"
        results = shown(archive, line, held, out)
        write_whole(out / name, page(title, line, widths, results, back=BACK))
        files.append(out / name)
        # Of a line that is not assessed nothing is known, which is not "no change".
        judged = (
            f"<td>{len(line.courses)}</td><td>{len(found)}</td><td>{len(line.regressions)}</td>"
            if not line.unassessed
            else f'<td colspan="3">not assessed: {escape(line.unassessed)}</td>'
        )
        rows.append(
            f'<tr><td><a href="{name}">{escape(study)}</a></td><td>{escape(one_line(machine))}</td>'
            f"<td>{escape(system)}</td><td>{len(line.points)}</td>{judged}</tr>"
        )
        metrics += _metrics(study, machine, line)
    head = "".join(
        f"<th>{one}</th>"
        for one in ("study", "machine", "system", "results", "rows", "changes", "now slower")
    )
    table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
    body = f'<h1>Results over time</h1><div class="wide">{table}</div>'
    write_whole(out / "index.html", _document("Results over time", body))
    write_whole(out / METRICS, _exposition(metrics))
    files += [out / "index.html", out / METRICS]
    new = tuple(one for one in alerts if _identity(vars(one)) not in before)
    return Site(tuple(files), tuple(alerts), new)


def note(out: Path, found: Site) -> None:
    """Write the changes down in `alerts.json`: from now on they are not new.

    Raises:
        OSError: the file cannot be written.
    """
    text = json.dumps([vars(one) for one in found.alerts], indent=1) + "\n"
    write_whole(out / ALERTS, text)


def _file(study: str, machine: str, system: str) -> str:
    """Name of a line's page, which stays the same whatever other lines there are."""
    digest = hashlib.sha256("\0".join((study, machine, system)).encode()).hexdigest()
    return f"{re.sub(r'[^a-z0-9.]+', '-', f'{study}-{system}'.lower())[:60]}-{digest[:8]}.html"


def _line(run: Engine, where: str | None, own: str, system: str) -> Timeline:
    [last] = run.rows(queries.newest(both(to_sql(where, "r."), own)))
    found = points(run, where, system, also=own)
    return timeline(found, last["confidence"], json.loads(last["weights_json"]))


def spreads(run: Engine, where: str | None, system: str, own: str = ALWAYS) -> Spreads:
    """How far the boots of each row lie apart in the results that a filter chooses.

    Args:
        own: a further condition, in SQL.
    """
    found = run.rows(queries.spreads(both(to_sql(where, "r."), own), system))
    return {
        (row["result"][:12], row["key"]): (int(row["boots"]), float(row["log_sd"]))
        for row in found
        if row["log_sd"] is not None
    }


def _alert(study: str, machine: str, line: Timeline, one: Course, change: Any) -> Alert:
    at = line.points[change.at]
    return Alert(study, machine, line.system, one.key, at.label, at.started,
                 percent(change.mean), percent(change.low), percent(change.high),
                 change.p)  # fmt: skip


def _known(path: Path) -> set[tuple[str, ...]]:
    """The changes that were named before; none where the file is no list of them."""
    try:
        return {_identity(one) for one in json.loads(read_bytes(path))}
    except (OSError, ValueError, LookupError, TypeError):
        return set()


def _identity(one: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(one[name]) for name in ("study", "machine", "system", "key", "since"))


def page(
    title: str,
    line: Timeline,
    widths: Spreads,
    results: Shown | None = None,
    *,
    back: str = "",
) -> str:
    """The page of one line.

    Args:
        results: those of an archive, which the page names and links.
        widths: (first digits of a result's id, row) -> boots and their standard deviation.
        back: a link to the page before.
    """
    parts = [f"{back}<h1>{escape(title)}</h1>"]
    if line.unassessed:
        parts.append(f"<p>Not assessed: {escape(line.unassessed)}</p>")
    for label, reason in line.left_out:
        parts.append(f"<p>{escape(label)} is left out: {escape(reason)}</p>")
    if line.courses:
        parts.append(f"<p>{_legend(line, widths)}</p>")
    courses = sorted(line.courses, key=lambda one: (not one.changes, one.key))
    known = Shown() if results is None else results
    parts += [_figure(line, one, widths, known) for one in courses]
    parts.append(table(line, known))
    return _document(title, "\n".join(parts))


def _legend(line: Timeline, widths: Spreads) -> str:
    level = percent_text(line.confidence * 100.0)
    bars = "The bar is the 95 % interval of its mean by its own boots. " if widths else ""
    return (
        f"A point is a result, in the order of time; higher is faster. {bars}A dashed "
        f"line is a change of level, named at a confidence of {level} for all rows together "
        f"(Holm), with the {level} interval of its size for itself; p allows for every place "
        f"where the change could be. “{EVERYTHING}” is the weighted mean of all rows."
    )


def _figure(line: Timeline, one: Course, widths: Spreads, results: Shown) -> str:
    count = len(one.speeds)
    halves = [_half(point.label, one.key, widths) for point in line.points]
    lows = [speed - half for speed, half in zip(one.speeds, halves, strict=True)]
    highs = [speed + half for speed, half in zip(one.speeds, halves, strict=True)]
    base = float(one.speeds[0])
    bottom, top = min(lows), max(highs)
    room = (top - bottom) or 1.0

    def x(place: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * place / max(count - 1, 1)

    def y(value: float) -> float:
        return float(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - bottom) / room)

    parts = []
    for number, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if high > low:
            parts.append(f'<path class="bar" d="M{x(number):.1f} {y(low):.1f}V{y(high):.1f}"/>')
    path = "L".join(f"{x(k):.1f} {y(float(value)):.1f}" for k, value in enumerate(one.speeds))
    parts.append(f'<path class="mean" d="M{path}"/>')
    notes = []
    for change in one.changes:
        at = line.points[change.at]
        kind = "slower" if change.mean < 0 else "faster"
        interval = interval_text(percent(change.low), percent(change.high))
        size = signed_percent(percent(change.mean))
        text = f"{size} % {interval} since {at.started[:10]}, {at.label}"
        cut = x(change.at - 0.5)
        parts.append(f'<path class="{kind}" d="M{cut:.1f} 0V{HEIGHT:.0f}">'
                     f"<title>{escape(text)}</title></path>")  # fmt: skip
        where = escape(text)
        if digits(at.label) in results.held:
            label = escape(at.label)
            where = where.replace(label, f'<a href="#{anchor(at.label)}">{label}</a>')
        beside = environment(results.environments.get(change.at))
        notes.append(f"<li>{kind}: {where}, p = {change.p:.2g}{beside}</li>")
    for place, point in enumerate(line.points):
        speed = signed_percent(percent(float(one.speeds[place]) - base))
        text = f"{point.label}, {point.started[:10]}: {speed} % against the first"
        dot = (
            f'<circle cx="{x(place):.1f}" cy="{y(float(one.speeds[place])):.1f}" r="2.5">'
            f"<title>{escape(text)}</title></circle>"
        )
        known = digits(point.label) in results.held
        parts.append(f'<a href="#{anchor(point.label)}">{dot}</a>' if known else dot)
    span = f"{signed_percent(percent(bottom - base))} to {signed_percent(percent(top - base))} %"
    caption = f"<b>{escape(one.key)}</b>, speed against the first result, {span}"
    drawn = f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img">{"".join(parts)}</svg>'
    days = (line.points[0].started[:10], line.points[-1].started[:10])
    ends = "".join(f"<span>{escape(day)}</span>" for day in days)
    drawn += f'<p class="ends">{ends}</p>'
    listed = f"<ul>{''.join(notes)}</ul>" if notes else ""
    return f"<figure><figcaption>{caption}</figcaption>{drawn}{listed}</figure>"


def _half(label: str, key: str, widths: Spreads) -> float:
    """Half of the 95 % interval of a result's mean by its own boots; 0 where it is not known."""
    boots, deviation = widths.get((digits(label), key), (0, math.nan))
    if boots < 2 or not math.isfinite(deviation):
        return 0.0
    return float(special.stdtrit(boots - 1, 0.975)) * deviation / math.sqrt(boots)


def _document(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


@dataclass(frozen=True)
class _Series:
    """A row for Prometheus, of its newest result.

    Attributes:
        speed_log: log of the speed: of 1/value where lower is better.
        value: in `unit`; None for the mean over all rows, which has no unit.
        slower: whether its last change is one to slower.
        percent: size of its last change; 0 where there is none.
    """

    labels: str
    speed_log: float
    value: float | None
    unit: str
    slower: int
    percent: float


def _metrics(study: str, machine: str, line: Timeline) -> list[_Series]:
    found = []
    for one in line.courses:
        names = {"study": study, "machine": machine, "system": line.system, "row": one.key}
        labels = ",".join(f'{name}="{_label(text)}"' for name, text in names.items())
        last = one.changes[-1] if one.changes else None
        slower = int(last is not None and last.mean < 0)
        change = 0.0 if last is None else percent(last.mean)
        level = line.points[-1].found.levels.get(one.key)
        value = None if level is None else math.exp(level.log_mean)
        unit = "" if level is None else level.unit
        found.append(_Series(labels, float(one.speeds[-1]), value, unit, slower, change))
    return found


def _label(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _exposition(found: Sequence[_Series]) -> str:
    """The text format of Prometheus."""
    valued = [one for one in found if one.value is not None]
    series: tuple[tuple[str, str, list[tuple[str, float | None]]], ...] = (
        (
            "pentathlon_value",
            "Geometric mean over the boots of the newest result, in the unit that is a label.",
            [(f'{one.labels},unit="{_label(one.unit)}"', one.value) for one in valued],
        ),
        (
            "pentathlon_speed_log",
            "Natural logarithm of the newest result's speed: of the value where higher is better, "
            "else of 1/value, in the unit of pentathlon_value.",
            [(one.labels, one.speed_log) for one in found],
        ),
        (
            "pentathlon_regression",
            "1 where the last change of level is one to slower.",
            [(one.labels, one.slower) for one in found],
        ),
        (
            "pentathlon_last_change_percent",
            "The last change of level in percent of speed, + is faster; 0: none.",
            [(one.labels, one.percent) for one in found],
        ),
    )
    lines = []
    for name, text, values in series:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{{{labels}}} {value!r}" for labels, value in values]
    return "\n".join([*lines, ""])
