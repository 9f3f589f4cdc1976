"""Missing files and directories are named before anything is loaded that could read them."""

from __future__ import annotations

import errno
import os
import re
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


def result_or_archive(path: Path | None) -> None:
    """The same, where the URL of an archive may stand too: `Path` has taken a slash from it.

    Raises:
        typer.Exit: with status 2.
    """
    if path is not None and not is_url(path):
        result(path)


def is_url(path: Path) -> bool:
    """Whether a path is what `Path` makes of a URL such as s3://bucket/archive."""
    return _URL.match(path.as_posix()) is not None


_URL = re.compile(r"[a-z][a-z0-9+]+:/[^/]")
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
