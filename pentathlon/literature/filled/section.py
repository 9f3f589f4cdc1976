"""The section of the HTML report with the studies' tables and where their figures are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pentathlon.evaluate.model import Evaluation
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.load import Paper, papers
from pentathlon.literature.filled.table import ABSENT, Filled


@dataclass(frozen=True)
class Place:
    """Where a figure of the paper is in the report."""

    printed_as: str
    title: str
    anchor: str
    place: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """One study."""

    short: str
    title: str
    tables: tuple[Filled, ...]
    figures: tuple[Place, ...]


def sections(evaluation: Evaluation, anchors: Sequence[str]) -> tuple[Section, ...]:
    """The studies of which the result fills a table or shows a figure.

    Args:
        anchors: of the parts of the report, such as "part-memory-regions" and "area-process".
    """
    filled = fill(evaluation)
    found = []
    for paper in papers():
        own = [table for table in filled if table.study == paper.study.id]
        figures = _figures(paper, evaluation, own, anchors)
        if own or any(figure.anchor for figure in figures):
            facts = paper.study.facts
            found.append(
                Section(
                    short=facts.id,
                    title=f"{facts.authors}: {facts.title} ({facts.year})",
                    tables=tuple(own),
                    figures=figures,
                )
            )
    return tuple(found)


def _figures(
    paper: Paper, evaluation: Evaluation, tables: Sequence[Filled], anchors: Sequence[str]
) -> tuple[Place, ...]:
    titles = {row.workload: row.workload_title for row in evaluation.rows}
    areas = {row.workload: row.area for row in evaluation.rows}
    places = []
    for figure in paper.figures:
        anchor, place = "", ABSENT
        if figure.table is not None:
            table = next((one for one in tables if figure.table in one.ids), None)
            if table is not None:
                anchor, place = table.anchor, "the table above"
        elif figure.workload in titles:
            own = f"part-{figure.workload.replace('.', '-')}"
            anchor = own if own in anchors else f"area-{areas[figure.workload]}"
            place = titles[figure.workload]
        places.append(Place(figure.printed_as, figure.title, anchor, place, figure.note))
    for listing in paper.listings:
        places.append(Place(listing.printed_as, listing.title, "", "no result"))
    return tuple(places)
