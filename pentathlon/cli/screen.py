"""The consoles: results and tables go to stdout, everything about the progress to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from json import dumps, loads
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from pentathlon.cli.characters import ERRORS, showable, untied
from pentathlon.safeio.escaping import json_document

PLAIN_WIDTH = 80
"""Columns where there is no terminal that reports its width."""


class Screen(Console):
    """A console that shows every text as it is.

    Nothing in a text is taken for markup or for the name of an emoji, as most texts were written by
    others: names, paths, reasons of failures. Own styles come as `Text` or by `style=`. Characters
    that the output lacks are replaced (`characters`).
    """

    def __init__(self, *, stderr: bool) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = PLAIN_WIDTH

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(showable(one, self.encoding) for one in objects), **options)

    def render_str(self, text: str, **options: Any) -> Text:
        found: Text = showable(super().render_str(text, **options), self.encoding)
        return found

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            text = untied(segment.text, self.encoding)
            yield segment if text is segment.text else segment._replace(text=text)

    def on_broken_pipe(self) -> None:
        """Go on into nothing: who reads has seen enough, but the work and the status count."""
        silence(self.file)
        del self._buffer[:]

    def print_json(self, json: str | None = None, *, data: Any = None, **options: Any) -> None:
        super().print_json(document(data if json is None else loads(json)), **options)


out = Screen(stderr=False)
err = Screen(stderr=True)


def prepare_streams() -> None:
    """Let standard output and error replace what their encoding lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ERRORS)


def silence(stream: IO[str]) -> None:
    """Send to nowhere what is still written to a stream that nobody reads."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def caution(sentence: str) -> None:
    """Print a sentence that the reader should not miss, beside the results."""
    err.print(sentence, style="yellow", soft_wrap=True)


def document(data: Any) -> str:
    """A JSON document as standard output can take it: characters that its encoding lacks are
    escaped, which loses nothing (RFC 8259, section 7)."""
    text = json_document(dumps(data, indent=2, ensure_ascii=False))
    try:
        text.encode(out.encoding)
    except UnicodeEncodeError:
        return dumps(data, indent=2)
    return text


def write_json(text: str) -> None:
    """Write a JSON document that is a text already, as it is where the output can take that."""
    try:
        text.encode(out.encoding)
    except UnicodeEncodeError:
        text = dumps(loads(text), indent=1)
    text = json_document(text)
    print(text, end="" if text.endswith("\n") else "\n")


def seconds(value: float) -> str:
    """A duration in words: `40 ms`, `2.5 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
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
