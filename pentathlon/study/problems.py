"""What is wrong in a study file, with the line where it is."""

from __future__ import annotations

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


class CatalogError(Exception):
    """The agent's catalog is not one that this version can read; the text is one sentence."""


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
