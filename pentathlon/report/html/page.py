"""The report as one HTML file that needs nothing else: it opens from a file, without a network."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from pentathlon import __version__
from pentathlon.evaluate.display import (
    bytes_text,
    percent_text,
    signed_percent,
    significant,
    trim,
)
from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.evaluate.warnings import TITLE as STARVED
from pentathlon.evaluate.warnings import starved_lines, warnings
from pentathlon.literature.filled.section import sections
from pentathlon.report import posthoc, starts
from pentathlon.report.answer import answers, of_answer, sentence
from pentathlon.report.areas import legend, overviews
from pentathlon.report.decision import best_words, decisions, weights_words
from pentathlon.report.experiments import registry
from pentathlon.report.failures import across
from pentathlon.report.html import diagnostics, factorial, relevance, screenshots, terms, view
from pentathlon.report.html.labels import Labels
from pentathlon.report.html.payload import payload, plain, tips
from pentathlon.report.open_questions import questions
from pentathlon.store.counted import counted_boots
from pentathlon.store.files import write_whole

VENDORED = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
SCRIPTS = (
    "overview.js",
    "sweeps.js",
    "overlays.js",
    "jitters.js",
    "file_services.js",
    "factors.js",
    "report.js",
)


def write(evaluation: Evaluation, result: ResultLike, path: Path) -> None:
    """Write the report.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, render(evaluation, result))


def render(evaluation: Evaluation, result: ResultLike) -> str:
    """The page. The same result gives the same bytes: it holds no time of its making."""
    areas = view.areas(evaluation)
    return _rendered(
        "report.html.j2",
        version=__version__,
        evaluation=evaluation,
        failures=across(evaluation.failures),
        study=evaluation.study,
        post_hoc=posthoc.words(evaluation),
        systems=evaluation.systems,
        answers=answers(evaluation),
        decisions=decisions(evaluation),
        overviews={one.system: one for one in overviews(evaluation)},
        legend=legend(evaluation),
        questions=questions(evaluation),
        picture=view.overview_picture,
        label=Labels(),
        glossary=terms.entries(
            post_hoc=bool(evaluation.study.post_hoc),
            factorial=evaluation.factorial is not None,
        ),
        inventory_groups=relevance.groups(evaluation),
        start=starts.noun(evaluation.systems),
        starts=starts.plurals(evaluation),
        best=best_words(evaluation),
        weights=weights_words(evaluation),
        areas=areas,
        papers=_papers(evaluation, areas),
        factorial=_factorial(evaluation),
        screenshots=_screenshots(evaluation, result),
        sections=_sections(evaluation),
        why=diagnostics.why(evaluation),
        incomparable=diagnostics.incomparable(evaluation),
        diagnostics=diagnostics.tables(evaluation) if evaluation.rows else (),
        overall=view.tallies(evaluation, of_answer(evaluation)),
        explained=_explained(evaluation),
        meanings={verdict: text for verdict, _, _, text in _explained(evaluation)},
        notes=_notes(result),
        warnings=warnings(evaluation),
        starved=starved_lines(evaluation),
        starved_title=STARVED,
        orders=[[boot.system for boot in block] for block in result.plan.blocks],
        inventory=_inventory(evaluation, result),
        glyphs=view.GLYPHS,
        style=asset("report.css") + asset("papers.css") + asset("screenshots.css"),
        unpack=asset("unpack.js"),
        code=_code(),
        data=packed(plain(payload(evaluation, result) | {"tips": tips(areas)})),
    )


