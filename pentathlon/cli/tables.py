"""`pentathlon tables`: the tables of the studies with one's own systems in the columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer
from rich.text import Text

from pentathlon.cli import archived, unfinished
from pentathlon.cli.commands.tables import Format
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out, write_json
from pentathlon.literature.problems import unknown
from pentathlon.store.query import load_result
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.latex import to_latex
from pentathlon.tables.markdown import to_markdown
from pentathlon.tables.terminal import to_rich


def tables(
    result: Path | None,
    *,
    study: str | None,
    table: str | None,
    how: Format,
    where: str | None = None,
) -> None:
    with archived.some(result, where, 1) as [chosen]:
        from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
        from pentathlon.literature.filled.fill import fill  # noqa: PLC0415
        from pentathlon.literature.filled.write import data_grid, grid, to_json  # noqa: PLC0415
        from pentathlon.report.export import effects, effects_table  # noqa: PLC0415

        alone = study is None and table == effects_table.NAME
        names = set() if alone else _wanted(study, table)
        requested = names or () if table is not None else ()
        found = load_result(choose(chosen))
        evaluation = evaluate(found)
        filled = [
            one
            for one in fill(evaluation, named=requested)
            if names is None or any((one.study, name) in names for name in one.ids)
        ]
        design = evaluation.factorial if names is None or alone else None
        empty = not filled and design is None
        if how is Format.TERMINAL or empty:
            # A document without a table has no place for it.
            unfinished.say(found.unfinished, out if how is Format.TERMINAL else err)
        if how is Format.JSON:
            first = [] if design is None else [effects_table.mapping(evaluation, design)]
            write_json(to_json(filled, found.unfinished, first))
            return
        if empty:
            err.print(
                "this result has no factorial design"
                if alone
                else "this result measured no row of these tables"
            )
        writers = {
            Format.CSV: to_csv,
            Format.MARKDOWN: to_markdown,
            Format.LATEX: to_latex,
        }
        texts = []
        if design is not None and how is Format.CSV:
            texts.append(effects.to_csv(evaluation, design))
            design = None
        grids = [] if design is None else [effects_table.effects_table(evaluation, design)]
        grids += [data_grid(one) if how is Format.CSV else grid(one) for one in filled]
        for made in grids:
            if how is Format.TERMINAL:
                out.print(to_rich(made))
                for note in made.notes:
                    out.print(Text(note, style="dim"))
                out.print()
            else:
                texts.append(writers[how](replace(made, unfinished=found.unfinished)))
        typer.echo("\n".join(texts), nl=False)


def _wanted(study: str | None, table: str | None) -> set[tuple[str, str]] | None:
    """The (study, table) pairs that are requested; None for all.

    Raises:
        PublishedError: no study has tables under that name.
    """
    from pentathlon.literature.filled.load import papers  # noqa: PLC0415

    if study is None and table is None:
        return None
    known = {paper.study.id: paper for paper in papers()}
    if study is not None and study not in known:
        raise unknown("study with tables to fill", study, known)
    chosen = [known[study]] if study is not None else list(known.values())
    pairs = {
        (paper.study.id, one.id)
        for paper in chosen
        for one in paper.tables
        if table is None or paper.find(table) is one
    }
    if not pairs:
        every = [one.id for paper in chosen for one in paper.tables]
        raise unknown("table to fill", table or "", every)
    return pairs
