"""The answer of a gate for what reads it: JUnit, GitHub's annotations, a comment in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from pentathlon.evaluate.display import interval_text, percent_text, signed_percent
from pentathlon.evaluate.results.gate import Gate, GateRow, Outcome
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text

MOST_ROWS = 20
MARK = "<!-- pentathlon gate -->"
"""First line of the comment: who posts it finds the one from before, and replaces it."""


def junit(found: Gate) -> str:
    """A test suite with a case for each row and system: regressions are failures, what failed or
    cannot be compared is an error, what is not known is skipped."""
    counts = {one: len(found.of(one)) for one in Outcome}
    skipped = counts[Outcome.INCONCLUSIVE] + counts[Outcome.QUARANTINED]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites><testsuite name={_attribute(f'pentathlon gate against {found.baseline}')} "
        f'tests="{len(found.rows)}" failures="{counts[Outcome.REGRESSION]}" '
        f'errors="{counts[Outcome.FAILURE]}" skipped="{skipped}">',
    ]
    if found.unfinished:
        value = _attribute(found.unfinished)
        lines.append(f'<properties><property name="unfinished" value={value}/></properties>')
    kinds = {
        Outcome.REGRESSION: "failure",
        Outcome.FAILURE: "error",
        Outcome.INCONCLUSIVE: "skipped",
        Outcome.QUARANTINED: "skipped",
    }
    for row in found.rows:
        name = f"<testcase classname={_attribute(row.system)} name={_attribute(row.key)}"
        kind = kinds.get(row.outcome)
        if kind is None:
            lines.append(
                f"{name}><system-out>{escape(one_line(_words(row)))}</system-out></testcase>"
            )
        else:
            lines.append(f"{name}><{kind} message={_attribute(_words(row))}/></testcase>")
    return "\n".join([*lines, "</testsuite></testsuites>", ""])


def github(found: Gate) -> str:
    """Workflow commands: an annotation for each row that does not pass, the gravest first."""
    levels = {
        Outcome.PASS: "notice",
        Outcome.QUARANTINED: "notice",
        Outcome.INCONCLUSIVE: "warning",
    }
    lines = []
    for row in grave(found)[:MOST_ROWS]:
        title = _property(f"{row.outcome.value}: {row.system}")
        level = levels.get(row.outcome, "error")
        lines.append(f"::{level} title={title}::{_data(f'{row.key}: {_words(row)}')}")
    level = levels.get(found.outcome, "error")
    return "\n".join([*lines, f"::{level} title=pentathlon gate::{_data(_head(found))}", ""])


def markdown(found: Gate) -> str:
    """A comment for a merge request, which replaces the one from before by its first line."""
    lines = [MARK, f"### {found.outcome.value.capitalize()}", "", _cell(_head(found)), ""]
    lines += [text for line in further_words(found) for text in (_cell(line), "")]
    bad = grave(found)
    if bad:
        lines += ["| outcome | system | metric | speed % | interval | why |",
                  "|---|---|---|---:|---:|---|"]  # fmt: skip
        for row in bad[:MOST_ROWS]:
            percent = "" if row.percent is None else signed_percent(row.percent)
            cells = (row.outcome.value, row.system, row.key, percent, interval(row), why(row))
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        if len(bad) > MOST_ROWS:
            lines += ["", f"and {len(bad) - MOST_ROWS} more"]
    return "\n".join([*lines, ""])


FORMATS: Mapping[str, Callable[[Gate], str]] = {
    "junit": junit,
    "github": github,
    "markdown": markdown,
    "json": lambda found: found.model_dump_json(indent=1) + "\n",
}

FILES: Mapping[str, str] = {"gate.xml": "junit", "gate.md": "markdown", "gate.json": "json"}
"""Name of a file -> its format."""


def further_words(found: Gate) -> list[str]:
    """A sentence for each further run, and why there was none more."""
    lines = [
        f"measured again: {count_text(one.blocks, 'block')} of {', '.join(one.workloads)}, judged "
        f"at {one.confidence * 100.0:.6g} % ({one.path})"
        for one in found.further
    ]
    if found.not_measured_again:
        lines.append(f"not measured again: {found.not_measured_again}")
    return [one_line(line) for line in lines]


def grave(found: Gate) -> list[GateRow]:
    """The rows that do not pass, the gravest first."""
    order = list(Outcome)
    bad = [row for row in found.rows if row.outcome is not Outcome.PASS]
    return sorted(bad, key=lambda row: (order.index(row.outcome), row.percent or 0.0))


def _head(found: Gate) -> str:
    counts = ", ".join(f"{len(found.of(one))} {one.value}" for one in Outcome if found.of(one))
    delta = percent_text(found.delta_percent)
    text = f"{found.outcome.value} against {found.baseline}, δ = {delta}: {counts}"
    text = f"{found.unfinished}. {text}" if found.unfinished else text
    return f"{text}, post hoc" if found.post_hoc else text


def _words(row: GateRow) -> str:
    if row.percent is None:
        return row.words
    return f"speed {signed_percent(row.percent)} % {interval(row)}: {row.words}"


def why(row: GateRow) -> str:
    """The words of a row beside its outcome, which they need not repeat."""
    return "" if row.words == row.outcome.value else row.words


def interval(row: GateRow) -> str:
    """The interval of a row; "" where it has none."""
    if row.low_percent is None or row.high_percent is None:
        return ""
    return interval_text(row.low_percent, row.high_percent)


def _attribute(text: str) -> str:
    return quoteattr(one_line(text))


def _data(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    safe = escape(one_line(text))
    return "".join(f"\\{sign}" if sign in "|`*_[]\\" else sign for sign in safe)
