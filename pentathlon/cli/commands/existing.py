"""Missing files and directories are named before anything is loaded that could read them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pentathlon.cli.exits import Exit, stop
from pentathlon.safeio.escaping import one_line

PLAN = "plan.json"


def study(path: Path | None) -> None:
    """End with one sentence where a study file is named that is not there.

    Raises:
        typer.Exit: with status 2.
    """
    if path is not None and _missing(path):
        raise stop(f"{one_line(str(path))}: cannot be read: {_WORDS}", Exit.BAD_INPUT)


def result(path: Path | None) -> None:
    """End with one sentence where a result directory is named that is not there.

    Raises:
        typer.Exit: with status 2.
    """
    if path is not None and _missing(path):
        raise stop(f"{path} is no result directory: {PLAN}: {_WORDS}", Exit.BAD_INPUT)


_WORDS = os.strerror(errno.ENOENT).lower()


def _missing(path: Path) -> bool:
    """Whether nothing has that name; what cannot be looked at is left to its reader."""
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False
