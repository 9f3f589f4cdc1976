"""A table for each area, as the papers have them, with booktabs and longtable."""

from __future__ import annotations

from dataclasses import replace

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.warnings import warnings
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.write import grid
from pentathlon.report import links as emulated_links
from pentathlon.report import posthoc
from pentathlon.report.answer import sentence
from pentathlon.report.export import effects_table
from pentathlon.report.export.area_table import SIGNS, area_table
from pentathlon.safeio import escaping
from pentathlon.tables.latex import document_part, to_longtable


def to_latex(evaluation: Evaluation) -> str:
    """A table for each area, as the papers have them, with booktabs and longtable."""
    study = evaluation.study
    short = posthoc.short(evaluation)
    marked = f" ({posthoc.MARK}: {short})" if short else ""
    unfinished = f" ({study.unfinished})" if study.unfinished else ""
    first = [sentence(study.unfinished)] if study.unfinished else []
    sentences = [
        rf"\noindent\textbf{{{escaping.latex(text)}}}\par"
        for text in (*first, *warnings(evaluation))
    ]
    tables = []
    if evaluation.factorial is not None:
        title = f"{study.title}: {effects_table.TITLE.lower()}{unfinished}{marked}"
        made = effects_table.effects_table(evaluation, evaluation.factorial, title)
        tables.append(to_longtable(made, "tab:effects"))
    notes = (SIGNS,) if len(evaluation.systems) > 1 else ()
    for area in evaluation.areas:
        made = area_table(evaluation, area, f"{study.title}: {area}{unfinished}{marked}")
        tables.append(to_longtable(replace(made, notes=notes), f"tab:{area}"))
    for filled in fill(evaluation):
        # A longtable as the others, as these may be long too.
        made = grid(filled)
        marked_grid = replace(made, title=f"{made.title}{marked}")
        tables.append(to_longtable(marked_grid, f"tab:{filled.study}-{filled.id}"))
    if evaluation.links:
        made = emulated_links.table(evaluation, f"{emulated_links.TITLE}{marked}")
        tables.append(to_longtable(replace(made, notes=(emulated_links.CAPTION,)), "tab:links"))
    head = f"{evaluation.study.plan_hash}{marked}"
    return document_part(head, [*sentences, *tables])
