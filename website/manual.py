"""The manual page pentathlon(1), from the program itself.

    python -m website.manual > pentathlon.1

Commands and options come from the command, exit statuses and variables from docs/cli.md. A release
has the page in its wheel and its Debian package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import typer

from pentathlon import __version__
from pentathlon.cli.main import APP_HELP, app
from website.reference.commands import every_command
from website.staging import DOCS

EXAMPLE = "    "
"""Begins a paragraph of a help text that is an example."""


def page() -> str:
    """The page, for man(7)."""
    lines = [f'.TH PENTATHLON 1 "" "pentathlon {__version__}" "User Commands"', ".SH NAME"]
    lines.append(r"pentathlon \- measure which operating system, kernel or configuration is faster")
    lines += [".SH SYNOPSIS", ".B pentathlon", r"\fICOMMAND\fR [\fIARGUMENTS\fR]"]
    lines += [".SH DESCRIPTION", *_help(APP_HELP), ".SH COMMANDS"]
    for name, command in every_command(typer.main.get_group(app), "pentathlon"):
        lines += _command(name, command)
    for heading, title in (("Exit status", "EXIT STATUS"), ("Environment", "ENVIRONMENT")):
        lines += [f".SH {title}", *_rows(heading)]
    lines += [".SH SEE ALSO", "The documentation in docs/, or its site (scripts/site)."]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    context = typer.Context(command, info_name=name)
    yield f".SS {_text(' '.join([name, *command.collect_usage_pieces(context)]))}"
    yield from _help(command.help or "")
    for one in command.params:
        if record := one.get_help_record(context):
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(" ".join(record[1].split())))


def _help(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        if paragraph.startswith(EXAMPLE):
            yield from (".RS", ".nf", _text(" ".join(paragraph.split())), ".fi", ".RE")
        else:
            yield from (".PP", _text(" ".join(paragraph.split())))


def _rows(heading: str) -> Iterator[str]:
    """The table below a heading of docs/cli.md: a term, and what it means."""
    cli = (DOCS / "cli.md").read_text(encoding="utf-8")
    _, found, rest = cli.partition(f"\n## {heading}\n")
    if not found:
        raise ValueError(f'docs/cli.md has no heading "{heading}"')
    for line in rest.partition("\n## ")[0].splitlines():
        row = re.fullmatch(r"\| (.+?) \| (.+) \|", line)
        if row and not row[2].startswith(("meaning", "---")):
            yield from (".TP", rf"\fB{_text(_plain(row[1]))}\fR", _text(_plain(row[2])))


def _plain(text: str) -> str:
    """Markdown without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace(r"\|", "|")


def _text(text: str) -> str:
    r"""Text that troff takes as it is: no escape, no request, hyphens that can be copied."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page())
