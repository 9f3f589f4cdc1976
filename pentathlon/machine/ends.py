"""What this process still has to do before it ends, such as leading another machine back."""

from __future__ import annotations

import atexit
from collections.abc import Callable

End = Callable[[], list[str]]
"""Does what is left; a sentence for each thing that could not be done. It may be called again."""

_ends: list[End] = []
_notes: list[str] = []


def at_end(end: End) -> None:
    """Have this done before the process ends: by `run`, or at the latest by the interpreter."""
    if end not in _ends:
        if not _ends:
            atexit.register(run)
        _ends.append(end)


def note(sentence: str) -> None:
    """Have a sentence reported when the process ends, which is no failure."""
    _notes.append(sentence)


def notes() -> list[str]:
    """The sentences of `note` that have not been taken yet."""
    taken = [*_notes]
    _notes.clear()
    return taken


def left() -> bool:
    """Whether there is something to do or to report."""
    return bool(_ends or _notes)


def run() -> list[str]:
    """Do what is left."""
    sentences = []
    while _ends:
        sentences += _ends.pop()()
    return sentences
