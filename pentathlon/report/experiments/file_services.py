"""File services: the tables and figures of tolly2007, which are a section of their own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from pentathlon.evaluate.model import Evaluation
from pentathlon.report import file_services
from pentathlon.report.experiments.entry import Paragraph, Shown


def _paragraphs(evaluation: Evaluation) -> Iterator[Paragraph]:
    """What a new client and a new server gain in each task over each link."""
    for task, gains in groupby(file_services.words(evaluation), key=lambda one: one[0]):
        yield task, tuple(f"{system}: {words}" for _, system, words in gains)


FILE_SERVICES: Final = Shown(
    "file_services",
    data={
        "offices": lambda evaluation, _result, short, _drawn: file_services.payload(
            evaluation, short
        )
    },
    paragraphs={file_services.TITLE: _paragraphs},
)
