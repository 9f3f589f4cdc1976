"""`pentathlon trace import`."""

from __future__ import annotations

from pathlib import Path

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.exchange.disk_trace import Trace
from pentathlon.exchange.strace import StraceError
from pentathlon.exchange.strace_import import Imported, import_strace
from pentathlon.safeio.reading import ReadError, read_lines


def import_(recording: Path, target: Path | None, name: str | None) -> None:
    """Reads a recording, writes the trace, and reports what is in it and what is not."""
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
    out.print(summary(imported), soft_wrap=True)
    out.print(f"written: {path}", soft_wrap=True)


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
