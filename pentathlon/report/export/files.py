"""Files for other programs and for papers: CSV, Markdown, LaTeX and JSON of an evaluation.

CSV and JSON hold every number in full precision; Markdown and LaTeX are for reading and round.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pentathlon.evaluate.display import interval_text, scale, signed_percent, significant
from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Comparison, Evaluation, Row
from pentathlon.evaluate.warnings import warnings
from pentathlon.literature import formats
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.table import Filled
from pentathlon.literature.filled.write import grid
from pentathlon.report import links as emulated
from pentathlon.report import posthoc
from pentathlon.report.answer import answers, sentence
from pentathlon.report.export import latex
from pentathlon.safeio import escaping
from pentathlon.safeio.escaping import csv_field, json_document, markdown
from pentathlon.store.files import write_whole
from pentathlon.study.counting import count_text

FORMATS = ("csv", "markdown", "latex", "json")
"""What `write` can make, besides the HTML report."""

NAMES = {
    "csv": "evaluation.csv",
    "markdown": "evaluation.md",
    "latex": "evaluation.tex",
    "json": "evaluation.json",
}


class ExportError(Exception):
    """A format is unknown; the text is one sentence."""


def write(
    evaluation: Evaluation, result: ResultLike, directory: Path, formats: Iterable[str]
) -> list[Path]:
    """Write an evaluation in some formats into a directory, which is made if it is missing.

    Args:
        formats: names from `FORMATS`, or "html" for the report.

    Returns:
        The files, in the order of the formats.

    Raises:
        ExportError: a format is unknown; nothing is written then.
        OSError: a file cannot be written.
    """
    wanted = list(dict.fromkeys(formats))
    for name in wanted:
        if name not in NAMES and name != "html":
            known = ", ".join((*FORMATS, "html"))
            raise ExportError(f'"{name}" is no format of the report; use one of {known}')
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for name in wanted:
        if name == "html":
            # The page is large, and most exports do not need it.
            from pentathlon.report.html import page  # noqa: PLC0415

            path = directory / posthoc.file_name("report.html", evaluation)
            page.write(evaluation, result, path)
        else:
            path = directory / posthoc.file_name(NAMES[name], evaluation)
            write_whole(path, _MAKERS[name](evaluation))
        files.append(path)
    return files


COLUMNS = (
    "key",
    "area",
    "workload",
    "indicator",
    "case",
    "unit",
    "direction",
    "role",
    "system",
    "reference",
    "samples",
    "boots",
    "mean",
    "minimum",
    "maximum",
    "sd",
    "boot_sd",
    "deviation_percent",
    "reference_mean",
    "difference_percent",
    "blocks",
    "speed_percent",
    "low_percent",
    "high_percent",
    "adjusted_confidence",
    "adjusted_low_percent",
    "adjusted_high_percent",
    "p_different",
    "p_equivalent",
    "mde_percent",
    "declared",
    "nominal_confidence",
    "installs",
    "median_percent",
    "median_low_percent",
    "median_high_percent",
    "median_confidence",
    "p_sign_flip",
    "means_percent",
    "means_low_percent",
    "means_high_percent",
    "means_unbounded",
    "probability_faster",
    "cliffs_delta",
    "p_serial",
    "p_max_t",
    "verdict",
    "words",
    "reason",
    "cautions",
    "post_hoc",
    "unfinished",
)
"""Columns of the CSV file: one line for each indicator and system, the reference too."""


def to_csv(evaluation: Evaluation) -> str:
    """The evaluation as CSV (RFC 4180): numbers as Python's repr, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in evaluation.rows:
        for system in evaluation.systems:
            values = _values(evaluation, row, system.name)
            writer.writerow([csv_field(values.get(name)) for name in COLUMNS])
    return text.getvalue()


