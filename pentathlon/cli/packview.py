"""`pentathlon catalog --packs`: the ready definitions, and whether their programs are here."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.text import Text

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.packs import pack as packs
from pentathlon.packs.pack import Pack
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.tables.sheet import Sheet


def show(name: str | None) -> None:
    """All packs, or one with its definition.

    Raises:
        InputError: there is no such pack.
    """
    if name is not None:
        found = packs.find(name)
        if found is None:
            raise InputError(f'"{name}" is no pack{did_you_mean(name, packs.names())}')
        _one(found)
        return
    table = Sheet(header_style="dim")
    table.add_columns("pack", "measures", "programs here", overflow="fold")
    for each in packs.names():
        found = packs.find(each)
        if found is not None:
            table.add_row(*map(Text, (found.name, found.title, present(found))))
    out.print(table)
    out.print()
    out.print('A study takes one by include = ["pack:NAME"], `pentathlon try` by --pack NAME.')


def _one(found: Pack) -> None:
    out.print(Text(f"{found.name}: {found.title}", style="bold"))
    out.print(f"Programs: {', '.join(found.programs)} ({present(found)})")
    out.print(f"Debian: {found.install}")
    out.print(f"Source: {found.source}", style="dim")
    out.print()
    # As it is in the file, whatever the width: it is copied into studies.
    text = found.file.read_text().partition("\n\n")[2]
    out.print(text, end="", soft_wrap=True)


def present(found: Pack) -> str:
    """Whether this machine has the programs, else the command that installs them."""
    return found.install if any(not _here(one) for one in found.programs) else "yes"


def _here(program: str) -> bool:
    servers = Path("/usr/lib/postgresql").glob(f"*/bin/{program}")
    return shutil.which(program) is not None or any(servers)