def _rendered(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


def _papers(evaluation: Evaluation, areas: Sequence[view.Area]) -> str:
    """The section with the tables of the studies; "" if the result fills none."""
    anchors = [f"part-{part.anchor}" for area in areas for part in area.parts]
    found = sections(evaluation, anchors)
    if not found:
        return ""
    return _rendered("papers.html.j2", papers=found, glyphs=view.GLYPHS, label=Labels())


def _factorial(evaluation: Evaluation) -> str:
    """What a factorial design shows; "" without one."""
    found = factorial.values(evaluation)
    return _rendered(factorial.ASSET, label=Labels(), **found) if found else ""


def packed(text: str) -> str:
    """A text as zlib stream (RFC 1950) in base64; `assets/unpack.js` reads it in the page."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


@cache
def _code() -> str:
    """The libraries and the pictures as one packed script; each ends in a line of its own."""
    return packed("".join(f"{asset(name)}\n;\n" for name in (*VENDORED, *SCRIPTS)))


def _screenshots(evaluation: Evaluation, result: ResultLike) -> str:
    """The section with the screenshots; "" if there are none."""
    found = screenshots.sheets(evaluation, result)
    return _rendered("screenshots.html.j2", sheets=found) if found else ""


def _sections(evaluation: Evaluation) -> list[dict[str, str]]:
    """The sections of the experiments between two hosts: anchor, title and content."""
    made = (entry.section(evaluation) for entry in registry.SHOWN)
    return [
        {
            "anchor": one.anchor,
            "title": one.title,
            "html": _rendered(
                one.template, anchor=one.anchor, title=one.title, label=Labels(), **one.values
            ),
        }
        for one in made
        if one is not None
    ]


@cache
def asset(name: str) -> str:
    """The text of a file in `assets`."""
    return resources.files("pentathlon.report.html").joinpath("assets", name).read_text("utf-8")


def environment(**filters: Callable[..., Any]) -> Environment:
    """What renders the templates in `assets`, with filters by their names."""
    made = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(asset),
        auto_reload=False,
    )
    made.filters.update(filters)
    return made


@cache
def _environment() -> Environment:
    return environment(
        bytes=bytes_text,
        percent=percent_text,
        signed=signed_percent,
        significant=significant,
        trim_number=trim,
        breakable=breakable,
        sentence=sentence,
        json=lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True),
    )


JOINT = re.compile(r"(?<=[\[,])(?=[a-z_])")
"""Where the key of a metric may go on in the next line."""


def breakable(text: str) -> Markup:
    """A text whose long keys break between parameters on a narrow screen, not inside words."""
    return Markup("<wbr>").join(JOINT.split(text))


def _notes(result: ResultLike) -> list[str]:
    """The sentences that the run noted when it began."""
    notes = getattr(result, "notes", None)
    return list(notes()) if callable(notes) else []


def _inventory(evaluation: Evaluation, result: ResultLike) -> list[dict[str, Any]]:
    """Every path of the inventory with each system's value in its first boot, by section."""
    names = [system.name for system in evaluation.systems]
    table = counted_boots(result.inventory(), result.samples())
    first = table.group_by("path", "system", maintain_order=True).agg(
        pl.col("value_json").first(), pl.col("unsupported").first()
    )
    paths: dict[str, dict[str, tuple[str, bool]]] = {}
    for path, system, value, reason in first.iter_rows():
        known = (reason, True) if reason is not None else (_plain(value), False)
        paths.setdefault(path, {})[system] = known
    sections: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(paths):
        section = path.partition(".")[0]
        values = [(*paths[path].get(name, ("", False)), 1) for name in names]
        if len(set(values)) == 1:  # One cell across, where all systems tell the same.
            values = [(*values[0][:2], len(names))]
        sections.setdefault(section, []).append({"path": path, "values": values})
    return [{"name": name, "lines": lines} for name, lines in sections.items()]


def _plain(text: str | None) -> str:
    """A JSON value as it is read by people: texts without quotes."""
    if text is None:
        return ""
    value = json.loads(text)
    if isinstance(value, list):
        return ", ".join(
            part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
            for part in value
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _explained(evaluation: Evaluation) -> list[tuple[Verdict, str, str, str]]:
    """Every verdict with its glyph, its words and what it means."""
    delta = percent_text(evaluation.study.delta_percent)
    meanings = {
        Verdict.FASTER_BY_DELTA: f"The speed is shown to be more than {delta} higher.",
        Verdict.FASTER: f"The speed is shown to be higher, perhaps by less than {delta}.",
        Verdict.SLOWER: f"The speed is shown to be lower, perhaps by less than {delta}.",
        Verdict.SLOWER_BY_DELTA: f"The speed is shown to be more than {delta} lower.",
        Verdict.HIGHER: "Context is no score: there is shown to be more of it, good or bad.",
        Verdict.LOWER: "Context: there is shown to be less of it.",
        Verdict.NEGLIGIBLE: f"A difference is shown, and it is shown to be less than {delta}.",
        Verdict.EQUIVALENT: f"Any difference is shown to be less than {delta}.",
        Verdict.INCONCLUSIVE: "The data do not decide. MDE is the minimum detectable effect: "
        "the smallest difference that so many blocks with such a spread find in 80 % of cases.",
        Verdict.UNSTABLE: "The blocks contradict each other: they fall into two groups, or "
        "spread by more than 10 %.",
        Verdict.INVALID: "The systems did not do the same work, or a value cannot be right.",
        Verdict.NOT_MEASURED: "One of the systems has no counted sample, for the reason given.",
    }
    size = evaluation.study.delta_percent
    return [
        (verdict, view.GLYPHS[verdict], words(verdict, size), text)
        for verdict, text in meanings.items()
    ]
