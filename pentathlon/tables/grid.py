"""A table of text, which every format is made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

DAGGER = "†"


@dataclass(frozen=True)
class GridCell:
    """One cell: the text as printed, and whether it was put together from damaged text.

    `value` is the number that the text shows rounded; CSV holds it in full precision.
    """

    text: str
    reconstructed: bool = False
    missing: bool = False
    value: float | None = None

    @property
    def marked(self) -> str:
        """The text with the mark of a reconstructed one."""
        return self.text + DAGGER if self.reconstructed and not self.missing else self.text


@dataclass(frozen=True)
class Grid:
    """What a format prints.

    Attributes:
        title: caption.
        groups: heading above each column, "" for none.
        headings: heading of each column.
        numeric: whether the column holds numbers, which stand on the right.
        rows: the cells.
        notes: sentences below the table.
        unfinished: how far the run is that these values are of, if it has not ended; each format
            states it first.
    """

    title: str
    groups: tuple[str, ...]
    headings: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    notes: tuple[str, ...] = field(default=())
    unfinished: str = ""

    @property
    def full_headings(self) -> list[str]:
        """Headings with their groups, for formats with one heading line."""
        pairs = zip(self.groups, self.headings, strict=True)
        return [f"{group}: {heading}" if group else heading for group, heading in pairs]

    @property
    def groups_once(self) -> list[str]:
        """Each group at its first column only."""
        return [
            group if place == 0 or self.groups[place - 1] != group else ""
            for place, group in enumerate(self.groups)
        ]

    @property
    def unfinished_sentence(self) -> str:
        """How far the run is, as a sentence; "" if it has ended."""
        return f"{self.unfinished[:1].upper()}{self.unfinished[1:]}." if self.unfinished else ""


def plain(
    title: str,
    headings: Sequence[str],
    numeric: Sequence[bool],
    rows: Iterable[Sequence[str]],
    notes: Sequence[str] = (),
) -> Grid:
    """A table of plain texts without groups."""
    return Grid(
        title=title,
        groups=("",) * len(headings),
        headings=tuple(headings),
        numeric=tuple(numeric),
        rows=tuple(tuple(GridCell(text) for text in row) for row in rows),
        notes=tuple(notes),
    )
