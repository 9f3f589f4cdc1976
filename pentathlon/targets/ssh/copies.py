"""Copies of another machine's files in a directory here, looked at as this machine's own are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Run = Callable[..., str]
"""Runs a script on that machine with words and returns what it prints."""


def write_copy(root: Path, name: str, text: str) -> bool:
    """Write a copy of a file at its absolute path below a directory.

    Returns:
        Whether it was written: what is no such path, or would leave the directory, is not.
    """
    if not name.startswith("/") or ".." in name:
        return False
    file = root / name[1:]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return True
