"""File services: the tables and figures of tolly2007, which are a section of their own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from pentathlon.evaluate.model import Evaluation
from pentathlon.report import file_services
from pentathlon.report import links as emulated_links
from pentathlon.report.experiments.entry import Paragraph, Section, Shown


def _paragraphs(evaluation: Evaluation) -> Iterator[Paragraph]:
    """What a new client and a new server gain in each task over each link."""
    for task, gains in groupby(file_services.words(evaluation), key=lambda one: one[0]):
        yield task, tuple(f"{system}: {words}" for _, system, words in gains)


def _section(evaluation: Evaluation) -> Section | None:
    """Tasks and emulated links; traffic uses links without a task."""
    found, links = file_services.sheets(evaluation), emulated_links.lines(evaluation)
    if not found and not links:
        return None
    values = {
        "sheets": found, "caption": file_services.CAPTION, "links": links,
        "emulated_links": emulated_links,
    }  # fmt: skip
    title = file_services.title(evaluation)
    return Section("file-services", title, "file_services.html.j2", values)


FILE_SERVICES: Final = Shown(
    "file_services",
    data={
        "file_services": lambda evaluation, _result, short, _rounded: file_services.payload(
            evaluation, short
        )
    },
    paragraphs={file_services.TITLE: _paragraphs},
    section=_section,
)
