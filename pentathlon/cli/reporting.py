"""From a result to its judgement on the screen and its report files.

Commands load this module only when they need it: SciPy takes longer to load than most commands run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pentathlon.cli.exits import InputError
from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.report import export, html, terminal
from pentathlon.store.query import Result
from pentathlon.study.problems import did_you_mean

HTML = "report.html"
FORMATS = ("html", "csv", "markdown", "latex", "json")


def after_run(result: Result, console: Console) -> Path:
    """Judge a result, print the answer and write the HTML report; returns its file."""
    judged = evaluate(result)
    terminal.render(judged, console)
    return write_html(judged, result)


def on_screen(result: Result, console: Console, *, full: bool) -> None:
    """Judge a result and print the answer."""
    terminal.render(evaluate(result), console, full=full)


def write_html(judged: Evaluation, result: Result, directory: Path | None = None) -> Path:
    """Write the HTML report; returns its file."""
    file = (directory or result.path) / HTML
    html.write(judged, result, file)
    return file


def write_formats(result: Result, formats: Sequence[str], directory: Path | None) -> list[Path]:
    """Write the report in the formats that are asked for; returns the files."""
    judged = evaluate(result)
    target = directory or result.path
    target.mkdir(parents=True, exist_ok=True)
    files = [write_html(judged, result, target)] if "html" in formats else []
    others = [name for name in formats if name != "html"]
    if others:
        files += export.write(judged, result, target, others)
    return files


def parse_formats(text: str) -> list[str]:
    """The formats of `--format html,csv`.

    Raises:
        InputError: one of them is unknown.
    """
    formats = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in formats:
        if name not in FORMATS:
            raise InputError(f'"{name}" is no report format{did_you_mean(name, FORMATS)}')
    if not formats:
        raise InputError(f"name at least one report format; known: {', '.join(FORMATS)}")
    return list(dict.fromkeys(formats))