def _values(evaluation: Evaluation, row: Row, system: str) -> dict[str, object]:
    reference = evaluation.study.reference
    summary, base = row.summary(system), row.summary(reference)
    values: dict[str, object] = {
        **row.model_dump(
            include={
                "key",
                "area",
                "workload",
                "indicator",
                "unit",
                "direction",
                "role",
                "declared",
            }
        ),
        "case": ",".join(f"{name}={value}" for name, value in row.case.items()),
        "system": system,
        "reference": reference,
        "reference_mean": None if base is None else base.mean,
        "post_hoc": posthoc.short(evaluation),
        "unfinished": evaluation.study.unfinished,
    }
    if summary is not None:
        values |= summary.model_dump(exclude={"boot_means", "system", "within_one_percent"})
    comparison = row.comparison(system)
    if comparison is None:
        return values
    values |= comparison.model_dump(include={"difference_percent", "words", "reason"})
    values["verdict"] = comparison.verdict.value
    same = [one.words for one in evaluation.identical if {system, reference} == {*one.systems}]
    values["cautions"] = "; ".join((*same, *comparison.cautions))
    if comparison.effect is not None:
        values |= comparison.effect.model_dump(
            exclude={"log_ratios", "units", "mean", "sd", "percent", "checks"}
        )
        if comparison.effect.checks is not None:
            values |= comparison.effect.checks.model_dump()
        values["speed_percent"] = comparison.effect.percent
    return values


def to_json(evaluation: Evaluation) -> str:
    """The whole evaluation as JSON, in full precision; `Evaluation` reads it back."""
    return json_document(evaluation.model_dump_json(indent=1)) + "\n"


def to_markdown(evaluation: Evaluation) -> str:
    """The answer and a table for each area, as GitHub-flavoured Markdown."""
    study = evaluation.study
    lines = []
    if study.unfinished:
        lines += [f"> **{markdown(sentence(study.unfinished))}**", ""]
    lines += [f"# {markdown(study.title)}", ""]
    if study.question:
        lines += [markdown(study.question), ""]
    if marked := posthoc.words(evaluation):
        lines += [f"> {markdown(marked)}", ""]
    lines += [f"> **{markdown(text)}**\n" for text in warnings(evaluation)]
    for answer in answers(evaluation):
        lines += [f"**{markdown(answer.headline)}**", ""]
        lines += [f"> {markdown(sentence(caution))}\n" for caution in answer.cautions]
        for finding in answer.findings:
            place = f", {finding.place}" if finding.place else ""
            interval = f" ({finding.interval})" if finding.interval else ""
            lines.append(f"- {markdown(f'{finding.title}{place}: {finding.size}{interval}')}")
        lines += ["", markdown(answer.sureness), ""]
    for area in evaluation.areas:
        lines += [f"## {markdown(area.capitalize())}", ""]
        header = headings(evaluation)
        lines.append(f"| {' | '.join(markdown(cell) for cell in header)} |")
        lines.append(f"|{'|'.join('---' if left else '---:' for left in alignment(evaluation))}|")
        for cells in body(evaluation, area):
            lines.append(f"| {' | '.join(markdown(cell) for cell in cells)} |")
        lines.append("")
    filled = fill(evaluation)
    if filled:
        lines += ["## Tables of the studies", ""]
        lines += [formats.to_markdown(grid(table)) for table in filled]
    links = emulated.lines(evaluation)
    if links:
        lines += [f"## {emulated.TITLE}", "", f"| {' | '.join(emulated.HEADINGS)} |"]
        lines.append(f"|{'|'.join('---' if left else '---:' for left in emulated.alignment())}|")
        lines += [f"| {' | '.join(map(markdown, line.cells()))} |" for line in links]
        lines += ["", emulated.CAPTION, ""]
    if evaluation.failures:
        lines += ["## Not measured", ""]
        for failure in evaluation.failures:
            what = f"{failure.workload}[{failure.case}]" if failure.case else failure.workload
            text = f"{failure.system}: {what or 'boot'}: {failure.kind}, {failure.reason}"
            lines.append(f"- {markdown(text)}")
        lines.append("")
    marked = f", {posthoc.MARK}" if study.post_hoc else ""
    blocks = count_text(study.blocks, "block")
    lines.append(f"Plan `{study.plan_hash}`, seed {study.seed}, {blocks}{marked}.")
    return "\n".join(lines) + "\n"


