"""What is wrong in a study file, with the line where it is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pentathlon.safeio.escaping import complaint, one_line

TomlPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the top of a document, such as ("system", 0, "cpus", 1)."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, as one sentence that also states what would be right.

    Attributes:
        path: where in the document; () for the file as a whole.
        text: the sentence, without the place.
        line: line of the file, from 1, or None where there is none (a missing key at the top).
        file: the file, where it is another one than the study.
    """

    path: TomlPath
    text: str
    line: int | None = None
    file: Path | None = None

    def located(self, file: Path) -> str:
        """`FILE:LINE: PLACE: TEXT`, as compilers write it."""
        place = show_path(self.path)
        own = self.file or file
        where = f"{own}:{self.line}" if self.line else str(own)
        return one_line(where) + complaint(f": {place}: {self.text}" if place else f": {self.text}")


class StudyError(Exception):
    """A study file that cannot be used; the text lists every problem, one per line."""

    def __init__(self, file: Path, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = sorted(
            problems, key=lambda problem: (str(problem.file or ""), problem.line or 0)
        )
        lines = [problem.located(file) for problem in self.problems[:MOST_SHOWN]]
        if more := len(self.problems) - MOST_SHOWN:
            lines += [f"{file}: and {more} problems more"] if more > 0 else []
        super().__init__("\n".join(lines))


MOST_SHOWN = 100
"""Problems of one file that are listed."""


LONGEST = 60
"""Characters of a key that are shown."""


def show_path(path: Sequence[str | int]) -> str:
    """A path as people write it: `system[0].cpus[1]`, `parameters."test.spin".slowdown_percent`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = part if len(part) <= LONGEST else f"{part[:LONGEST]}..."
        bare = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        text += ("." if text else "") + (name if bare else f'"{name}"')
    return text


def listing(words: Iterable[str], last: str = "or") -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{word}"' for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


SURE, LIKE, DISTANT = 0.8, 0.6, 0.45
"""Likeness, from 0 to 1, of a name that must be meant, of one that may be, and of the nearest ones
that are named because all would be too many."""
FEW, NEAREST = 12, 3
"""So many names can be named in a sentence; so many near ones are."""


def did_you_mean(word: str, known: Iterable[str], lists: str = "") -> str:
    """`; did you mean "x"?`: the end of a sentence about a name that does not exist.

    Where no known name can be meant it names them all, or the nearest of many.

    Args:
        lists: the command or the page that lists them, told where they are too many.
    """
    words = list(known)
    word = word[:LONGEST]  # To compare takes the product of the lengths.
    many = bool(lists) and len(words) > FEW
    like = sorted(((likeness(word, one), one) for one in words), key=lambda pair: -pair[0])
    best = like[0][0] if like else 0.0
    if best >= SURE:
        return f"; did you mean {listing([one for much, one in like if much == best][:NEAREST])}?"
    if best >= LIKE and not many:
        return f'; did you mean "{like[0][1]}"?'
    if not many:
        return f"; known: {', '.join(words)}" if words else ""
    near = [one for much, one in like if much >= DISTANT][:NEAREST]
    if not near:
        return f"; {lists} lists them all"
    return f"; the nearest: {listing(near, 'and')}; {lists} lists them all"


def likeness(word: str, name: str) -> float:
    """How alike they are, from 0 to 1; what stands behind a dot of a name may be meant alone.

    >>> likeness("copy", "files.copy")
    0.8
    """
    whole = difflib.SequenceMatcher(None, word, name).ratio()
    last = name.rpartition(".")[2]
    part = difflib.SequenceMatcher(None, word, last).ratio() if "." in name else 0.0
    return max(whole, SURE * part)
