"""Every picture of a report as a file: SVG and PDF for papers, over one column or two."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation
from pentathlon.report import posthoc
from pentathlon.report.figures import curves, flows, ratios
from pentathlon.report.figures.canvas import RC, Canvas
from pentathlon.report.figures.samples import every_sample, strongest
from pentathlon.report.html import view
from pentathlon.report.html.payload import payload
from pentathlon.store.files import write_whole

DIRECTORY = "figures"
DRAW: dict[str, Callable[[Canvas, str], Figure | None]] = {
    "overview": ratios.overview,
    "factors": ratios.factors,
    "forest": ratios.forest,
    "ratio": ratios.over_sizes,
    "curve": curves.curve,
    "scaling": curves.scaling,
    "sweep": curves.sweep,
    "overlay": flows.overlay,
    "jitter": flows.jitter,
    "file_services": flows.file_services,
}
"""Kind of a picture, as the page names it, and what draws it here."""

METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"Creator": "Pentathlon", "Producer": "Pentathlon", "CreationDate": None},
    "svg": {"Creator": "Pentathlon", "Date": None},
}
"""No time of its making: the same result has the same bytes."""

_NO_NAME = re.compile(r"[^A-Za-z0-9._]+")


def pictures(evaluation: Evaluation, canvas: Canvas) -> Iterator[tuple[str, Figure]]:
    """(name, figure) of each picture that the page has, in its order."""
    wanted = [("factors", "")] if canvas.data.get("factorial") else []
    wanted += [("overview", one) for one in canvas.names[1:]]
    for area in view.areas(evaluation):
        wanted += [(one.kind, one.part) for part in area.parts for one in part.figures]
    wanted += [("file_services", one["w"]) for one in canvas.data.get("file_services", ())]
    for kind, part in wanted:
        figure = DRAW[kind](canvas, part)
        if figure is not None:
            name = _NO_NAME.sub("-", part).strip("-")
            yield f"{kind}-{name}" if name else kind, figure
    place = strongest(canvas)
    if place is not None and (figure := every_sample(canvas, place)) is not None:
        yield "samples", figure


def write(
    evaluation: Evaluation,
    result: ResultLike,
    directory: Path,
    formats: Sequence[str],
    columns: int,
) -> list[Path]:
    """Write every picture into the directory `figures`; returns the files.

    Args:
        formats: "svg" and "pdf".
        columns: 1 or 2.

    Raises:
        OSError: a file cannot be written.
    """
    folder = directory / posthoc.file_name(DIRECTORY, evaluation)
    folder.mkdir(parents=True, exist_ok=True)
    short = posthoc.short(evaluation)
    marked = f"{posthoc.MARK}: {short}" if short else ""
    notes = [text for text in (marked, evaluation.study.unfinished) if text]
    canvas = Canvas(payload(evaluation, result), columns, "; ".join(notes))
    files = []
    with mpl.rc_context(RC):  # type: ignore[arg-type]
        for name, figure in pictures(evaluation, canvas):
            for form in formats:
                path = folder / f"{name}.{form}"
                stream = io.BytesIO()
                figure.savefig(stream, format=form, metadata=METADATA[form])
                write_whole(path, stream.getvalue())
                files.append(path)
    return files
