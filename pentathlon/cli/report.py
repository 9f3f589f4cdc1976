"""`pentathlon report` and `pentathlon compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli import judging, unfinished
from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.results import choose
from pentathlon.cli.screen import err, out
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.directory import PLAN
from pentathlon.store.query import load_result

REPORT_HELP = """Write the report of a result: HTML with pictures, and exports.

Examples:

    pentathlon report results/two-kernels-20260101T120000Z

    pentathlon report results/two-kernels-20260101T120000Z --format html,csv,latex

    pentathlon report --open no

    pentathlon report --delta 2 --weights process=2,memory=1
"""

COMPARE_HELP = """Print the judgement of a result: every system against the reference.

Name two systems to compare the second with the first, regardless of the study's reference is.
Name a second result to compare a system of it with the first result's: unpaired, so more cautious.

What the study planned is judged; --delta, --confidence, --declared, --weights and --only choose
otherwise, and every output is then marked "post hoc".

Examples:

    pentathlon compare results/two-kernels-20260101T120000Z

    pentathlon compare --only "process.*" --delta 2

    pentathlon compare results/before results/after

    pentathlon compare results/before results/after uml-6.1 uml-7.2

    pentathlon compare results/two-kernels-20260101T120000Z uml-6.1 uml-7.2
"""


def report(
    result: Annotated[
        Path | None, typer.Argument(help="Result directory.", show_default="the newest one")
    ] = None,
    *,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="Formats with commas: html, csv, markdown, latex, json, hyperfine, bmf, "
            "benchstat.",
        ),
    ] = "html",
    directory: Annotated[
        Path | None, typer.Option("--out", help="Directory.", show_default="the result's own")
    ] = None,
    open_it: Annotated[
        str, typer.Option("--open", metavar="yes|no", help="Open the HTML in a browser.")
    ] = "no",
    delta: judging.DeltaOption = None,
    confidence: judging.ConfidenceOption = None,
    declared: judging.DeclaredOption = None,
    weights: judging.WeightsOption = None,
    only: judging.OnlyOption = None,
) -> None:
    with domain_errors():
        from pentathlon.cli import reporting  # noqa: PLC0415  loads SciPy
        from pentathlon.report.export.refusal import ExportError  # noqa: PLC0415

        rules = judging.Judging(delta, confidence, declared or (), weights or (), only or ())
        wanted = reporting.parse_formats(formats)
        if open_it not in {"yes", "no"}:
            raise InputError(f'--open is "{open_it}"; use yes or no')
        found = rules.apply(load_result(choose(result)))
        # Standard output names the files, and each of them states it too.
        unfinished.say(found.unfinished, err)
        done = reporting.write_formats(found, wanted, directory)
        for file in done.files:
            out.print(str(file), markup=False, soft_wrap=True)
        for file in done.files:
            if open_it == "yes" and file.suffix == ".html":
                typer.launch(file.resolve().as_uri())
        for what, error in done.faults:
            err.print(f"{what} could not be written", markup=False, soft_wrap=True)
            raise InputError(str(error)) if isinstance(error, ExportError) else error
        raise typer.Exit(done.status)


def compare(
    result: Annotated[
        Path | None, typer.Argument(help="Result directory.", show_default="the newest one")
    ] = None,
    a: Annotated[
        str | None,
        typer.Argument(help="System to compare with, or a result.", show_default="the reference"),
    ] = None,
    b: Annotated[
        str | None, typer.Argument(help="System to judge.", show_default="all others")
    ] = None,
    c: Annotated[
        str | None,
        typer.Argument(help="With two results: system of the second.", show_default="the same"),
    ] = None,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Every row, not only the telling ones.")
    ] = False,
    delta: judging.DeltaOption = None,
    confidence: judging.ConfidenceOption = None,
    declared: judging.DeclaredOption = None,
    weights: judging.WeightsOption = None,
    only: judging.OnlyOption = None,
) -> None:
    with domain_errors():
        rules = judging.Judging(delta, confidence, declared or (), weights or (), only or ())
        if result is not None and a is not None and (Path(a) / PLAN).is_file():
            from pentathlon.cli import across  # noqa: PLC0415  loads SciPy

            for pair in across.compare_directories(result, Path(a), b, c, rules):
                across.render(pair, out, full)
            return
        if c is not None:
            raise InputError(f'"{a}" is no result directory; name two results, or two systems')
        found = load_result(choose(result))
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

        raise typer.Exit(reporting.on_screen(found, out, full=full))
