"""What is wrong in a study file, with the line where it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

TomlPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the top of a document, such as ("system", 0, "cpus", 1)."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, as one sentence that also says what would be right.

    Attributes:
        path: where in the document; () for the file as a whole.
        text: the sentence, without the place.
        line: line of the file, from 1, or None where there is none (a missing key at the top).
    """

    path: TomlPath
    text: str
    line: int | None = None

    def located(self, file: Path) -> str:
        """`FILE:LINE: PLACE: TEXT`, as compilers write it."""
        place = show_path(self.path)
        where = f"{file}:{self.line}" if self.line else str(file)
        return f"{where}: {place}: {self.text}" if place else f"{where}: {self.text}"


class StudyError(Exception):
    """A study file that cannot be used; the text lists every problem, one per line."""

    def __init__(self, file: Path, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = sorted(problems, key=lambda problem: problem.line or 0)
        super().__init__("\n".join(problem.located(file) for problem in self.problems))


def show_path(path: Sequence[str | int]) -> str:
    """A path as people write it: `system[0].cpus[1]`, `parameters."test.spin".slowdown_percent`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        bare = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
        text += ("." if text else "") + (part if bare else f'"{part}"')
    return text


def listing(words: Iterable[str]) -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{word}"' for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return ", ".join(quoted[:-1]) + " or " + quoted[-1]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean "x"?)`, or the words that are known where none is close."""
    words = list(known)
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f"; known: {', '.join(words)}" if words else ""
