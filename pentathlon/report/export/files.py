"""Files for other programs and for papers: CSV, Markdown, LaTeX and JSON of an evaluation, its
pictures, and the formats of hyperfine, Bencher and benchstat.

Markdown and LaTeX are for reading and round; the others hold numbers in full precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation
from pentathlon.report import posthoc
from pentathlon.report.export import effects, methods
from pentathlon.report.export.bencher import to_bencher
from pentathlon.report.export.benchstat import to_benchstat
from pentathlon.report.export.comma_separated import to_csv
from pentathlon.report.export.document import to_json
from pentathlon.report.export.hyperfine import to_hyperfine
from pentathlon.report.export.latex import to_latex
from pentathlon.report.export.markdown import to_markdown
from pentathlon.report.export.refusal import ExportError
from pentathlon.report.export.siunitx import to_siunitx
from pentathlon.store.files import write_whole

MAKERS: dict[str, tuple[str, Callable[[Evaluation], str]]] = {
    "csv": ("evaluation.csv", to_csv),
    "markdown": ("evaluation.md", to_markdown),
    "latex": ("evaluation.tex", to_latex),
    "siunitx": ("evaluation.siunitx.tex", to_siunitx),
    "json": ("evaluation.json", to_json),
    "hyperfine": ("evaluation.hyperfine.json", to_hyperfine),
    "bmf": ("evaluation.bmf.json", to_bencher),
    "benchstat": ("evaluation.benchstat.txt", to_benchstat),
}
"""Each format's file and its writer."""

METHODS: dict[str, Callable[[Evaluation, ResultLike], str]] = {
    "methods.md": methods.to_markdown,
    "methods.tex": methods.to_latex,
    "methods.bib": methods.to_bibtex,
}
"""The files of the format "methods"."""

PICTURES = ("svg", "pdf")
"""Vector graphics: a file for each picture."""

FORMATS = ("html", *MAKERS, "methods", *PICTURES)
"""What `write` can make; "html" is the report as a page."""

COLUMNS = (1, 2)
"""Of a page, over which pictures go."""


def write(
    evaluation: Evaluation,
    result: ResultLike,
    directory: Path,
    formats: Iterable[str],
    columns: int = 2,
) -> list[Path]:
    """Write an evaluation in some formats into a directory, which is made if it is missing.

    Args:
        formats: names from `FORMATS`.
        columns: width of the pictures for papers, from `COLUMNS`.

    Returns:
        The files, in the order of the formats.

    Raises:
        ExportError: a format is unknown, and nothing is written then; or one cannot hold it.
        OSError: a file cannot be written.
    """
    wanted = list(dict.fromkeys(formats))
    for name in wanted:
        if name not in FORMATS:
            known = ", ".join(FORMATS)
            raise ExportError(f'"{name}" is no format of the report; use one of {known}')
    directory.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for name in wanted:
        if name in PICTURES:
            files += _pictures(evaluation, result, directory, name, columns)
            continue
        for file, text in _texts(evaluation, result, name):
            path = directory / posthoc.file_name(file, evaluation)
            write_whole(path, text)
            files.append(path)
    return files


def _texts(evaluation: Evaluation, result: ResultLike, name: str) -> Iterator[tuple[str, str]]:
    """The files of a format that holds text, with what stands in them."""
    if name == "html":
        # The page is large, and most exports do not need it.
        from pentathlon.report.html import page  # noqa: PLC0415

        yield "report.html", page.render(evaluation, result)
    elif name == "methods":
        for file, make_text in METHODS.items():
            yield file, make_text(evaluation, result)
    else:
        file, make = MAKERS[name]
        yield file, make(evaluation)
    if name == "csv" and evaluation.factorial is not None:
        yield effects.FILE, effects.to_csv(evaluation, evaluation.factorial)


def _pictures(
    evaluation: Evaluation, result: ResultLike, directory: Path, name: str, columns: int
) -> list[Path]:
    if columns not in COLUMNS:
        raise ExportError(f"pictures go over 1 or 2 columns of a page, and not {columns}")
    try:
        # Matplotlib takes longer to load than most exports to be written.
        from pentathlon.report.figures import every  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        raise ExportError(
            "pictures as SVG and PDF need matplotlib; pip install 'pentathlon[analysis]'"
        ) from error
    files = every.write(evaluation, result, directory, [name], columns)
    if not files:
        raise ExportError("this result has no picture: nothing was compared or measured")
    return files
