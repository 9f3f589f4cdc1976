"""Commands whose modules are imported when they are called, not when the program starts."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info, get_group
from typer.models import CommandInfo


@dataclass(frozen=True)
class Entry:
    """Where a command is.

    Attributes:
        summary: its line in the list of commands.
        module: the module that has it.
        function: name of the function, or of the `typer.Typer` of a group of commands.
        help: name of the text of its help in that module; unused for a group.
    """

    summary: str
    module: str
    function: str = "app"
    help: str = "HELP"

    def load(self, name: str) -> Any:
        """Import the module and make the command."""
        module = importlib.import_module(self.module)
        found = getattr(module, self.function)
        if isinstance(found, typer.Typer):
            command = get_group(found)
            command.name = name
            return command
        info = CommandInfo(name, callback=found, help=getattr(module, self.help))
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


def group(entries: dict[str, Entry]) -> type[TyperGroup]:
    """A class of groups that have these commands, in this order."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(entries)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in entries and cmd_name not in self.commands:
                self.commands[cmd_name] = entries[cmd_name].load(cmd_name)
            return self.commands.get(cmd_name)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            # Typer would look for similar names among the commands that are loaded.
            if args[0] not in entries:
                near = difflib.get_close_matches(args[0], entries)
                hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
                ctx.fail(f"No such command '{args[0]}'.{hint}")
            return super().resolve_command(ctx, args)

    return OnDemand
