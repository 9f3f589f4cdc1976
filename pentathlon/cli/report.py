"""`pentathlon report` and `pentathlon compare`."""

from __future__ import annotations

from pathlib import Path

import typer

from pentathlon.cli import archived, judging, unfinished
from pentathlon.cli.exits import InputError
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.directory import PLAN
from pentathlon.store.query import load_result


def report(
    result: Path | None,
    *,
    formats: str,
    directory: Path | None,
    open_it: str,
    columns: int,
    delta: float | None,
    confidence: float | None,
    declared: list[str] | None,
    weights: list[str] | None,
    only: list[str] | None,
    where: str | None,
) -> None:
    with archived.some(result, where, 1) as [given]:
        if archived.is_archive(result) and directory is None:
            raise InputError("a result of an archive has no directory; name one with --out")
        from pentathlon.cli import reporting  # noqa: PLC0415  loads SciPy
        from pentathlon.report.export.refusal import ExportError  # noqa: PLC0415

        rules = judging.Judging(delta, confidence, declared or (), weights or (), only or ())
        wanted = reporting.parse_formats(formats)
        if open_it not in {"yes", "no"}:
            raise InputError(f'--open is "{open_it}"; use yes or no')
        if columns not in {1, 2}:
            raise InputError(
                f"--columns is {columns}; a picture goes over 1 or 2 columns of a page"
            )
        found = rules.apply(load_result(choose(given)))
        # Standard output names the files, and each of them states it too.
        unfinished.say(found.unfinished, err)
        done = reporting.write_formats(found, wanted, directory, columns)
        for file in done.files:
            out.print(str(file), soft_wrap=True)
        for file in done.files:
            if open_it == "yes" and file.suffix == ".html":
                typer.launch(file.resolve().as_uri())
        for what, error in done.faults:
            err.print(f"{what} could not be written", soft_wrap=True)
            raise InputError(str(error)) if isinstance(error, ExportError) else error
        raise typer.Exit(done.status)


def compare(
    result: Path | None,
    a: str | None,
    b: str | None,
    c: str | None,
    *,
    tables: bool,
    full: bool,
    delta: float | None,
    confidence: float | None,
    declared: list[str] | None,
    weights: list[str] | None,
    only: list[str] | None,
    where: str | None,
) -> None:
    with archived.some(result, where, 2) as [first, *second]:
        if second:
            a, b, c = str(second[0]), a, b
        rules = judging.Judging(delta, confidence, declared or (), weights or (), only or ())
        if first is not None and a is not None and (Path(a) / PLAN).is_file():
            from pentathlon.cli import across  # noqa: PLC0415  loads SciPy

            for pair in across.compare_directories(first, Path(a), b, c, rules):
                across.render(pair, out, full)
            return
        if c is not None:
            raise InputError(f'"{a}" is no result directory; name two results, or two systems')
        found = load_result(choose(first))
        if a is not None:
            names = [system.name for system in found.study.systems]
            for name in filter(None, (a, b)):
                if name not in names:
                    raise InputError(
                        f'"{name}" is no system of {found.path}{did_you_mean(name, names)}'
                    )
            if a == b:
                raise InputError(f'"{a}" cannot be compared with itself; name two systems')
            found = found.focused(a, [b] if b else [name for name in names if name != a])
        found = rules.apply(found)
        if found.samples().is_empty():
            err.print("nothing has been measured in this result yet")
        from pentathlon.cli import reporting  # noqa: PLC0415  loads SciPy

        raise typer.Exit(reporting.on_screen(found, out, tables=tables, full=full))
