"""`pentathlon trace import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.exits import InputError, domain_errors
from pentathlon.cli.screen import out
from pentathlon.exchange.disk_trace import Trace
from pentathlon.exchange.strace import StraceError
from pentathlon.exchange.strace_import import Imported, import_strace
from pentathlon.safeio.reading import ReadError, read_lines

HELP = "Recordings of file input and output, for the workload disk.trace."

IMPORT_HELP = """Turn a recording of strace into a trace that disk.trace replays.

Record with: strace -f -ttt -T -y -e trace=file,desc,process -o FILE PROGRAM

Examples:

    pentathlon trace import compile.strace

    pentathlon trace import compile.strace --out compile.trace --name compile
"""

app = typer.Typer(name="trace", help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def top() -> None:
    """Keeps `import` a command of its own while it is the only one."""


@app.command("import", help=IMPORT_HELP)
def import_(
    recording: Annotated[Path, typer.Argument(metavar="FILE", help="What strace -o wrote.")],
    target: Annotated[
        Path | None, typer.Option("--out", help="File to write; FILE with the ending .trace.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the trace; that of FILE without ending.")
    ] = None,
) -> None:
    """Reads a recording, writes the trace, and reports what is in it and what is not."""
    with domain_errors():
        path = target or recording.with_suffix(".trace")
        if path.resolve() == recording.resolve():
            raise InputError(f"{recording} would be overwritten; name another file with --out")
        try:
            imported = import_strace(read_lines(recording), name or recording.stem)
        except StraceError as error:
            raise InputError(f"{recording}: {error}") from error
        except ReadError as error:
            place = f"{recording}:{error.line}:" if error.line else str(recording)
            raise InputError(f"{place} {error}") from error
        path.write_text(imported.trace.text(), encoding="utf-8")
        out.print(summary(imported), markup=False, highlight=False, soft_wrap=True)
        out.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)


def summary(imported: Imported) -> str:
    """What a trace consists of, and what of the recording is not in it, in lines."""
    trace: Trace = imported.trace
    counts = trace.counts()
    lines = [
        f"files       {len(trace.files)}, {sum(trace.files_bytes()) / 1e6:.3g} MB at the beginning",
        f"operations  {len(trace.steps)}: "
        + ", ".join(f"{count} {operation}" for operation, count in counts.most_common()),
        f"read        {trace.moved('read') / 1e6:.3g} MB",
        f"written     {trace.moved('write') / 1e6:.3g} MB",
    ]
    for reason, count in imported.left_out.most_common():
        lines.append(f"left out    {count} x {reason}")
    return "\n".join(lines)
