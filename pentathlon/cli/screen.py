"""The consoles: results and tables go to stdout, everything about the progress to stderr."""

from __future__ import annotations

import os

from rich.console import Console

PLAIN_WIDTH = 120
"""Columns where there is no terminal that says how wide it is."""


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


out = _console(stderr=False)
err = _console(stderr=True)


def seconds(value: float) -> str:
    """A duration as people say it: `40 ms`, `2.5 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
    if value < 0.995:
        return f"{max(value, 0) * 1000:.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(value: float) -> str:
    """A number of bytes: `640 B`, `1.2 MB` (powers of ten)."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError
