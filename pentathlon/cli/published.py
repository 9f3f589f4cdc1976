"""`pentathlon published list|show|audit|compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from pentathlon.cli import unfinished
from pentathlon.cli.commands.published import Format, Level
from pentathlon.cli.screen import document, out, write_json
from pentathlon.literature.audit.findings import KINDS, SEVERITIES, Audit, Finding
from pentathlon.literature.audit.report import counts_grid, findings_grid
from pentathlon.literature.grid import figure_grid, figure_points, table_grid
from pentathlon.literature.load import find_study, load_all
from pentathlon.literature.model import Figure, Study
from pentathlon.store.query import load_result
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.grid import Grid
from pentathlon.tables.html import to_html
from pentathlon.tables.latex import to_latex
from pentathlon.tables.markdown import to_markdown
from pentathlon.tables.sheet import Sheet
from pentathlon.tables.terminal import to_rich


def list_command(study: str | None, *, as_json: bool) -> None:
    studies = [find_study(study)] if study is not None else list(load_all())
    if as_json:
        write_json(document([_listed(one) for one in studies]))
        return
    for one in studies:
        facts = one.facts
        out.print(Text(f"{one.id}: {facts.authors}, {facts.title}, {facts.published_in}"))
        table = Sheet(header_style="dim")
        table.add_columns("  table", "printed as", "kind", "about")
        table.add_column("rows", justify="right")
        for each in one.tables:
            cells = (f"  {each.id}", each.printed_as, each.kind, each.title)
            table.add_row(*map(Text, cells), str(len(each.row)))
        for figure in facts.figure:
            drawn = (f"  {figure.id}", figure.printed_as, "figure", figure.title)
            table.add_row(*map(Text, drawn), str(len(figure_points(one, figure))))
        out.print(table)
        out.print()


def show_command(study: str, table: str, how: Format) -> None:
    found = find_study(study)
    figure = found.figure(table)
    if figure is not None:
        if how is Format.JSON:
            write_json(document(_picture(found, figure)))
        else:
            _grid(figure_grid(found, figure), how)
        return
    one = found.table(table)
    if how is Format.JSON:
        write_json(one.model_dump_json(indent=2, exclude_none=True, exclude_defaults=True))
    else:
        _grid(table_grid(found, one), how)


def audit_command(study: str | None, *, severity: Level, how: Format) -> None:
    from pentathlon.literature.audit.audit import audit  # noqa: PLC0415  loads SciPy

    studies = [find_study(study)] if study is not None else list(load_all())
    audits = [audit(one) for one in studies]
    levels = list(SEVERITIES)
    wanted = set(levels[: levels.index(severity.value) + 1])
    found = [one for each in audits for one in each.findings if one.severity in wanted]
    if how is Format.JSON:
        data = [each.model_dump(mode="json") for each in audits]
        for each in data:
            each["findings"] = [f for f in each["findings"] if f["severity"] in wanted]
        write_json(document(data))
    elif how is Format.TERMINAL:
        _findings(audits, found)
    else:
        _grid(findings_grid(found), how)


def compare_command(study: str, table: str, result: Path, how: Format) -> None:
    one = find_study(study)
    from pentathlon.evaluate.evaluation import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.literature.comparison import compare_published, comparison_grid  # noqa: PLC0415
    from pentathlon.literature.filled.load import paper  # noqa: PLC0415
    from pentathlon.literature.filled.mapped import filled_tables, mapped  # noqa: PLC0415

    declared = paper(one.id).find(table)
    printed = one.table(table) if declared is None else declared.table
    own = evaluate(load_result(result))
    rows, notes = ((), ()) if declared is None else mapped(declared, own)
    found = compare_published(
        one,
        printed,
        own,
        result.resolve().name,
        rows,
        name="" if declared is None else f"{declared.printed_as}: {declared.title}",
        notes=(*(() if declared is None else declared.notes), *notes),
        others=filled_tables(one.id),
    )
    if how is Format.JSON:
        write_json(found.model_dump_json(indent=2))
    else:
        _grid(comparison_grid(found), how)


def _grid(grid: Grid, how: Format) -> None:
    if how is Format.TERMINAL:
        unfinished.say(grid.unfinished)
        out.print(to_rich(grid))
        for note in grid.notes:
            out.print(Text(note, style="dim"))
        return
    writers = {
        Format.CSV: to_csv,
        Format.MARKDOWN: to_markdown,
        Format.LATEX: to_latex,
        Format.HTML: to_html,
    }
    _write(writers[how](grid))


def _findings(audits: Sequence[Audit], found: Sequence[Finding]) -> None:
    """Findings as paragraphs: they are too long for columns."""
    styles = {"error": "bold red", "warning": "yellow", "note": "cyan"}
    for one in found:
        head = Text.assemble(
            (f"{one.severity:8}", styles[one.severity]),
            (f"{one.study}, {one.table}, {one.row}", "bold"),
            f"  {one.kind}",
        )
        out.print(head)
        for name, text in (
            ("says", one.says + (f" (section {one.section})" if one.section else "")),
            ("printed", one.printed),
            ("but", one.allowed),
            ("scan", one.ocr),
            ("note", one.note),
        ):
            if text:
                out.print(Text(f"        {name:8}{text}"))
        out.print()
    out.print(to_rich(counts_grid(audits)))
    kinds = sorted({one.kind for one in found}, key=list(KINDS).index)
    for kind in kinds:
        out.print(Text(f"{kind}: {KINDS[kind]}", style="dim"))


def _listed(study: Study) -> dict[str, object]:
    facts = study.facts
    return {
        **facts.model_dump(include={"id", "authors", "title", "year", "published_in", "notes"}),
        "tables": [
            {
                "id": one.id,
                "printed_as": one.printed_as,
                "title": one.title,
                "kind": one.kind,
                "area": one.area,
                "section": one.section,
                "rows": len(one.row),
            }
            for one in study.tables
        ],
        "figures": [{"id": one.id, "printed_as": one.printed_as} for one in facts.figure],
    }


def _picture(study: Study, figure: Figure) -> dict[str, object]:
    """A figure as data for a plot: marks, axes, and points with x and y as numbers."""
    points = []
    for point in figure_points(study, figure):
        x = point["x"] if figure.x_scale == "category" else float(point["x"])
        points.append({**point, "x": x, "y": float(point["printed"])})
    return {
        **figure.model_dump(exclude={"series"}),
        "study": study.id,
        "points": points,
    }


def _write(text: str) -> None:
    typer.echo(text, nl=not text.endswith("\n"))
