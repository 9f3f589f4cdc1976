"""The page of all commands, from the command itself."""

from __future__ import annotations

import re
from typing import Any

import typer

from pentathlon.cli.main import app
from website.reference.cells import cell, code, table

INTRODUCTION = """\
# All options

Generated from `pentathlon --help`. [Commands](../cli.md) describes how they work together, the exit
status, and the environment variables.

"""


def page() -> str:
    """The whole page."""
    group = typer.main.get_group(app)
    return INTRODUCTION + "".join(
        _command(name, command) for name, command in sorted(every_command(group, "pentathlon"))
    )


def every_command(group: Any, before: str) -> list[tuple[str, Any]]:
    """The commands of a group and of its groups, with their whole names."""
    found: list[tuple[str, Any]] = []
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        whole = f"{before} {name}"
        if hasattr(command, "list_commands"):
            found += every_command(command, whole)
        else:
            found.append((whole, command))
    return found


def _command(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    out = f"## {name}\n\n```text\n{usage}\n```\n\n{_help(command.help or '')}\n"
    for kind in ("argument", "option"):
        records = [
            one.get_help_record(context) for one in command.params if one.param_type_name == kind
        ]
        rows = [[code(record[0]), cell(record[1])] for record in records if record]
        if rows:
            out += table([kind, "meaning"], rows)
    return out


def _help(text: str) -> str:
    """The help's paragraphs; indented lines are examples."""
    out: list[str] = []
    examples: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        if paragraph.startswith("    "):
            examples.append(" ".join(paragraph.split()))
            continue
        if examples:
            out.append("```text\n" + "\n".join(examples) + "\n```")
            examples = []
        out.append(" ".join(paragraph.split()))
    if examples:
        out.append("```text\n" + "\n".join(examples) + "\n```")
    return "\n\n".join(out) + "\n"
