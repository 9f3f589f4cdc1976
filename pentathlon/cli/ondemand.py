"""Commands whose modules are imported when they are called, not when the program starts."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command_from_info, get_group
from typer.models import CommandInfo

PACKAGE = "pentathlon.cli.commands"


@dataclass(frozen=True)
class Entry:
    """Where a command is.

    Attributes:
        summary: its line in the list of commands.
        module: the module of `cli/commands/` that has it, where that is not named as the command.
        function: name of the function, likewise; a module with an `app` has a group of commands.
    """

    summary: str
    module: str = ""
    function: str = ""

    # Typer reads the signature of a function with fifty options, which takes a while.
    @cache  # noqa: B019  As many entries as commands, each as long as the program.
    def load(self, name: str) -> Any:
        """Import the module and make the command, once."""
        module = importlib.import_module(f"{PACKAGE}.{self.module or name}")
        if hasattr(module, "app"):
            command = get_group(module.app)
            command.name = name
            return command
        info = CommandInfo(name, callback=getattr(module, self.function or name))
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
