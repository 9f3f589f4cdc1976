"""The answer and a table for each area, as GitHub-flavoured Markdown."""

from __future__ import annotations

from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.warnings import warnings
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.write import grid
from pentathlon.report import factorial as words
from pentathlon.report import links as emulated_links
from pentathlon.report import posthoc
from pentathlon.report.answer import answers, sentence
from pentathlon.report.areas import legend, overviews
from pentathlon.report.export import effects_table
from pentathlon.report.export.area_table import SIGNS, area_table
from pentathlon.safeio.escaping import markdown
from pentathlon.study.counting import count_text
from pentathlon.tables.markdown import pipe_table
from pentathlon.tables.markdown import to_markdown as table_markdown


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
    lines += _design(evaluation)
    lines += _areas(evaluation)
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
        lines += [*pipe_table(area_table(evaluation, area, "")), ""]
    if len(evaluation.systems) > 1 and evaluation.areas:
        lines += [SIGNS, ""]
    filled = fill(evaluation)
    if filled:
        lines += ["## Tables of the studies", ""]
        lines += [table_markdown(grid(table)) for table in filled]
    if evaluation.links:
        lines += [f"## {emulated_links.TITLE}", "", *pipe_table(emulated_links.table(evaluation))]
        lines += ["", emulated_links.CAPTION, ""]
    if evaluation.failures:
        lines += ["## Not measured", ""]
        for failure in evaluation.failures:
            what = f"{failure.workload}[{failure.case}]" if failure.case else failure.workload
            before = f"{failure.system}: {what}" if what else failure.system
            text = f"{before}: {failure.kind}, {failure.reason}"
            lines.append(f"- {markdown(text)}")
        lines.append("")
    marked = f", {posthoc.MARK}" if study.post_hoc else ""
    how = f"seed {study.seed}, {count_text(study.blocks, 'block')}"
    if study.imported:
        how = "imported" if study.in_blocks else "imported, judged unpaired"
    lines.append(f"Plan `{study.plan_hash}`, {how}{marked}.")
    return "\n".join(lines) + "\n"


def _areas(evaluation: Evaluation) -> list[str]:
    """A sentence for each area of each system, then for all of them, with what the words mean."""
    lines: list[str] = []
    for found in overviews(evaluation):
        lines += [f"{markdown(f'{found.system} against {found.reference}')}:", ""]
        lines += [f"- {markdown(f'{one.glyph} {one.sentence}')}" for one in found.lines]
        lines.append("")
    return [*lines, markdown(legend(evaluation)), ""] if lines else []


def _design(evaluation: Evaluation) -> list[str]:
    """Of a factorial design: which factors matter, how sure that is, and every effect."""
    found = evaluation.factorial
    if found is None:
        return []
    lines = [f"**{markdown(words.headline(found))}**", ""]
    lines += [f"- {markdown(f'{one.term}: {one.words}')}" for one in found.ranking]
    lines += [f"- {markdown(text)}" for text in words.aliases(found)]
    lines += ["", *(f"> {markdown(sentence(text))}\n" for text in found.cautions)]
    lines += [markdown(words.sureness(evaluation, found)), ""]
    lines += [f"## {effects_table.TITLE}", ""]
    lines += [*pipe_table(effects_table.effects_table(evaluation, found)), ""]
    return [*lines, markdown(effects_table.NOTE), ""]
