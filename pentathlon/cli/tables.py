"""`pentathlon tables`: the tables of the studies with one's own systems in the columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer
from rich.text import Text

from pentathlon.cli import unfinished
from pentathlon.cli.commands.tables import Format
from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out, write_json
from pentathlon.literature.problems import PublishedError, unknown
from pentathlon.store.query import load_result
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.latex import to_latex
from pentathlon.tables.markdown import to_markdown
from pentathlon.tables.terminal import to_rich


def tables(result: Path | None, *, study: str | None, table: str | None, how: Format) -> None:
    with domain_errors():
        from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
        from pentathlon.literature.filled.fill import fill  # noqa: PLC0415
        from pentathlon.literature.filled.write import data_grid, grid, to_json  # noqa: PLC0415

        names = _wanted(study, table)
        requested = names or () if table is not None else ()
        found = load_result(choose(result))
        filled = [
            one
            for one in fill(evaluate(found), named=requested)
            if names is None or any((one.study, name) in names for name in one.ids)
        ]
        if how is Format.TERMINAL or not filled:
            # A document without a table has no place for it.
            unfinished.say(found.unfinished, out if how is Format.TERMINAL else err)
        if how is Format.JSON:
            write_json(to_json(filled, found.unfinished))
            return
        if not filled:
            err.print("this result measured no row of these tables")
        writers = {
            Format.CSV: to_csv,
            Format.MARKDOWN: to_markdown,
            Format.LATEX: to_latex,
        }
        for place, one in enumerate(filled):
            if how is Format.TERMINAL:
                made = grid(one)
                out.print(to_rich(made))
                for note in made.notes:
                    out.print(Text(note, style="dim"))
                out.print()
            else:
                made = data_grid(one) if how is Format.CSV else grid(one)
                made = replace(made, unfinished=found.unfinished)
                typer.echo(("\n" if place else "") + writers[how](made), nl=False)


def _wanted(study: str | None, table: str | None) -> set[tuple[str, str]] | None:
    """The (study, table) pairs that are requested; None for all.

    Raises:
        InputError: no study has tables under that name.
    """
    from pentathlon.literature.filled.load import papers  # noqa: PLC0415

    if study is None and table is None:
        return None
    known = {paper.study.id: paper for paper in papers()}
    try:
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
    except PublishedError as error:
        raise InputError(str(error)) from error
    return pairs