def to_latex(evaluation: Evaluation) -> str:
    """A table for each area, as the papers have them, with booktabs and longtable."""
    study = evaluation.study
    short = posthoc.short(evaluation)
    marked = f" ({posthoc.MARK}: {short})" if short else ""
    unfinished = f" ({study.unfinished})" if study.unfinished else ""
    first = [sentence(study.unfinished)] if study.unfinished else []
    said = [
        rf"\noindent\textbf{{{escaping.latex(text)}}}\par"
        for text in (*first, *warnings(evaluation))
    ]
    tables = [
        latex.table(
            caption=f"{study.title}: {area}{unfinished}{marked}",
            label=f"tab:{area}",
            header=headings(evaluation),
            left=alignment(evaluation),
            rows=list(body(evaluation, area)),
        )
        for area in evaluation.areas
    ]
    tables += [_paper(table, marked) for table in fill(evaluation)]
    if links := emulated.lines(evaluation):
        made = latex.table(
            caption=f"{emulated.TITLE}{marked}", label="tab:links", header=emulated.HEADINGS,
            left=emulated.alignment(), rows=[line.cells() for line in links],
        )  # fmt: skip
        tables.append(f"{made}\n\\par\\footnotesize {escaping.latex(emulated.CAPTION)}")
    head = f"{evaluation.study.plan_hash}{marked}"
    return latex.document_part(head, [*said, *tables])


def _paper(filled: Filled, marked: str) -> str:
    """A table of a paper; the longtable of the others, as these may be long too."""
    made = grid(filled)
    text = latex.table(
        caption=f"{made.title}{marked}",
        label=f"tab:{filled.study}-{filled.id}",
        header=formats.full_headings(made),
        left=[not numeric for numeric in made.numeric],
        rows=[[cell.text for cell in row] for row in made.rows],
    )
    return "\n".join([text, *(rf"\par\footnotesize {escaping.latex(note)}" for note in made.notes)])


_MAKERS: dict[str, Callable[[Evaluation], str]] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
    "json": to_json,
}


def headings(evaluation: Evaluation) -> list[str]:
    """Column headings of the tables for reading."""
    names = [system.name for system in evaluation.systems]
    found = ["Indicator", *names, "Unit"]
    for name in names[1:]:
        found += [f"Diff % of means {name}", f"Speed % of paired blocks {name}", f"Verdict {name}"]
    return found


def alignment(evaluation: Evaluation) -> list[bool]:
    """Whether each column is set to the left."""
    count = len(evaluation.systems)
    return [True, *[False] * count, True, *[False, False, True] * (count - 1)]


def body(evaluation: Evaluation, area: str) -> Iterator[list[str]]:
    """Rows of the tables for reading."""
    names = [system.name for system in evaluation.systems]
    for row in evaluation.rows_of(area):
        yield _reading(row, names)


def _reading(row: Row, names: Sequence[str]) -> list[str]:
    base = row.summary(names[0]) or row.summaries[0]
    divisor, unit = scale(row.unit, base.mean)
    means = [
        "–" if (one := row.summary(name)) is None else significant(one.mean / divisor)
        for name in names
    ]
    title = f"{row.title}, {row.case_text}" if row.case_text else row.title
    if not row.declared:
        title = f"{title} ({'exploratory' if row.score else 'context'})"
    cells = [title, *means, unit]
    for name in names[1:]:
        cells += _judgement(row.comparison(name))
    return cells


def _judgement(one: Comparison | None) -> list[str]:
    if one is None:
        return ["–", "–", "–"]
    speed = "–"
    if one.effect is not None:
        speed = signed_percent(one.effect.percent)
        low, high = one.effect.low_percent, one.effect.high_percent
        if low is not None and high is not None:
            speed = f"{speed} {interval_text(low, high)}"
    raw = "–" if one.difference_percent is None else signed_percent(one.difference_percent)
    said = "; ".join(text for text in (one.words, one.reason, *one.cautions) if text)
    return [raw, speed, said]
